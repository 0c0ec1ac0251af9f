/** The wire types of workers. */
import type { Time } from './time.js';

/**
 * An activity that a worker polls for.
 */
export interface WorkerActivity {
  activityName: string;
  /**
   * The number of the worker's polls that are waiting now.
   * @isInt
   */
  polling: number;
  /**
   * ISO 8601, UTC.
   */
  lastPollTime: Time;
}

/**
 * A work item that a worker holds.
 */
export interface HeldItem {
  activityName: string;
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
   * The number of the delivery, starting at 1.
   * @isInt
   */
  attempt: number;
  /**
   * When the step offered the item. ISO 8601, UTC.
   */
  offeredTime: Time;
  /**
   * When the worker received the item. ISO 8601, UTC; null if the node that delivered it has stopped, or only reports newer
   * deliveries.
   */
  heldSince: Time | null;
  /**
   * When the item returns to the queue. ISO 8601, UTC; null if it is held without a lease.
   */
  leaseUntil: Time | null;
}

/**
 * A worker: a client that polls for work items or holds any.
 *
 * @example {
 *   "workerId": "mailer-7f9c-41-a8b01c9e",
 *   "host": "mailer-7f9c",
 *   "version": "2.4.1",
 *   "address": "10.0.3.17",
 *   "polling": 1,
 *   "lastPollTime": "2026-05-04T10:20:41.001Z",
 *   "activities": [
 *     { "activityName": "send-mail", "polling": 1, "lastPollTime": "2026-05-04T10:20:41.001Z" }
 *   ],
 *   "held": 1,
 *   "items": [
 *     {
 *       "activityName": "send-mail",
 *       "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *       "definitionId": "order",
 *       "reference": "order-4711",
 *       "executionId": 2,
 *       "attempt": 1,
 *       "offeredTime": "2026-05-04T10:20:30.123Z",
 *       "heldSince": "2026-05-04T10:20:31.000Z",
 *       "leaseUntil": "2026-05-04T10:21:00.000Z"
 *     }
 *   ]
 * }
 */
export interface Worker {
  /**
   * The `workerId` of its polls; empty for clients that don't send one, which are distinguished by their address.
   */
  workerId: string;
  /**
   * The name of the machine, if the worker sends it.
   */
  host: string | null;
  /**
   * The version of the worker program, if the worker sends it.
   */
  version: string | null;
  /**
   * The network address of the last poll.
   */
  address: string | null;
  /**
   * The number of polls that are waiting now. If this and `held` are both 0, the worker may have stopped.
   * @isInt
   */
  polling: number;
  /**
   * When a poll of the worker last began or ended. ISO 8601, UTC; null if no node remembers one.
   */
  lastPollTime: Time | null;
  /**
   * The activities that it has polled for, the most recent first.
   */
  activities: WorkerActivity[];
  /**
   * The number of work items that it holds.
   * @isInt
   */
  held: number;
  /**
   * The work items that it holds, ordered by the end of their lease; at most 50.
   */
  items: HeldItem[];
}

/**
 * The workers of all nodes: first the workers waiting for work, then the most recent pollers. A node remembers the last 1,000
 * workers for a day, and reports the last 100 to the other nodes.
 *
 * @example {
 *   "items": [
 *     {
 *       "workerId": "mailer-7f9c-41-a8b01c9e",
 *       "host": "mailer-7f9c",
 *       "version": "2.4.1",
 *       "address": "10.0.3.17",
 *       "polling": 1,
 *       "lastPollTime": "2026-05-04T10:20:41.001Z",
 *       "activities": [
 *         { "activityName": "send-mail", "polling": 1, "lastPollTime": "2026-05-04T10:20:41.001Z" }
 *       ],
 *       "held": 0,
 *       "items": []
 *     }
 *   ],
 *   "count": 1,
 *   "exact": true
 * }
 */
export interface WorkerList {
  items: Worker[];
  /**
   * The number of matching workers, including workers not in `items`.
   * @isInt
   */
  count: number;
  /**
   * False if there were too many held items to look at all of them.
   */
  exact: boolean;
}

/**
 * Filters for workers.
 */
export interface WorkerQuery {
  /**
   * Only the worker with this id
   */
  workerId?: string;
  /**
   * Only workers that poll for this activity or hold one of its items
   */
  activityName?: string;
  /**
   * The maximum number of workers
   * @isInt limit must be a whole number
   * @minimum 1 must be at least 1
   * @maximum 500 must be at most 500
   */
  limit?: number;
}
