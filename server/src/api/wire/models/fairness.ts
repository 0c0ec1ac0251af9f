/** Fairness, of a definition and of a start. */

/**
 * The share of a fairness key.
 * @isDouble must be a number
 * @minimum 0.01 must be at least 0.01
 * @maximum 100 must be at most 100
 */
export type FairnessWeight = number;

/**
 * Whose work takes turns with that of others, among work of equal priority.
 *
 * @example { "key": "data.tenant", "weight": 2 }
 */
export interface FairnessDocument {
  /**
   * An expression over the start data. Runs whose key is None or empty are in one group.
   */
  key: string | number | boolean;
  /**
   * The share of the key: a number from 0.01 to 100, or an expression over the start data. The default is 1.
   */
  weight?: number | string | null;
}
