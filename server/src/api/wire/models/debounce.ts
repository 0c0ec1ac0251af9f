/** The wire types of `debounce`. */
import type { Time } from './time.js';

/**
 * Whose data a run gets that several starts have joined.
 */
export type DebounceData = 'last' | 'first' | 'list';

/**
 * The starts that a run with `debounce` has collected.
 *
 * @example {
 *   "key": "customer-7",
 *   "data": "list",
 *   "until": "2026-05-04T10:20:40.000Z",
 *   "latest": "2026-05-04T10:22:10.123Z",
 *   "starts": 3
 * }
 */
export interface Debounce {
  /**
   * Null: all starts without a key.
   */
  key: string | null;
  data: DebounceData;
  /**
   * When the run begins if no other start joins it; null: no start joins it any more. ISO 8601, UTC.
   */
  until: Time | null;
  /**
   * When it begins at the latest. ISO 8601, UTC.
   */
  latest: Time;
  /**
   * Number of starts, including the first one.
   * @isInt
   */
  starts: number;
}
