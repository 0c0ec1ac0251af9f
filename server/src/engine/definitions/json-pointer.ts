import type { Json, JsonObject } from '../values/json.js';

/** The JSON Pointer (RFC 6901) of a member or item of the value at the given pointer. */
export function childPointer(pointer: string, segment: string | number): string {
  const text = String(segment);
  // The usual case, kept fast: a large definition has a pointer for each of its values.
  if (!text.includes('~') && !text.includes('/')) return `${pointer}/${text}`;
  return `${pointer}/${text.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The value at a pointer; undefined if there is none. */
export function valueAt(root: Json, pointer: string): Json | undefined {
  let value: Json | undefined = root;
  for (const segment of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    // List items are own properties of the list.
    value = Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
  }
  return value;
}
