/**
 * The part of the variables that some expressions can read. Only this part travels to an interpreter: one field of a
 * megabyte of data costs no more than one field of nothing.
 */
import { getField, isJsonObject, setField, type JsonObject } from '../../engine/values/json.js';
import type { VariablePath } from './classify-expression.js';

/**
 * @returns an object with the same values at the paths; what is missing in `variables` is missing in it as well, so
 * that Python words the error
 */
export function projectVariables(
  variables: JsonObject,
  paths: readonly VariablePath[],
): JsonObject {
  const projected: JsonObject = {};
  for (const { variable, keys } of paths) copyPath(variables, projected, [variable, ...keys]);
  return projected;
}

function copyPath(source: JsonObject, target: JsonObject, keys: readonly string[]): void {
  let [from, to] = [source, target];
  for (const [index, key] of keys.entries()) {
    const value = getField(from, key);
    const copied = getField(to, key);
    // Missing, or taken as a whole already: the copies that are made below are other objects.
    if (value === undefined || value === copied) return;
    if (index === keys.length - 1 || !isJsonObject(value)) {
      setField(to, key, value);
      return;
    }
    const next = isJsonObject(copied) ? copied : {};
    if (next !== copied) setField(to, key, next);
    [from, to] = [value, next];
  }
}
