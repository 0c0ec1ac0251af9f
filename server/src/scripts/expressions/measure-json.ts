/** How large a JSON value is, for values that are not text yet. */
import { scalarLength, textLength } from '../../engine/values/json-length.js';
import type { Json } from '../../engine/values/json.js';

export interface JsonLimits {
  readonly limitBytes: number;
  readonly maxNesting: number;
}

/**
 * Walks until a limit is passed. Parts that are shared are counted each time that they occur, as they would be written:
 * a value that contains one object twice, and so on, grows beyond any limit while it needs hardly any memory.
 *
 * @returns how many bytes the value has as JSON in UTF-8
 */
export function measureJson(value: Json, limits: JsonLimits): number | 'too large' | 'too deep' {
  let bytes = 0;
  const open: { value: Json; depth: number }[] = [{ value, depth: 0 }];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    bytes += ownBytes(item.value);
    if (bytes > limits.limitBytes) return 'too large';
    if (typeof item.value !== 'object' || item.value === null) continue;
    const depth = item.depth + 1;
    if (depth > limits.maxNesting) return 'too deep';
    for (const child of Object.values(item.value)) open.push({ value: child, depth });
  }
  return bytes;
}

/** Without its parts, but with the commas between them. */
function ownBytes(value: Json): number {
  if (typeof value === 'string') return textLength(value);
  if (typeof value !== 'object' || value === null) return scalarLength(value);
  if (Array.isArray(value)) return Math.max(2, value.length + 1);
  const keys = Object.keys(value);
  return keys.reduce((sum, key) => sum + textLength(key) + 2, keys.length === 0 ? 2 : 1);
}
