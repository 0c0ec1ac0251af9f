/** The wire types of limits. */
import type { Duration } from './definition.js';
import type { Time } from './time.js';

/**
 * How many units of a limit begin in a time. In any window of length W, at most `burst + W × count / per`.
 */
export interface LimitRateRequest {
  /**
   * From 1 to 1,000,000.
   * @isInt
   */
  count: number;
  /**
   * From 1 second to 1 day.
   */
  per: Duration;
  /**
   * How many can begin at once, from 1 to `count`. The default is 1.
   * @isInt
   */
  burst?: number | null;
}

/**
 * A limit that steps of any definition share: at least one of `concurrency` and `rate`. Unknown members are refused. Member names
 * are accepted in any casing.
 *
 * @example { "concurrency": 5, "rate": { "count": 100, "per": "1m", "burst": 10 } }
 */
export interface LimitRequest {
  /**
   * The name of the limit, as in the path. It can be left out.
   */
  name?: string | null;
  /**
   * At most 1000 characters.
   */
  description?: string | null;
  /**
   * How many units steps hold at a time, from 1 to 100,000, for each key.
   * @isInt
   */
  concurrency?: number | null;
  /**
   * How many units begin in a time, for each key.
   */
  rate?: LimitRateRequest | null;
}

/**
 * How many units of a limit begin in a time.
 */
export interface LimitRate {
  /**
   * @isInt
   */
  count: number;
  /**
   * As it was set: a number of seconds, or a text.
   */
  per: string | number;
  /**
   * @isInt
   */
  burst: number;
}

/**
 * The use of a limit by the steps with one key.
 */
export interface LimitKey {
  /**
   * Null for the steps without a key.
   */
  key: string | null;
  /**
   * The number of units that are held.
   * @isInt
   */
  held: number;
  /**
   * The number of steps that wait.
   * @isInt
   */
  waiting: number;
  /**
   * ISO 8601, UTC; null if no step waits.
   */
  oldestWaitSince: Time | null;
}

/**
 * A limit and its use.
 *
 * @example {
 *   "name": "pay-api",
 *   "description": "What the contract allows",
 *   "concurrency": 5,
 *   "rate": { "count": 100, "per": "1m", "burst": 10 },
 *   "held": 5,
 *   "waiting": 12,
 *   "keys": [
 *     { "key": null, "held": 5, "waiting": 12, "oldestWaitSince": "2026-05-04T10:20:30.123Z" }
 *   ],
 *   "createdBy": "ada",
 *   "updatedAt": "2026-05-04T10:20:30.123Z"
 * }
 */
export interface Limit {
  name: string;
  description: string | null;
  /**
   * How many units steps hold at a time, for each key; null: any number.
   * @isInt
   */
  concurrency: number | null;
  /**
   * How many units begin in a time, for each key; null: any number.
   */
  rate: LimitRate | null;
  /**
   * The number of units that are held, of all keys.
   * @isInt
   */
  held: number;
  /**
   * The number of steps that wait for this limit, of all keys.
   * @isInt
   */
  waiting: number;
  /**
   * At most 100 keys, with the most waiting steps first.
   */
  keys: LimitKey[];
  /**
   * Who first set it up: the subject (`sub`) of the caller's token, or the name of its API key; `anonymous` if it had none.
   */
  createdBy: string;
  /**
   * When it was last set up. ISO 8601, UTC.
   */
  updatedAt: Time;
}

/**
 * A page of limits, ordered by name.
 */
export interface LimitPage {
  items: Limit[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
