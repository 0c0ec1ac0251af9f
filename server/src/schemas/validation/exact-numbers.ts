/**
 * Numbers are exact, and equality is compared in linear time: equal values have equal texts.
 */
import type { Json, JsonObject } from '../../engine/values/json.js';

export type ExactNumber = number | bigint;

export function isNumber(value: Json): value is ExactNumber {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Equal for equal JSON values: 1 and 1.0, and objects with the same members in any order. */
export function canonical(value: Json): string {
  if (typeof value === 'number' || typeof value === 'bigint') return canonicalNumber(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value as JsonObject)
    .map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`)
    .sort();
  return `{${members.join(',')}}`;
}

function canonicalNumber(value: ExactNumber): string {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value || 0);
  return Number.isInteger(value) ? String(BigInt(value)) : String(value);
}

/** Decimal numbers divide as they are written: 19.99 is a multiple of 0.01. */
export function isMultipleOf(value: ExactNumber, divisor: ExactNumber): boolean {
  const [digits, exponent] = decimal(value);
  const [divisorDigits, divisorExponent] = decimal(divisor);
  if (divisorDigits === 0n) return false;
  const smaller = Math.min(exponent, divisorExponent);
  const dividend = digits * 10n ** BigInt(exponent - smaller);
  return dividend % (divisorDigits * 10n ** BigInt(divisorExponent - smaller)) === 0n;
}

/** All digits as one integer, and the power of ten by which it is multiplied. */
function decimal(value: ExactNumber): readonly [bigint, number] {
  if (typeof value === 'bigint') return [value, 0];
  const [mantissa = '0', exponent = '0'] = value.toExponential().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
