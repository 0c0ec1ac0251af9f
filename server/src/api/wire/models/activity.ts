/** The wire types of activities. */
import type { JsonValue } from './json-value.js';
import type { Time } from './time.js';
import type { Priority } from './workflow.js';

/**
 * A work item for a worker, which reports its result with the token.
 *
 * @example {
 *   "token": "Zk3v0q1m8yQm5n7c2b4x6w8e0r1t3u5i",
 *   "activityName": "charge-card",
 *   "parameters": { "amount": 250 },
 *   "tokenExpiry": "9999-12-31T23:59:59.9999999",
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "stepId": "charge",
 *   "executionId": 2,
 *   "idempotencyKey": "01hx5v3x9t6k2m4n8p0q/2",
 *   "attempt": 1
 * }
 */
export interface WorkItem {
  /**
   * Identifies this work item in all later calls. Anyone who has the token can report a result.
   */
  token: string;
  activityName: string;
  /**
   * The evaluated Parameters of the step.
   */
  parameters: JsonValue;
  /**
   * When the item returns to the queue: ISO 8601, UTC; `9999-12-31T23:59:59.9999999` means never.
   */
  tokenExpiry: string;
  workflowId: string;
  stepId: string;
  /**
   * The execution of the step. Each iteration of a loop is a separate execution.
   * @isInt
   */
  executionId: number;
  /**
   * The same for all attempts of this execution. Pass it to the services you call, so that they can detect repeated
   * calls.
   */
  idempotencyKey: string;
  /**
   * The number of this delivery of the item, starting at 1.
   * @isInt
   */
  attempt: number;
  /**
   * The span of this delivery, in the format of the W3C Trace Context `traceparent` header. The worker's spans belong inside it.
   * Absent if the server doesn't record traces.
   */
  traceparent?: string;
  /** Vendor data from upstream tracing systems, in the format of the `tracestate` header; absent if there is none. */
  tracestate?: string;
}

/**
 * An extended lease.
 *
 * @example { "tokenExpiry": "2026-05-04T10:21:30.123Z", "cancelRequested": false }
 */
export interface ExtendedLease {
  /**
   * When the item returns to the queue. ISO 8601, UTC.
   */
  tokenExpiry: string;
  /**
   * True if the run is being undone and waits for this item, so the worker should finish soon. It may still report a result or a
   * failure, or release the item if it is unknown how far the work got.
   */
  cancelRequested: boolean;
}

/**
 * The queue of one activity.
 *
 * @example {
 *   "activityName": "charge-card",
 *   "waiting": 3,
 *   "held": 1,
 *   "oldestTime": "2026-05-04T10:20:30.123Z",
 *   "pollers": 0,
 *   "lastPollTime": null
 * }
 */
export interface ActivityQueue {
  activityName: string;
  /**
   * The number of items that no worker holds.
   * @isInt
   */
  waiting: number;
  /**
   * The number of items that workers hold.
   * @isInt
   */
  held: number;
  /**
   * When the oldest waiting item was offered. ISO 8601, UTC; null if no item is waiting.
   */
  oldestTime: Time | null;
  /**
   * The number of polls that are waiting for work of this activity.
   * @isInt
   */
  pollers: number;
  /**
   * When a worker last polled for this activity, if known. ISO 8601, UTC.
   */
  lastPollTime: Time | null;
}

/**
 * The queues of activities, those with the most waiting items first; at most 500.
 */
export interface ActivityQueueList {
  items: ActivityQueue[];
  /**
   * Always null: there is only one page.
   */
  nextCursor: string | null;
}

/**
 * The state of a work item. `waiting`: no worker holds it. `held`: a worker holds it. `deferred`: it was skipped
 * because its run is not Runnable. `limited`: it waits for a slot of a limit.
 */
export type ActivityItemState = 'waiting' | 'held' | 'deferred' | 'limited';

/**
 * An open work item.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "definitionId": "order",
 *   "reference": "order-4711",
 *   "executionId": 2,
 *   "attempt": 1,
 *   "priority": 3,
 *   "fairnessKey": "acme",
 *   "offeredTime": "2026-05-04T10:20:30.123Z",
 *   "state": "held",
 *   "workerId": "w1",
 *   "leaseUntil": "2026-05-04T10:21:00.000Z"
 * }
 */
export interface ActivityItem {
  workflowId: string;
  /**
   * Null if the run has been removed.
   */
  definitionId: string | null;
  /**
   * The reference of the run.
   */
  reference: string | null;
  /**
   * The execution of the step that offered the item.
   * @isInt
   */
  executionId: number;
  /**
   * The number of the current or next delivery, starting at 1.
   * @isInt
   */
  attempt: number;
  /**
   * That of the run.
   */
  priority: Priority;
  /**
   * That of the run: among items of equal priority, keys take turns. Null if it has none.
   */
  fairnessKey: string | null;
  /**
   * ISO 8601, UTC.
   */
  offeredTime: Time;
  state: ActivityItemState;
  /**
   * The worker that holds the item.
   */
  workerId: string | null;
  /**
   * When the item returns to the queue. ISO 8601, UTC; null if no worker holds it, or if it is held without a lease.
   */
  leaseUntil: Time | null;
}

/**
 * A page of the work items of one activity.
 */
export interface ActivityItemPage {
  items: ActivityItem[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
