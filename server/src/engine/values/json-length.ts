/** Measures JSON values as text, at a bounded cost. */
import { writeNumber } from './exact-json.js';
import { isJsonObject, type Json } from './json.js';

/** Upper bound of everything measured here. */
const LENGTH_MAX = 2 ** 28;

/** Measuring shorter values again is faster than a lookup. */
const KEPT_FROM = 4096;

/** Values of workflows are replaced, never changed, so a measured length stays valid. */
const lengths = new WeakMap<object, number>();

/** Size of the value as JSON in UTF-8, in bytes. Shared parts count each time, as they are written each time. */
export function jsonLength(value: Json): number {
  if (typeof value !== 'object' || value === null)
    return LENGTH_MAX - remainingBytes(value, LENGTH_MAX);
  const known = lengths.get(value);
  if (known !== undefined) return known;
  const length = LENGTH_MAX - remainingBytes(value, LENGTH_MAX);
  if (length > KEPT_FROM) lengths.set(value, length);
  return length;
}

/** The result of `remainingBytes` for a value that is nested too deeply. */
export const TOO_DEEP = -Infinity;

/** No value in memory is nested more deeply. */
const ANY_DEPTH = 2 ** 30;

/**
 * The remainder of `bytes` after the value is written; negative if the value is longer, or has more than `levels` levels. Stops
 * as soon as that is clear: a value that contains one object twice, and so on, exceeds any limit while it needs hardly any
 * memory.
 */
export function remainingBytes(value: Json, bytes: number, levels = ANY_DEPTH): number {
  if (typeof value === 'string') return bytes - textLength(value, bytes);
  if (typeof value !== 'object' || value === null) return bytes - scalarLength(value);
  if (levels === 0) return TOO_DEEP;
  // Each item adds a comma; the last one adds the closing bracket.
  let left = bytes - 1;
  let isEmpty = true;
  if (isJsonObject(value)) {
    for (const key in value) {
      if (left < 0) return left;
      left = remainingBytes(value[key] ?? null, left - textLength(key, left) - 2, levels - 1);
      isEmpty = false;
    }
    return isEmpty ? left - 1 : left;
  }
  for (const item of value) {
    if (left < 0) return left;
    left = remainingBytes(item, left - 1, levels - 1);
    isEmpty = false;
  }
  return isEmpty ? left - 1 : left;
}

/** Length of a value that is neither a string nor a container. */
function scalarLength(value: number | bigint | boolean | null): number {
  if (value === null || value === true) return 4;
  if (value === false) return 5;
  return writeNumber(value).length;
}

/** Matches a string without escapes, as most are: its JSON is as long as the string. A pattern is faster than a loop. */
const WRITTEN_AS_IS = /^[ !#-[\]-~]*$/;

/** Length of a string with its quotes and escapes. A string longer than `enough` may be counted as shorter than it is. */
function textLength(text: string, enough = LENGTH_MAX): number {
  let bytes = text.length + 2;
  if (bytes > enough || WRITTEN_AS_IS.test(text)) return bytes;
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

/** True for the second half of a surrogate pair. */
function isSecondHalf(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
