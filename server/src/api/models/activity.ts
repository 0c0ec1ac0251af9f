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
