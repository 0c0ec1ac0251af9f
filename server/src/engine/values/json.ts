/** JSON values: everything that enters or leaves a workflow's data is one of these. */

/** A `bigint` is an integer beyond ±(2^53 - 1), and a `number` of that size is a float: see exact-json.ts. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Sets an own field, whatever its name is. A plain assignment to `__proto__` would change the prototype instead of adding a
 * field, so all keys from users are set here.
 */
export function setField(target: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    target[key] = value;
  }
}

/** Reads an own field. Inherited fields (`constructor`, `toString`) don't exist for users. */
export function getField(source: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(source, key) ? source[key] : undefined;
}
