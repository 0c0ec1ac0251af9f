/**
 * Validates numbers exactly, and equality in linear time.
 *
 * The compiler knows only JavaScript's numbers. It validates a copy of the data in which large integers are rounded; the
 * keywords below look up the exact value. They also replace the compiler's comparison of all pairs (`uniqueItems`, `enum`) and
 * its rounded division (`multipleOf`).
 */
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../../engine/values/json.js';

/** Where a value is in the data: what the compiler passes to its keywords. */
interface Place {
  readonly parentData: object | undefined;
  readonly parentDataProperty: string | number;
}

export class ExactNumbers {
  /** The exact object or list for each one that was copied. */
  #originals = new WeakMap<object, object>();
  readonly #choices = new WeakMap<object, ReadonlySet<string>>();

  /** The value with rounded integers; the same object if there are none. */
  rounded(value: Json): Json {
    if (typeof value === 'bigint') return Number(value);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries<Json>(value as JsonObject);
    const rounded = entries.map(([key, item]) => [key, this.rounded(item)] as const);
    if (rounded.every(([, item], index) => item === entries[index]?.[1])) return value;
    const copy: Json = Array.isArray(value)
      ? rounded.map(([, item]) => item)
      : Object.fromEntries(rounded);
    this.#originals.set(copy, value);
    return copy;
  }

  addKeywords(ajv: Ajv2020): void {
    const compare = (
      keyword: string,
      holds: (value: ExactNumber, limit: ExactNumber) => boolean,
    ): void => {
      replaceKeyword(ajv, keyword, 'number', (limit: ExactNumber, data: number, place) =>
        holds(this.#exactNumber(data, place), limit),
      );
    };
    compare('minimum', (value, limit) => value >= limit);
    compare('maximum', (value, limit) => value <= limit);
    compare('exclusiveMinimum', (value, limit) => value > limit);
    compare('exclusiveMaximum', (value, limit) => value < limit);
    compare('multipleOf', isMultipleOf);
    replaceKeyword(ajv, 'const', null, (constant: Json, data: Json, place) => {
      return canonical(this.#exact(data, place)) === canonical(constant);
    });
    replaceKeyword(ajv, 'enum', null, (choices: readonly Json[], data: Json, place) =>
      this.#choicesOf(choices).has(canonical(this.#exact(data, place))),
    );
    replaceKeyword(ajv, 'uniqueItems', 'array', (isUnique: boolean, data: readonly Json[]) => {
      if (!isUnique) return true;
      // The exact list has the same type as its copy.
      const items = (this.#originals.get(data) ?? data) as readonly Json[];
      const seen = new Set<string>();
      return items.every((item) => seen.size < seen.add(canonical(item)).size);
    });
  }

  #exact(data: Json, place: Place | undefined): Json {
    if (typeof data === 'number') return this.#exactNumber(data, place);
    if (typeof data !== 'object' || data === null) return data;
    return (this.#originals.get(data) ?? data) as Json;
  }

  #exactNumber(data: number, place: Place | undefined): ExactNumber {
    const parent =
      place?.parentData === undefined ? undefined : this.#originals.get(place.parentData);
    if (parent === undefined || place === undefined) return data;
    return (parent as Readonly<Record<string, ExactNumber>>)[place.parentDataProperty] ?? data;
  }

  #choicesOf(choices: readonly Json[]): ReadonlySet<string> {
    let texts = this.#choices.get(choices);
    if (texts === undefined) {
      texts = new Set(choices.map(canonical));
      this.#choices.set(choices, texts);
    }
    return texts;
  }
}

type ExactNumber = number | bigint;

type Holds = (schema: never, data: never, place: Place | undefined) => boolean;

/** `type`: the keyword applies only to such values; null: to all. */
function replaceKeyword(
  ajv: Ajv2020,
  keyword: string,
  type: 'number' | 'array' | null,
  holds: Holds,
): void {
  ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword,
    ...(type === null ? {} : { type }),
    errors: false,
    // The schema of schemas has checked the type of the keyword's value.
    validate: (schema: unknown, data: unknown, _parentSchema?: object, place?: Place) =>
      holds(schema as never, data as never, place),
  });
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
