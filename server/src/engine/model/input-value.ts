/** How one input gets its value. */
import type { Json } from '../values/json.js';

/**
 * - `constant`: a number, boolean, null or list in the document.
 * - `expression`: a Python expression.
 * - `graph` and `list`: literal structure in which only the parts marked with `@` are evaluated.
 */
export type InputValue =
  | { readonly kind: 'constant'; readonly value: Json }
  | { readonly kind: 'expression'; readonly source: string }
  | { readonly kind: 'graph'; readonly fields: readonly (readonly [string, InputValue])[] }
  | { readonly kind: 'list'; readonly items: readonly InputValue[] };
