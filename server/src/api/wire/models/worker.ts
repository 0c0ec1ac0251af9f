/** The wire types of workers. */
import type { Time } from './time.js';

/**
 * An activity for which a worker asks.
 */
export interface WorkerActivity {
  activityName: string;
  /**
   * The number of polls of the worker that are waiting now.
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
   * When the worker got the item. ISO 8601, UTC; null if the node that delivered it has stopped, or reports newer deliveries only.
   */
  heldSince: Time | null;
  /**
   * When the item returns to the queue. ISO 8601, UTC; null if it is held without a lease.
   */
  leaseUntil: Time | null;
}

/**
 * A worker: a client that polls for work items, or holds some.
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
   * The `workerId` of its polls; empty for clients that send none. Those are told apart by their address.
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
   * The number of polls that are waiting now. If it is 0 and `held` is 0, the worker may have stopped.
   * @isInt
   */
  polling: number;
  /**
   * When a poll of the worker last arrived or ended. ISO 8601, UTC; null if no node remembers one.
   */
  lastPollTime: Time | null;
  /**
   * The activities for which it has asked, the most recent first.
   */
  activities: WorkerActivity[];
  /**
   * The number of work items that it holds.
   * @isInt
   */
  held: number;
  /**
   * The work items that it holds, those whose lease ends first; at most 50.
   */
  items: HeldItem[];
}

/**
 * The workers of all nodes: those that are waiting for work first, then those that polled most recently. A node remembers
 * the last 1,000 workers for a day, and reports the last 100 to the other nodes.
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
   * The number of workers that match, including those that are not in `items`.
   * @isInt
   */
  count: number;
  /**
   * False if there are so many held items that not all were looked at.
   */
  exact: boolean;
}

/**
 * Which workers are listed.
 */
export interface WorkerQuery {
  /**
   * Only the worker with this id
   */
  workerId?: string;
  /**
   * Only workers that ask for this activity, or hold an item of it
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
