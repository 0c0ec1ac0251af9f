import { isJsonObject, setField, type Json, type JsonObject } from './json.js';

/** Applies a JSON Merge Patch (RFC 7396): null removes a field, an object is merged, anything else replaces. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonObject = {};
  for (const [key, value] of Object.entries(target)) {
    if (!Object.hasOwn(patch, key)) setField(merged, key, value);
  }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) continue;
    setField(merged, key, patched(Object.hasOwn(target, key) ? target[key] : undefined, value));
  }
  return merged;
}

function patched(before: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  return mergePatch(isJsonObject(before) ? before : {}, patch);
}
