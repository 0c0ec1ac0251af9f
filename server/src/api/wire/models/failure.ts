/** The wire types of failure groups. */
import type { WorkflowStatus } from './workflow.js';
import type { Time } from './time.js';
import type { WholeNumber } from './whole-number.js';

/**
 * Failed runs with the same cause: the same definition, step and error type, and the same message apart from numbers, ids and
 * times.
 *
 * @example {
 *   "key": "5c1d7a90b2e4f1a86c0d93e7b4a2f518",
 *   "definitionId": "order",
 *   "stepId": "pay",
 *   "type": "HttpError",
 *   "message": "POST https://pay.example.com/orders/# answered 503",
 *   "count": 42,
 *   "suspended": 30,
 *   "retrying": 10,
 *   "failed": 2,
 *   "firstTime": "2026-05-04T10:20:30.123Z",
 *   "lastTime": "2026-05-04T11:02:03.456Z",
 *   "example": "01hx5v3x9t6k2m4n8p0q",
 *   "trend": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 30]
 * }
 */
export interface FailureGroup {
  /**
   * Identifies the group. Pass it to run lists as the `failure` filter.
   */
  key: string;
  definitionId: string;
  /**
   * The failed step. Empty if the server couldn't execute the runs.
   */
  stepId: string;
  /**
   * The class of the Python exception, or a type of the server such as `Timeout` or `ActivityFailed`.
   */
  type: string;
  /**
   * The message without the parts that differ between runs: `#` stands for a number, and `<id>`, `<time>` and `<email>` for such
   * values.
   */
  message: string;
  /**
   * The number of runs: the sum of `suspended`, `retrying` and `failed`.
   * @isInt
   */
  count: number;
  /**
   * Suspended runs.
   * @isInt
   */
  suspended: number;
  /**
   * Runnable runs: the step will be or is being retried, or the failure is being compensated.
   * @isInt
   */
  retrying: number;
  /**
   * Runs that have ended with the outcome `Failed`.
   * @isInt
   */
  failed: number;
  /**
   * When the first of the runs began to fail for this cause. A retrying run counts from the first attempt that failed this way.
   * ISO 8601, UTC.
   */
  firstTime: Time;
  /**
   * The time of the newest error among the runs. ISO 8601, UTC.
   */
  lastTime: Time;
  /**
   * The id of the run with the newest error.
   */
  example: string;
  /**
   * The number of runs by error time: one number for each of the last 24 hours, the oldest hour first.
   */
  trend: WholeNumber[];
}

/**
 * Groups of failed runs.
 *
 * @example {
 *   "items": [
 *     {
 *       "key": "5c1d7a90b2e4f1a86c0d93e7b4a2f518",
 *       "definitionId": "order",
 *       "stepId": "pay",
 *       "type": "HttpError",
 *       "message": "POST https://pay.example.com/orders/# answered 503",
 *       "count": 42,
 *       "suspended": 30,
 *       "retrying": 10,
 *       "failed": 2,
 *       "firstTime": "2026-05-04T10:20:30.123Z",
 *       "lastTime": "2026-05-04T11:02:03.456Z",
 *       "example": "01hx5v3x9t6k2m4n8p0q",
 *       "trend": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 30]
 *     }
 *   ],
 *   "groups": 1,
 *   "count": 42,
 *   "exact": true
 * }
 */
export interface FailureGroups {
  items: FailureGroup[];
  /**
   * The number of groups, including groups not in `items`.
   * @isInt
   */
  groups: number;
  /**
   * The number of runs in all groups.
   * @isInt
   */
  count: number;
  /**
   * False if the server stopped counting: the numbers cover only the newest errors.
   */
  exact: boolean;
}

/**
 * The order of groups: by size or by newest error, the highest first.
 */
export type FailureOrder = 'count' | 'lastTime';

/**
 * Filters and order of the groups of failed runs.
 */
export interface FailureQuery {
  definitionId?: string;
  /**
   * `Suspended` and `Runnable` runs are open; `Terminated` runs have ended with the outcome `Failed`.
   */
  status?: WorkflowStatus;
  /**
   * Only runs with an error at or after this time. ISO 8601; UTC by default.
   */
  failedFrom?: Time;
  /**
   * Only runs with an error before this time. ISO 8601; UTC by default.
   */
  failedTo?: Time;
  /**
   * Only runs that match this condition on a tag or index field, such as `customer=C-17`, as in the run list. To combine
   * conditions, repeat the parameter; all of them must match.
   */
  where?: string[];
  /**
   * @default "count"
   */
  order?: FailureOrder;
  /**
   * The maximum number of groups.
   * @isInt must be a whole number
   * @minimum 1 must be at least 1
   * @maximum 100 must be at most 100
   * @default 20
   */
  limit?: number;
}
