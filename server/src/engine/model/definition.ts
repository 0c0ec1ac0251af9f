/**
 * A workflow definition in the form that the engine runs: validated, with canonical step types, durations in milliseconds
 * and all expressions extracted. `parse-definition.ts` creates it from a posted document.
 */
import type { BuiltInStepType } from './step-type-names.js';
import type { JsonObject } from '../values/json.js';
import type { InputValue } from './input-value.js';
import type { ConflictScope, OnConflict, OnFull, Priority } from './start-options.js';
import type { Tags } from '../values/tags.js';
import type { TriggerDefinition } from './trigger.js';

export const ERROR_BEHAVIORS = ['Retry', 'Suspend', 'Terminate', 'Compensate'] as const;
export type ErrorBehavior = (typeof ERROR_BEHAVIORS)[number];

/** The reaction of a step to exhausted retries. */
export type ExhaustedBehavior = Exclude<ErrorBehavior, 'Retry'>;

/** Where a step stands in its document: the container whose Do it is in, or the step whose CompensateWith it is in. */
export interface StepPlace {
  /** The id of the innermost container around the step; null at the top level. */
  readonly container: string | null;
  /** The id of the step whose CompensateWith the step is part of; null if it is not. */
  readonly compensates: string | null;
}

export interface StepDefinition {
  readonly id: string;
  readonly place: StepPlace;
  /** A built-in type, or null for a custom step; then `typeName` names the script. */
  readonly type: BuiltInStepType | null;
  /** The type as shown to users: the canonical built-in name or the custom step's own. */
  readonly typeName: string;
  readonly name: string | null;
  readonly nextStepId: string | null;
  readonly selectNextStep: readonly { readonly stepId: string; readonly condition: InputValue }[];
  /** In document order; the names of a built-in step's inputs in their canonical spelling. */
  readonly inputs: readonly { readonly name: string; readonly value: InputValue }[];
  /** In document order, which is also the order of evaluation. */
  readonly outputs: readonly { readonly key: string; readonly value: InputValue }[];
  /** The entry step id of each sequence of Do. */
  readonly do: readonly string[];
  readonly cancelCondition: InputValue | null;
  readonly proceedOnCancel: boolean;
  /** Null: Compensate if something can be compensated, otherwise the definition's default. */
  readonly errorBehavior: ErrorBehavior | null;
  readonly retryIntervalMs: number;
  /** Null: unlimited. */
  readonly maxRetries: number | null;
  readonly retryBackoff: number;
  /** From 0 to 1: the maximum share by which a pause may be extended. */
  readonly retryJitter: number;
  /** For a step without ErrorBehavior: it has MaxRetries or RetryBackoff, so it is retried before anything else is done. */
  readonly retriesFirst: boolean;
  /** Null: the behavior without retries, or Suspend if that would be a retry. */
  readonly onRetriesExhausted: ExhaustedBehavior | null;
  /** Error types for which another attempt cannot succeed. */
  readonly nonRetryable: readonly string[];
  readonly timeoutMs: number | null;
  /** The limits whose slots the step needs, each name once. */
  readonly limits: readonly StepLimit[];
  /** The entry step id of the compensation chain. */
  readonly compensateWith: string | null;
  readonly saga: boolean;
  /** How long a stop waits for work in flight before it compensates; null: the default. */
  readonly graceMs: number | null;
}

/** A limit of the server, of which a step needs slots. */
export interface StepLimit {
  readonly name: string;
  /** Each value has the whole limit for itself; null: all steps without a key share it. */
  readonly key: InputValue | null;
  /** At least 1. */
  readonly units: number;
}

/** A JSON Schema: an object with keywords, or true (anything is valid) or false (nothing is). */
export type InputSchema = JsonObject | boolean;

export interface WorkflowDefinition {
  readonly id: string;
  readonly version: number;
  readonly description: string | null;
  readonly defaultErrorBehavior: ErrorBehavior;
  /** The JSON Schema of the start data; null: any object is valid. */
  readonly input: InputSchema | null;
  /** The fields that instances are indexed by: paths in the data, without the leading `data`. */
  readonly index: ReadonlyMap<string, readonly string[]>;
  /** Tags of every instance; a start may override them. */
  readonly tags: Tags;
  /** The default reference, evaluated on the start data, for starts that don't set one; null: no reference. */
  readonly reference: InputValue | null;
  /** The priority of its instances; null: the default. */
  readonly priority: Priority | null;
  /** Whose work takes turns with that of others; null: it's in the group without a key. */
  readonly fairness: RunFairness | null;
  /** The default for starts that don't set it. */
  readonly onConflict: OnConflict | null;
  readonly conflictScope: ConflictScope | null;
  /** How many instances of all versions may run at a time; null: any number. */
  readonly concurrency: RunConcurrency | null;
  /** How long ended instances are kept; null: the server's retention. */
  readonly retentionMs: number | null;
  /** The triggers, in document order. */
  readonly triggers: readonly TriggerDefinition[];
  readonly entryStepId: string;
  /** Every step by id, including nested and compensation steps. */
  readonly steps: ReadonlyMap<string, StepDefinition>;
}

/** At most `limit` instances are open for each value of `key`. */
export interface RunConcurrency {
  readonly limit: number;
  /** Evaluated on the start data; null: all instances share one. */
  readonly key: InputValue | null;
  readonly onFull: OnFull;
  /** Maximum number of instances that wait for each key; null: no limit. */
  readonly maxQueued: number | null;
}

/** Among work of equal priority, that of each key takes turns. Both are evaluated on the start data. */
export interface RunFairness {
  readonly key: InputValue;
  /** Null: the default. */
  readonly weight: InputValue | null;
}

/** A problem in a posted document, or a warning about it. */
export interface DocumentProblem {
  /** Stable and machine-readable, for example `unknown_step_type`. */
  readonly code: string;
  readonly message: string;
  /** JSON pointer (RFC 6901) into the posted document, for example `/Steps/0/NextStepId`. */
  readonly pointer: string;
  /** Position in a script, which has lines but no members; the pointer is then empty. */
  readonly place?: { readonly line: number; readonly column: number };
  /** The suggested replacement, if there is a clear one. */
  readonly suggestion?: string;
  /** The executions to choose from. */
  readonly executionIds?: readonly number[];
}

/** Retry interval if neither the step nor the definition sets one. */
export const DEFAULT_RETRY_INTERVAL_MS = 60_000;
