/**
 * JSON with integers of any size.
 *
 * `JSON.parse` rounds integers beyond ±(2^53 - 1), and `JSON.stringify` throws on bigints. This module passes such integers
 * through these functions as marked strings. The mark is random and new in each call, so no string of a user can collide with it.
 */

/** How to represent integers beyond ±(2^53 - 1): as a number, which is rounded, or as a bigint, which is exact. */
export type LargeIntegers = 'number' | 'bigint';

/**
 * Matches strings, so that digits in them are skipped, and numbers with their fraction and exponent. An unterminated string
 * matches up to the end of the text; otherwise, the pattern would try each of its quotes as the start of a string.
 */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\(?:[^]|$)[^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
const LARGE_INTEGER = /^-?[1-9]\d{15,}$/;
const FLOATS_FROM = 2 ** 53;

/** @throws SyntaxError under the same conditions as JSON.parse */
export function readJson(text: string, integers: LargeIntegers): unknown {
  if (integers === 'number' || !/\d{16}/.test(text)) return JSON.parse(text);
  const mark = newMark();
  const marked = text.replace(TEXT_OR_NUMBER, (token) =>
    LARGE_INTEGER.test(token) ? `"${mark}${token}"` : token,
  );
  return JSON.parse(marked, (_key, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value;
    const integer = BigInt(value.slice(mark.length));
    const number = Number(integer);
    return Number.isSafeInteger(number) ? number : integer;
  });
}

/**
 * Writes bigints as integers. If large integers are read as bigints, every number of that size is a float. Such numbers are
 * written with an exponent, so that they stay floats.
 */
export function writeJson(value: unknown, integers: LargeIntegers, space?: number): string {
  const mark = newMark();
  const replacer = (_key: string, member: unknown): unknown => {
    const number = numberText(member, integers);
    return number === null ? member : mark + number;
  };
  // A value that JSON cannot represent becomes null; JSON.stringify would return undefined.
  const isKnown = !['undefined', 'function', 'symbol'].includes(typeof value);
  const text = JSON.stringify(isKnown ? value : null, replacer, space);
  return text.replaceAll(new RegExp(`"${mark}([^"]+)"`, 'g'), '$1');
}

/**
 * Like `JSON.parse`, but integers beyond ±(2^53 - 1) become bigints.
 *
 * @example
 * ```ts
 * import { parseJson, stringifyJson } from '@stepwright/sdk';
 *
 * const order = parseJson('{"id": 12345678901234567890}'); // { id: 12345678901234567890n }
 * console.log(stringifyJson(order)); // {"id":12345678901234567890}
 * ```
 */
export function parseJson(text: string): unknown {
  return readJson(text, 'bigint');
}

/** Like `JSON.stringify`, but writes bigints as integers, and numbers from 2^53 as floats (`1e+16`). */
export function stringifyJson(value: unknown, space?: number): string {
  return writeJson(value, 'bigint', space);
}

/** Null for every value that JSON.stringify writes correctly. */
function numberText(value: unknown, integers: LargeIntegers): string | null {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'number' || integers === 'number' || !Number.isFinite(value)) return null;
  if (Object.is(value, -0)) return '-0.0';
  return Math.abs(value) >= FLOATS_FROM ? value.toExponential() : null;
}

function newMark(): string {
  const words = crypto.getRandomValues(new Uint32Array(4));
  return `${Array.from(words, (word) => word.toString(36)).join('-')}:`;
}
