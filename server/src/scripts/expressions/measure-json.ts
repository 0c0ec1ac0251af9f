/** How large a JSON value is, for values that are not text yet. */
import type { Json } from '../../engine/json.js';

export interface JsonLimits {
  readonly limitBytes: number;
  readonly maxNesting: number;
}

/**
 * Walks until a limit is passed. Parts that are shared are counted each time that they occur, as they would be written:
 * a value that contains one object twice, and so on, grows beyond any limit while it needs hardly any memory.
 *
 * @returns about how many bytes the value has as JSON (one for each UTF-16 unit of texts)
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

function ownBytes(value: Json): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value === 'bigint') return String(value).length;
  if (typeof value !== 'object' || value === null) return 6;
  if (Array.isArray(value)) return 2;
  return Object.keys(value).reduce((sum, key) => sum + key.length + 4, 2);
}
