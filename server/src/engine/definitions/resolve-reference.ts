/** Resolves references within a schema: `#`, `#/$defs/address`, `#anchor`. */
import { valueAt } from './json-pointer.js';
import { schemaPositions } from './schema-positions.js';
import { getField, isJsonObject, type Json, type JsonObject } from '../values/json.js';

const anchors = new WeakMap<object, ReadonlyMap<string, JsonObject>>();

/** Null if there is no such part. */
export function resolveReference(root: Json, reference: Json): Json {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return null;
  const fragment = decoded(reference.slice(1));
  if (fragment === '') return root;
  if (!fragment.startsWith('/'))
    return isJsonObject(root) ? (anchorsOf(root).get(fragment) ?? null) : null;
  return valueAt(root, fragment) ?? null;
}

function anchorsOf(root: JsonObject): ReadonlyMap<string, JsonObject> {
  const known = anchors.get(root);
  if (known !== undefined) return known;
  const byName = new Map<string, JsonObject>();
  for (const { schema } of schemaPositions(root)) {
    const names = [getField(schema, '$anchor'), getField(schema, '$dynamicAnchor')];
    for (const name of names) {
      if (typeof name === 'string' && !byName.has(name)) byName.set(name, schema);
    }
  }
  anchors.set(root, byName);
  return byName;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
