/** What the history keeps of a value: the value itself when it is small, otherwise a note that it was large. */
import { isJsonObject, type Json } from '../engine/json.js';

/** Roughly the characters of JSON text that one record may keep of inputs or outputs. */
const SIZE_MAX = 4096;

/** The cost is bounded by the limit, not by the value. */
export function shownValue(value: Json): Json {
  return sizeWithin(value, SIZE_MAX) < 0 ? { truncated: true } : value;
}

/** What is left of the budget; negative when the value is larger. */
function sizeWithin(value: Json, budget: number): number {
  if (typeof value === 'string') return budget - value.length - 2;
  if (typeof value !== 'object' || value === null) return budget - 6;
  let rest = budget - 2;
  if (isJsonObject(value)) {
    for (const key in value) {
      if (rest < 0) return rest;
      rest = sizeWithin(value[key] ?? null, rest - key.length - 4);
    }
    return rest;
  }
  for (const item of value) {
    if (rest < 0) return rest;
    rest = sizeWithin(item, rest - 1);
  }
  return rest;
}
