/**
 * The part of the variables that some expressions can read. Only this part travels to an interpreter: one field of a
 * megabyte of data costs no more than one field of nothing.
 */
import { getField, isJsonObject, setField, type Json, type JsonObject } from '../../engine/json.js';
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
  // Objects that were taken as they are; below them there is nothing to add.
  const whole = new Set<Json>();
  for (const { variable, keys } of paths)
    copyPath(variables, projected, { keys: [variable, ...keys], whole });
  return projected;
}

function copyPath(
  source: JsonObject,
  target: JsonObject,
  { keys, whole }: { keys: readonly string[]; whole: Set<Json> },
): void {
  let [from, to] = [source, target];
  for (const [index, key] of keys.entries()) {
    const value = getField(from, key);
    if (value === undefined || whole.has(value)) return;
    if (index === keys.length - 1 || !isJsonObject(value)) {
      setField(to, key, value);
      if (isJsonObject(value)) whole.add(value);
      return;
    }
    let next = getField(to, key);
    if (!isJsonObject(next)) {
      next = {};
      setField(to, key, next);
    }
    [from, to] = [value, next];
  }
}
