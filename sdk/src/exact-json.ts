/**
 * JSON with integers of any size.
 *
 * `JSON.parse` rounds integers beyond ±(2^53 - 1), and `JSON.stringify` refuses bigints. Here both go around the platform's
 * functions as marked texts. The mark is random and new for each text, so no text of a user can look like it.
 */

/** What integers beyond ±(2^53 - 1) become: a number, which is rounded, or a bigint, which is exact. */
export type LargeIntegers = 'number' | 'bigint';

/**
 * Texts, so that digits in them are skipped; and whole numbers with point and exponent, where they have them. A text that is
 * not closed counts to the end: otherwise each of its quotes would be tried as a beginning.
 */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\(?:[^]|$)[^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
const LARGE_INTEGER = /^-?[1-9]\d{15,}$/;
const FLOATS_FROM = 2 ** 53;

/** @throws SyntaxError where JSON.parse would */
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
 * Bigints are written as integers. Who reads integers as bigints has no other numbers of that size than floats: these are
 * written with an exponent, so that they stay floats.
 */
export function writeJson(value: unknown, integers: LargeIntegers, space?: number): string {
  const mark = newMark();
  const replacer = (_key: string, member: unknown): unknown => {
    const number = numberText(member, integers);
    return number === null ? member : mark + number;
  };
  // What JSON does not know becomes null rather than nothing.
  const isKnown = !['undefined', 'function', 'symbol'].includes(typeof value);
  const text = JSON.stringify(isKnown ? value : null, replacer, space);
  return text.replaceAll(new RegExp(`"${mark}([^"]+)"`, 'g'), '$1');
}

/**
 * As `JSON.parse`, with integers beyond ±(2^53 - 1) as bigints.
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

/** As `JSON.stringify`, with bigints as integers, and numbers beyond 2^53 as floats (`1e+16`). */
export function stringifyJson(value: unknown, space?: number): string {
  return writeJson(value, 'bigint', space);
}

/** Null for everything that JSON.stringify writes as it is. */
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
