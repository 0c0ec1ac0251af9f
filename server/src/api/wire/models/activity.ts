/** Activities on the wire. */
import type { JsonValue } from './json-value.js';

/**
 * Work for a worker, to be answered with its token.
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
   * Names this work item in every later call; whoever knows it may answer.
   */
  token: string;
  activityName: string;
  /**
   * What the step's Parameters came to.
   */
  parameters: JsonValue;
  /**
   * When the item goes back to the queue: ISO 8601 in UTC, or `9999-12-31T23:59:59.9999999` for never.
   */
  tokenExpiry: string;
  workflowId: string;
  stepId: string;
  /**
   * The execution of the step: each turn of a loop is another one.
   * @isInt
   */
  executionId: number;
  /**
   * The same for all attempts of this execution: pass it on, so that whoever is called can tell a repeat.
   */
  idempotencyKey: string;
  /**
   * Which hand-out it is, from 1.
   * @isInt
   */
  attempt: number;
}

/**
 * A lease that was extended.
 *
 * @example { "tokenExpiry": "2026-05-04T10:21:30.123Z" }
 */
export interface ExtendedLease {
  /**
   * When the item goes back to the queue: ISO 8601, UTC.
   */
  tokenExpiry: string;
}

/**
 * The work of one name that is not done yet.
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
   * Nobody holds them.
   * @isInt
   */
  waiting: number;
  /**
   * Workers hold them.
   * @isInt
   */
  held: number;
  /**
   * When the oldest was offered that nobody holds. ISO 8601, UTC; null when there is none.
   */
  oldestTime: string | null;
  /**
   * Polls of workers that wait for work of this name now.
   * @isInt
   */
  pollers: number;
  /**
   * When a worker last asked for work of this name, as far as is known. ISO 8601, UTC.
   */
  lastPollTime: string | null;
}

/**
 * The queues of activities, those with the most waiting work first; at most 500.
 */
export interface ActivityQueueList {
  items: ActivityQueue[];
  /**
   * Always null: there is one page.
   */
  nextCursor: string | null;
}

/**
 * Where a work item is: it waits for a worker, a worker holds it, or it was passed over because its workflow is not Runnable.
 */
export type ActivityItemState = 'waiting' | 'held' | 'deferred';

/**
 * A work item that is not done.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "executionId": 2,
 *   "attempt": 1,
 *   "offeredTime": "2026-05-04T10:20:30.123Z",
 *   "state": "held",
 *   "workerId": "w1",
 *   "leaseUntil": "2026-05-04T10:21:00.000Z"
 * }
 */
export interface ActivityItem {
  workflowId: string;
  /**
   * The execution of the step that offered it.
   * @isInt
   */
  executionId: number;
  /**
   * Which hand-out is under way, or comes next, from 1.
   * @isInt
   */
  attempt: number;
  /**
   * ISO 8601, UTC.
   */
  offeredTime: string;
  state: ActivityItemState;
  /**
   * Who holds it.
   */
  workerId: string | null;
  /**
   * When it goes back to the queue. ISO 8601, UTC; null when it is not held, or held without a lease.
   */
  leaseUntil: string | null;
}

/**
 * Work items of one name, one page of them.
 */
export interface ActivityItemPage {
  items: ActivityItem[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
