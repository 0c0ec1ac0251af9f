/** An entry of the member Limits of a step. */

/**
 * A limit of which a step needs slots.
 *
 * @example { "name": "shop", "key": "data.tenant" }
 */
export interface StepLimitDocument {
  /**
   * The name of the limit.
   */
  name: string;
  /**
   * An expression. Each value has the whole limit for itself. By default, all steps share it.
   */
  key?: string | number | boolean | null;
  /**
   * How much of the limit the step needs, from 1. The default is 1.
   * @isInt
   */
  units?: number | null;
}
