/** What clients ask of instances and see of them. Times are milliseconds since 1970. */
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { InstanceOutcome, InstanceStatus } from '../../store/records/instances.js';
import type { InstanceFilter } from '../../store/records/instance-lists.js';
import type { IdempotencyKey } from './idempotency-key.js';
import type { PageRequest } from './paging.js';

export interface StartRequest {
  readonly definitionId: string;
  readonly data: JsonObject;
  readonly reference: string | null;
  readonly idempotency: IdempotencyKey | null;
}

export interface InstanceView {
  readonly id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly reference: string | null;
  readonly status: InstanceStatus;
  /** Null while it is open. */
  readonly outcome: InstanceOutcome | null;
  readonly startTime: number;
  readonly endTime: number | null;
  /** The newest commit or control action. */
  readonly lastChangeTime: number;
  /** When the error came that `lastError` shows. */
  readonly failureTime: number | null;
  readonly data: JsonObject;
  readonly lastError: StepErrorView | null;
  readonly parent: ParentView | null;
}

/** A step error as users see it. */
export interface StepErrorView {
  readonly stepId: string;
  readonly message: string;
  /** The Python exception's class, or the server's own word such as `Timeout` or `ActivityFailed`. */
  readonly type: string;
  readonly traceback: string | null;
  /** What an activity worker reported with its failure. */
  readonly data: Json;
  readonly attempt: number;
  readonly time: number;
}

/** The SubWorkflow step that started an instance. */
export interface ParentView {
  readonly workflowId: string;
  readonly executionId: number;
  /** Null for an instance that was started before the server noted it. */
  readonly stepId: string | null;
}

/** An instance in a list: without its data, and only the id of its parent. */
export interface InstanceListItem extends Omit<InstanceView, 'data' | 'lastError' | 'parent'> {
  readonly parent: Pick<ParentView, 'workflowId'> | null;
}

/** Which instances a list shows, and which page of it. */
export type InstanceListRequest = PageRequest & InstanceFilter;

/** Which steps of an instance are wanted. */
export interface StepListRequest extends PageRequest {
  /** `asc`: in the order in which they ended, then what is open; `desc`: the other way round. */
  readonly order: 'asc' | 'desc';
  /** Null: every step. */
  readonly stepId: string | null;
}

export interface StepView {
  /** The place of this execution in the instance: a number that is never given twice. */
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
  /** Of a SubWorkflow step: the instance that it starts. It may be about to be started. */
  readonly childWorkflowId: string | null;
}

export type StepStatus =
  'Pending' | 'Running' | 'Waiting' | 'Complete' | 'Failed' | 'Cancelled' | 'Compensated';

/** What an open step waits for. */
export type WaitView =
  | { readonly kind: 'time'; readonly until: number }
  | { readonly kind: 'retry'; readonly until: number }
  | { readonly kind: 'event'; readonly eventName: string; readonly eventKey: string }
  | { readonly kind: 'activity'; readonly activityName: string }
  | { readonly kind: 'workflow'; readonly workflowId: string }
  /** Steps inside of it. */
  | { readonly kind: 'steps'; readonly open: number };
