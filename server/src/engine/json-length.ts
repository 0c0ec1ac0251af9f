/** How long JSON values are as text, at a bounded cost. */
import { isJsonObject, type Json } from './json.js';

/** Nothing that is measured here may be longer. */
const LENGTH_MAX = 2 ** 28;

/** Shorter ones are measured again faster than they are looked up. */
const KEPT_FROM = 4096;

/** Values of workflows are replaced, never changed, so that what was measured once stays so. */
const lengths = new WeakMap<object, number>();

/** About how many characters the value has as JSON. Parts that are shared count each time, as they would be written. */
export function jsonLength(value: Json): number {
  if (typeof value !== 'object' || value === null) return LENGTH_MAX - leftOf(value, LENGTH_MAX);
  const known = lengths.get(value);
  if (known !== undefined) return known;
  const length = LENGTH_MAX - leftOf(value, LENGTH_MAX);
  if (length > KEPT_FROM) lengths.set(value, length);
  return length;
}

/** What is left of so many characters when the value is written; negative when it is longer. It ends as soon as it is. */
export function leftOf(value: Json, characters: number): number {
  if (typeof value === 'string') return characters - value.length - 2;
  if (typeof value === 'bigint') return characters - String(value).length;
  if (typeof value !== 'object' || value === null) return characters - 6;
  let left = characters - 2;
  if (isJsonObject(value)) {
    for (const key in value) {
      if (left < 0) return left;
      left = leftOf(value[key] ?? null, left - key.length - 4);
    }
    return left;
  }
  for (const item of value) {
    if (left < 0) return left;
    left = leftOf(item, left - 1);
  }
  return left;
}
