/**
 * JSON that preserves every number exactly: all user data is read from text and written to it here.
 *
 * JavaScript has one kind of number and Python two. So in values (`Json`):
 *  N1 An integer beyond ±(2^53 - 1) is a `bigint`, and a `bigint` is never smaller. Both are written exactly.
 *  N2 A `number` of 2^53 or more is a float. It is written with an exponent (`1e+16`), so that no reader mistakes it for an
 *     integer. Negative zero is written `-0.0`.
 *  N3 A whole `number` below 2^53 is written without a point: 1.0 and 1 are the same value.
 *  N4 An integer has at most 1,000 digits. Longer ones are rejected by their length, before anything is computed.
 *
 * The platform's own parser and writer do the work. A check of every 16th character (or a walk over the values) shows that most
 * texts contain none of these numbers; only the others need the slower path with a function call per value.
 */
import type { Json } from './json.js';

export const INTEGER_DIGITS_MAX = 1000;

/** The first integer that shares its JavaScript number with a neighboring integer. */
const FLOATS_FROM = 2 ** 53;
const LONGEST_SAFE_DIGITS = 15;
const INTEGER = /^-?\d+$/;

/** An integer exceeds the maximum number of digits. */
export class IntegerTooLong extends Error {
  override readonly name = 'IntegerTooLong';

  constructor(source: string) {
    super(integerProblem(source));
  }
}

export function integerProblem(source: string): string {
  return `the integer ${source.slice(0, 20)}… has more than ${INTEGER_DIGITS_MAX} digits; send it as text`;
}

// Provided by the platform, but not declared in TypeScript's ES2023 library.
interface ExactJson {
  parse: (
    text: string,
    reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown,
  ) => unknown;
  rawJSON: (text: string) => object;
}
const { parse, rawJSON } = JSON as unknown as ExactJson;

/**
 * @throws SyntaxError where JSON.parse would
 * @throws IntegerTooLong
 */
export function readJson(text: string): Json {
  // The parser only creates JSON values.
  if (!mayHoldLargeInteger(text)) return JSON.parse(text) as Json;
  return parse(text, (_key, value, context) => {
    if (typeof value !== 'number') return value;
    const source = context?.source;
    return source !== undefined && INTEGER.test(source) ? readInteger(source) : value;
  }) as Json;
}

/** @param source digits, with or without a sign. @throws IntegerTooLong */
export function readInteger(source: string): number | bigint {
  if (source.length <= LONGEST_SAFE_DIGITS) return Number(source);
  if (isTooLong(source)) throw new IntegerTooLong(source);
  return exactInteger(BigInt(source));
}

/** Whether an integer, written in decimal, has too many digits. */
export function isTooLong(source: string): boolean {
  const sign = source.startsWith('-') || source.startsWith('+') ? 1 : 0;
  return source.length - sign > INTEGER_DIGITS_MAX;
}

/** The canonical form of an integer in values: see N1. */
export function exactInteger(value: bigint): number | bigint {
  const short = Number(value);
  return Number.isSafeInteger(short) ? short : value;
}

/**
 * One of 16 consecutive digits is at a multiple of 16. Digits in a string, after a point, or before a point or exponent aren't
 * an integer; a false match inside a string only costs time.
 */
function mayHoldLargeInteger(text: string): boolean {
  for (let index = LONGEST_SAFE_DIGITS; index < text.length; index += LONGEST_SAFE_DIGITS + 1) {
    if (!isDigit(text.charCodeAt(index))) continue;
    let start = index;
    while (isDigit(text.charCodeAt(start - 1))) start -= 1;
    let end = index + 1;
    while (isDigit(text.charCodeAt(end))) end += 1;
    if (end - start > LONGEST_SAFE_DIGITS && isIntegerAt(text, start, end)) return true;
    index = end;
  }
  return false;
}

const BEFORE_NO_INTEGER: ReadonlySet<string> = new Set(['"', '.']);
const BEHIND_NO_INTEGER: ReadonlySet<string> = new Set(['"', '.', 'e', 'E']);

function isIntegerAt(text: string, start: number, end: number): boolean {
  return !BEFORE_NO_INTEGER.has(text.charAt(start - 1)) && !BEHIND_NO_INTEGER.has(text.charAt(end));
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * Like JSON.stringify, which also omits undefined members.
 *
 * @throws RangeError for a value that is nested too deeply
 */
export function writeJson(value: object | Json, space?: number): string {
  return needsExactWriting(value)
    ? JSON.stringify(value, exactNumber, space)
    : JSON.stringify(value, null, space);
}

function exactNumber(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return rawJSON(String(value));
  return typeof value === 'number' && isWrittenOtherwise(value)
    ? rawJSON(writeNumber(value))
    : value;
}

function needsExactWriting(value: unknown): boolean {
  if (typeof value === 'number') return isWrittenOtherwise(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  if (Array.isArray(value)) {
    for (const item of value) if (needsExactWriting(item)) return true;
    return false;
  }
  // Every object here is a plain object; Object.values would copy them all.
  for (const key in value) {
    if (needsExactWriting((value as Readonly<Record<string, unknown>>)[key])) return true;
  }
  return false;
}

/** True if JSON.stringify would write the number differently: large floats like integers, negative zero without its sign. */
function isWrittenOtherwise(value: number): boolean {
  if (value === 0) return Object.is(value, -0);
  return (value >= FLOATS_FROM || value <= -FLOATS_FROM) && Number.isFinite(value);
}

/** A number in JSON: see N1 to N3. */
export function writeNumber(value: number | bigint): string {
  if (typeof value === 'bigint' || !isWrittenOtherwise(value)) return String(value);
  return value === 0 ? '-0.0' : value.toExponential();
}

/** Whether a number is certainly a float: a smaller whole number may be either. */
export function isCertainlyFloat(value: number): boolean {
  return !Number.isSafeInteger(value) || Object.is(value, -0);
}
