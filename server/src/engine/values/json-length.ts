/** How long JSON values are as text, at a bounded cost. */
import { writeNumber } from './exact-json.js';
import { isJsonObject, type Json } from './json.js';

/** Nothing that is measured here may be longer. */
const LENGTH_MAX = 2 ** 28;

/** Shorter ones are measured again faster than they are looked up. */
const KEPT_FROM = 4096;

/** Values of workflows are replaced, never changed, so that what was measured once stays so. */
const lengths = new WeakMap<object, number>();

/** How many bytes the value has as JSON in UTF-8. Parts that are shared count each time, as they would be written. */
export function jsonLength(value: Json): number {
  if (typeof value !== 'object' || value === null) return LENGTH_MAX - leftOf(value, LENGTH_MAX);
  const known = lengths.get(value);
  if (known !== undefined) return known;
  const length = LENGTH_MAX - leftOf(value, LENGTH_MAX);
  if (length > KEPT_FROM) lengths.set(value, length);
  return length;
}

/** What `leftOf` answers for a value that nests more levels than it may. */
export const TOO_DEEP = -Infinity;

/** No value in memory nests deeper. */
const ANY_DEPTH = 2 ** 30;

/**
 * What is left of so many bytes when the value is written; negative when it is longer, or nests deeper than `levels`. It
 * ends as soon as it is: a value that contains one object twice, and so on, is longer than any limit while it needs
 * hardly any memory.
 */
export function leftOf(value: Json, bytes: number, levels = ANY_DEPTH): number {
  if (typeof value === 'string') return bytes - textLength(value, bytes);
  if (typeof value !== 'object' || value === null) return bytes - scalarLength(value);
  if (levels === 0) return TOO_DEEP;
  // Each item brings a comma or, the last one, an end.
  let left = bytes - 1;
  let isEmpty = true;
  if (isJsonObject(value)) {
    for (const key in value) {
      if (left < 0) return left;
      left = leftOf(value[key] ?? null, left - textLength(key, left) - 2, levels - 1);
      isEmpty = false;
    }
    return isEmpty ? left - 1 : left;
  }
  for (const item of value) {
    if (left < 0) return left;
    left = leftOf(item, left - 1, levels - 1);
    isEmpty = false;
  }
  return isEmpty ? left - 1 : left;
}

/** Of a value that is neither a text nor has parts. */
function scalarLength(value: number | bigint | boolean | null): number {
  if (value === null || value === true) return 4;
  if (value === false) return 5;
  return writeNumber(value).length;
}

/** Of a text with its quotes and escapes. One that is longer than `enough` may be counted as shorter than it is. */
function textLength(text: string, enough = LENGTH_MAX): number {
  let bytes = text.length + 2;
  if (bytes > enough) return bytes;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) {
      if (code < 0x20 || code === 0x22 || code === 0x5c) bytes += escapeLength(code) - 1;
    } else if (code < 0x800) {
      bytes += 1;
    } else if (code < 0xd800 || code > 0xdfff) {
      bytes += 2;
    } else if (code < 0xdc00 && isSecondHalf(text.charCodeAt(index + 1))) {
      // Four bytes for the pair.
      bytes += 2;
      index += 1;
    } else {
      bytes += escapeLength(code) - 1;
    }
  }
  return bytes;
}

const SHORT_ESCAPES = new Set(Array.from('"\\\b\t\n\f\r', (character) => character.charCodeAt(0)));

function escapeLength(code: number): number {
  return SHORT_ESCAPES.has(code) ? 2 : 6;
}

/** Of a surrogate pair. */
function isSecondHalf(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
