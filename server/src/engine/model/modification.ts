/**
 * A modification: an operator's changes that repair an instance, and their result.
 *
 * It is applied as a whole or not at all. If anything prevents it, its result is the list of all obstacles.
 */
import type { Json, JsonObject } from '../values/json.js';

export interface Modification {
  readonly reason: string;
  /** A JSON Merge Patch (RFC 7396) on the data; null: no change. */
  readonly data: JsonObject | null;
  /** Ids of the open executions to cancel, with everything inside them. */
  readonly cancel: readonly number[] | 'all';
  readonly start: readonly StepStart[];
  /** Maps ids of steps that stay open to their ids in the other version of the definition. */
  readonly stepMap: Readonly<Record<string, string>>;
  readonly resume: boolean;
}

/** A step to open. */
export interface StepStart {
  readonly stepId: string;
  /** The execution of the container that it is opened in; null: the only open one. */
  readonly inside: number | null;
  readonly item?: Json;
  readonly index?: number;
}

export interface Execution {
  readonly executionId: number;
  readonly stepId: string;
}

export interface Obstacle {
  readonly code:
    | 'unknown_version'
    | 'too_large'
    | 'unknown_execution'
    | 'execution_ended'
    | 'unknown_step'
    | 'container_not_open'
    | 'ambiguous_container'
    | 'wrong_container'
    | 'item_required'
    | 'step_missing'
    | 'step_type_differs'
    | 'container_differs';
  readonly message: string;
  /** JSON pointer into the modification. */
  readonly pointer: string;
  /** The containers to choose from. */
  readonly executionIds?: readonly number[];
}

export interface ModificationWarning {
  readonly code:
    | 'parent_not_told'
    | 'compensation_lost'
    | 'clean_up_stopped'
    | 'reference_in_use'
    | 'invalid_data'
    | 'result_shortened';
  readonly message: string;
}

export interface AppliedModification {
  /** The spelling is stored, and the wire's. */
  readonly cancelled: readonly Execution[];
  readonly started: readonly Execution[];
  readonly warnings: readonly ModificationWarning[];
}

/** The request for a modification, as recorded in the audit. */
export interface Repair {
  readonly action: 'modify' | 'rerun';
  readonly actor: string;
}

/** A modification that was applied, for the audit. */
export interface AppliedRepair extends Repair {
  readonly time: number;
  readonly detail: string;
}

/** A step with effects outside the server that ran before and will, or may, run again. */
export interface RepeatedStep {
  readonly stepId: string;
  readonly stepType: string;
}

/** A request with an idempotency key, which its caller may repeat at any time, with the extra parts of its answer. */
export interface KeyedRequest {
  readonly requestHash: string;
  readonly repeats: readonly RepeatedStep[];
  /** In addition to the result's own warnings. */
  readonly warnings: readonly ModificationWarning[];
}

/** The result of a modification, kept in the instance for the caller, who may be on another node. */
export interface ModificationAnswer {
  /** The id of the message. It contains the idempotency key, if there is one. */
  readonly id: string;
  readonly at: number;
  /** Omitted without an idempotency key. */
  readonly keyed?: KeyedRequest;
  /** `dropped`: another caller changed the ended instance before it applied this modification, which has no effect. */
  readonly result: ModificationResult | { readonly outcome: 'dropped' };
}

export type ModificationResult =
  | ({ readonly outcome: 'applied' } & AppliedModification)
  | { readonly outcome: 'impossible'; readonly obstacles: readonly Obstacle[] };
