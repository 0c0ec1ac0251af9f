/** Free-form data: it belongs to the caller and is passed on untouched. */

/**
 * Any JSON value: an object, list, text, number, boolean or null.
 */
export type JsonValue = unknown;

/**
 * An object whose members are the caller's own.
 *
 * @example { "customer": "c-17", "amount": 250 }
 */
export interface DataObject {
  [name: string]: unknown;
}
