/** Data of the caller, which the server passes on unchanged. */

/**
 * Any JSON value: an object, list, string, number, boolean or null.
 */
export type JsonValue = unknown;

/**
 * An object with any members.
 *
 * @example { "customer": "c-17", "amount": 250 }
 */
export interface DataObject {
  [name: string]: unknown;
}
