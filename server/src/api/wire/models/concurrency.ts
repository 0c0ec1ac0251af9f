/** The member Concurrency of a definition. */

/**
 * How many runs of a definition are open at a time.
 *
 * @example { "limit": 1, "key": "data.customer" }
 */
export interface ConcurrencyDocument {
  /**
   * From 1 to 10,000.
   */
  limit: number;
  /**
   * An expression over the start data. Each value has the whole limit for itself. By default, all runs share one.
   */
  key?: string | number | boolean | null;
  /**
   * What happens to further starts: `Queue` accepts them, and their first step waits for a place; `Reject` refuses them with 409
   * `concurrency_reached`. In any casing. The default is `Queue`.
   */
  onFull?: string | null;
  /**
   * Maximum number of runs that wait for each key; further starts are refused with 429 `queue_full`. By default, any number.
   */
  maxQueued?: number | null;
}
