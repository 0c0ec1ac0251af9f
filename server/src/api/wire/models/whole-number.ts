/** Whole numbers in lists on the wire. */

/**
 * A whole number. `openapi-document.mjs` gives it its format.
 */
export type WholeNumber = number;
