/** The calls of clients on instances, and their results. Times are milliseconds since 1970. */
import type { DebounceData } from '../../engine/model/debounce.js';
import type {
  ConflictScope,
  Fairness,
  OnConflict,
  Priority,
  StartFairness,
} from '../../engine/model/start-options.js';
import type { Tags } from '../../engine/values/tags.js';
import type { TriggerStart } from '../../engine/model/trigger.js';
import type { IndexFields } from '../../engine/values/index-fields.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import type {
  InstanceFailure,
  InstanceOutcome,
  InstanceStatus,
} from '../../store/records/instances.js';
import type { InstanceFilter } from '../../store/records/instance-lists.js';
import type { IdempotencyKey } from './idempotency-key.js';
import type { PageRequest } from './paging.js';
import type { TraceHeaders } from '../../tracing/trace-context.js';

/** Includes the request's span. */
export interface StartRequest extends TraceHeaders {
  readonly definitionId: string;
  readonly data: JsonObject;
  /** Null or empty: the reference that the definition computes from the data. */
  readonly reference: string | null;
  readonly idempotency: IdempotencyKey | null;
  /** Default: the latest. */
  readonly version?: number;
  /** When the first step runs; at most one of the two. Default: immediately. */
  readonly startAt?: number;
  readonly delayMs?: number;
  readonly tags?: Tags;
  /** Default: the definition's, or else 3. */
  readonly priority?: Priority;
  /** Default: the definition's. */
  readonly fairness?: StartFairness;
  /** Default: the definition's, or else `allow`. The others need a reference. */
  readonly onConflict?: OnConflict;
  /** Default: the definition's, or else `open`. */
  readonly conflictScope?: ConflictScope;
  /** Called for each instance that the start has terminated; awaited before the start is answered. */
  readonly replaced?: (workflowId: string) => Promise<void>;
  /** Starts with the same key join the instance until its first step begins. Not together with `startAt` or `delayMs`. */
  readonly debounce?: DebounceRequest;
  /** The actor who starts the instance, if known. */
  readonly actor?: string;
  /** With `restartOf`: the data was collected from several starts, so that Input doesn't apply to it. */
  readonly isCollected?: boolean;
  /** The instance that is restarted: `tags` are all tags, without the definition's. */
  readonly restartOf?: string;
  /** The trigger that starts it, and the id of the instance, which is the same for each repetition of the start. */
  readonly trigger?: { readonly start: TriggerStart; readonly workflowId: string };
}

/** Durations in milliseconds. */
export interface DebounceRequest {
  readonly periodMs: number;
  /** Null: all starts of the definition without a key. */
  readonly key: string | null;
  /** Default: ten times the period. */
  readonly maxMs?: number;
  /** Default: `last`. */
  readonly data?: DebounceData;
}

export interface RestartRequest {
  /** The caller's reason. */
  readonly reason: string;
  /** Default: the version of the restarted instance. */
  readonly version?: number;
  /** Default: none. */
  readonly idempotency?: IdempotencyKey | null;
}

export interface StartWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface StartedInstance {
  readonly instance: InstanceView;
  /** False: another instance already had the reference, and the start has joined it. */
  readonly isNew: boolean;
  /** It has joined the window of the run: its data counts. */
  readonly byWindow?: true;
}

export interface InstanceView {
  readonly id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly reference: string | null;
  readonly tags: Tags;
  readonly priority: Priority;
  readonly fairness: Fairness | null;
  /** It waits for other runs to end. */
  readonly queued: boolean;
  readonly index: IndexFields;
  readonly status: InstanceStatus;
  /** Null while the instance is open. */
  readonly outcome: InstanceOutcome | null;
  readonly startTime: number;
  readonly endTime: number | null;
  /** The time of the newest commit or control action. */
  readonly lastChangeTime: number;
  /** The time of the error in `lastError`. */
  readonly failureTime: number | null;
  /** When that step began to fail with this cause. */
  readonly failingSince: number | null;
  /** Null if it isn't failed. */
  readonly failure: InstanceFailure | null;
  readonly data: JsonObject;
  readonly lastError: StepErrorView | null;
  readonly parent: ParentView | null;
  /** Null if starts don't join it. */
  readonly debounce: DebounceView | null;
  /** The instance that this one restarts. */
  readonly restartOf: string | null;
  /** The newest restart of this instance. */
  readonly restartedAs: string | null;
  /** The trigger that started it. */
  readonly trigger: TriggerView | null;
  /** Omitted if it has no trace, and in lists. */
  readonly traceId?: string;
}

/** The starts that an instance has collected. */
export interface DebounceView {
  /** Null: starts without a key. */
  readonly key: string | null;
  readonly data: DebounceData;
  /** When it begins if no other start joins it; null: starts don't join it any more. */
  readonly until: number | null;
  /** When it begins at the latest. */
  readonly latest: number;
  /** Including the first one. */
  readonly starts: number;
}

/** A trigger, and its due time or the time of its event. */
export interface TriggerView {
  readonly name: string;
  readonly time: number;
}

/** A step error as users see it. */
export interface StepErrorView {
  readonly stepId: string;
  readonly message: string;
  /** The class of the Python exception, or a type of the server such as `Timeout` or `ActivityFailed`. */
  readonly type: string;
  readonly traceback: string | null;
  /** The data that an activity worker reported with its failure. */
  readonly data: Json;
  readonly attempt: number;
  readonly time: number;
  /** When the execution began to fail with this cause. Omitted: at `time`. */
  readonly since?: number;
}

/** The SubWorkflow step that started an instance. */
export interface ParentView {
  readonly workflowId: string;
  readonly executionId: number;
  /** Null for an instance that was started before the server recorded it. */
  readonly stepId: string | null;
}

/** An instance in a list: without its data, and with only the id of its parent. */
export interface InstanceListItem extends Omit<
  InstanceView,
  'data' | 'debounce' | 'lastError' | 'parent'
> {
  readonly parent: Pick<ParentView, 'workflowId'> | null;
}

export interface InstanceCountView {
  readonly count: number;
  /** False: there are at least this many. */
  readonly exact: boolean;
}

/** The filter and the page of a list of instances. */
export type InstanceListRequest = PageRequest & InstanceFilter;

/** Null members of the filter match every execution. */
export interface StepFilter {
  readonly stepId: string | null;
  readonly status: StepStatusFilter | null;
  /** The index of the item of the innermost enclosing Foreach, from 0. */
  readonly item: number | null;
  /**
   * The number of an iteration of the loop `stepId`, from 1: matches everything that ran inside it in that iteration. If the
   * step isn't a loop, its executions are counted, and all attempts of that execution match.
   */
  readonly turn: number | null;
  /** Text in inputs, outputs, item or error, ignoring case. */
  readonly search: string | null;
}

/** The filter and the page of a list of steps. */
export interface StepListRequest extends PageRequest, StepFilter {
  /** `asc`: in the order in which they ended, followed by open ones; `desc`: the reverse. */
  readonly order: 'asc' | 'desc';
}

export interface StepView {
  /** The number of this execution in the instance, which is never reused. */
  readonly executionId: number;
  readonly stepId: string;
  readonly stepType: string;
  readonly name: string | null;
  readonly status: StepStatus;
  readonly attempt: number;
  readonly startTime: number;
  readonly endTime: number | null;
  /** The item and index of the enclosing Foreach. */
  readonly item: Json;
  readonly index: number | null;
  readonly inputs: Json;
  readonly outputs: Json;
  readonly error: StepErrorView | null;
  readonly waitsFor: WaitView | null;
  /** The reason of the modification that canceled or started the step; null if none did. */
  readonly reason: string | null;
  /** The child of a SubWorkflow step, which may not have started yet. */
  readonly childWorkflowId: string | null;
  /** The execution that this compensation step undoes; null if it is not part of a compensation. */
  readonly compensates: number | null;
}

/** `Cancelled`: the spelling is the wire's. */
export type StepStatus =
  'Pending' | 'Running' | 'Waiting' | 'Complete' | 'Failed' | 'Cancelled' | 'Compensated';

/** `Retrying`: waits for its next attempt, which is also `Waiting`. */
export type StepStatusFilter = StepStatus | 'Retrying';

/** The wait of an open step. */
export type WaitView =
  | { readonly kind: 'time'; readonly until: number }
  | { readonly kind: 'retry'; readonly until: number }
  /** Other runs to end. */
  | { readonly kind: 'queue' }
  /** A slot of a limit. An empty key: the limit is used without one. */
  | {
      readonly kind: 'limit';
      readonly limit: string;
      readonly key: string;
      readonly since: number;
      /** How many wait before it. Omitted: unknown. */
      readonly ahead?: number;
    }
  | { readonly kind: 'event'; readonly eventName: string; readonly eventKey: string }
  | { readonly kind: 'activity'; readonly activityName: string }
  | { readonly kind: 'workflow'; readonly workflowId: string }
  /** Steps inside it. */
  | { readonly kind: 'steps'; readonly open: number };
