/**
 * Python's operators on JSON values, as far as their meaning is beyond doubt; `undefined` if Python has to evaluate the
 * expression.
 *
 * How numbers are sent (see exact-json.ts): 2.0 is written as 2, so a whole number below 2^53 is an int in Python if it
 * comes from the variables, but may be a float if it was computed (`6 / 2`). Results returned here are the same in both
 * cases; a zero whose sign would depend on the type is not returned. A number that is fractional, larger, or negative
 * zero is certainly a float. A bigint is certainly an int: it is compared here, exactly as in Python, but not used in
 * calculations.
 */
import { isCertainlyFloat } from '../../engine/values/exact-json.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { ArithmeticOperator, Ordering } from './plain-expression.js';

/** Python joins longer strings, and also limits the size of results. */
const MAX_JOINED_LENGTH = 10_000;
const SURROGATE = /[\ud800-\udfff]/;
const HIGH_SURROGATE = /[\ud800-\udbff]/;
const LOW_SURROGATE = /[\udc00-\udfff]/;

/** None, False, 0 and empty values are false, everything else is true. */
export function isTrue(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return countElements(value) > 0;
}

export function areEqual(left: Json, right: Json): boolean | undefined {
  const leftKind = scalarKind(left);
  const rightKind = scalarKind(right);
  if (leftKind === null || rightKind === null) return undefined;
  if (leftKind === rightKind) return left === right;
  // Numbers of any size compare by value: here, JavaScript's `==` does what Python does.
  if (isNumber(left) && isNumber(right)) return left == right;
  // True == 1.
  const areNumbers = [left, right].every((value) => isNumber(value) || typeof value === 'boolean');
  return areNumbers ? undefined : false;
}

/** Strings are left to Python, which orders them by code points; JavaScript orders them by UTF-16 code units. */
export function isInOrder(left: Json, ordering: Ordering, right: Json): boolean | undefined {
  if (!isNumber(left) || !isNumber(right)) return undefined;
  switch (ordering) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}

/** `value in container`, for elements of lists and keys of objects. */
export function contains(container: Json, value: Json): boolean | undefined {
  if (typeof container !== 'object' || container === null) return undefined;
  if (!isList(container)) {
    return typeof value === 'string' ? Object.hasOwn(container, value) : undefined;
  }
  for (const element of container) {
    const isEqual = areEqual(element, value);
    if (isEqual !== false) return isEqual;
  }
  return false;
}

/** `len(value)`. Strings with surrogate pairs are left to Python, which counts each pair as one character. */
export function lengthOf(value: Json): number | undefined {
  if (typeof value === 'string') return SURROGATE.test(value) ? undefined : value.length;
  return typeof value === 'object' && value !== null ? countElements(value) : undefined;
}

export function negate(value: Json): number | undefined {
  return isFiniteNumber(value) && value !== 0 ? -value : undefined;
}

export function calculate(left: Json, operator: ArithmeticOperator, right: Json): Json | undefined {
  if (operator === '+' && typeof left === 'string' && typeof right === 'string') {
    return joinTexts(left, right);
  }
  if (!isFiniteNumber(left) || !isFiniteNumber(right)) return undefined;
  if (operator === '/') return right === 0 ? undefined : finite(left / right);
  if (isWhole(left) && isWhole(right)) return calculateWhole(left, operator, right);
  switch (operator) {
    case '+':
      return finite(left + right);
    case '-':
      return finite(left - right);
    case '*':
      return finite(left * right);
    case '//':
    case '%':
      return undefined;
  }
}

/** Ints are exact in Python and floats are not. The two can only differ if the result is beyond 2^53. */
function calculateWhole(
  left: number,
  operator: Exclude<ArithmeticOperator, '/'>,
  right: number,
): number | undefined {
  switch (operator) {
    case '+':
      return safe(left + right);
    case '-':
      return safe(left - right);
    case '*':
      return unsignedZero(safe(left * right), left, right);
    case '//': {
      const multiple = right === 0 ? undefined : safe(left - modulo(left, right));
      return multiple === undefined ? undefined : unsignedZero(safe(multiple / right), left, right);
    }
    case '%':
      return right === 0 ? undefined : unsignedZero(safe(modulo(left, right)), left, right);
  }
}

/** An int zero has no sign; a float zero may have the sign of an operand. */
function unsignedZero(result: number | undefined, left: number, right: number): number | undefined {
  return result === 0 && (left < 0 || right < 0) ? undefined : result;
}

/** The remainder has the sign of the divisor in Python, and of the dividend in JavaScript. */
function modulo(left: number, right: number): number {
  const remainder = left % right;
  return remainder !== 0 && remainder < 0 !== right < 0 ? remainder + right : remainder;
}

/** Two surrogates that become adjacent form one character in JavaScript, but remain two in Python. */
function joinTexts(left: string, right: string): string | undefined {
  if (left.length + right.length > MAX_JOINED_LENGTH) return undefined;
  const makesPair = HIGH_SURROGATE.test(left.slice(-1)) && LOW_SURROGATE.test(right.slice(0, 1));
  return makesPair ? undefined : left + right;
}

function finite(result: number): number | undefined {
  return Number.isFinite(result) ? result : undefined;
}

function safe(result: number): number | undefined {
  return Number.isSafeInteger(result) ? result + 0 : undefined;
}

function isNumber(value: Json): value is number | bigint {
  return typeof value === 'bigint' || isFiniteNumber(value);
}

function isFiniteNumber(value: Json): value is number {
  return Number.isFinite(value);
}

function isWhole(value: number): boolean {
  return !isCertainlyFloat(value);
}

/** @returns null for lists and objects, and for numbers that JSON cannot express */
function scalarKind(value: Json): string | null {
  if (value === null) return 'none';
  if (typeof value === 'object') return null;
  return typeof value === 'number' && !Number.isFinite(value) ? null : typeof value;
}

function countElements(value: readonly Json[] | JsonObject): number {
  return isList(value) ? value.length : Object.keys(value).length;
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
