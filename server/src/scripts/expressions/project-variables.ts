/**
 * The part of the variables that certain expressions can read. Only this part is sent to an interpreter, so reading one
 * field costs the same whether the data is large or small.
 */
import { getField, isJsonObject, setField, type JsonObject } from '../../engine/values/json.js';
import type { VariablePath } from './classify-expression.js';

/**
 * @returns an object with the same values at the paths; values that are missing in `variables` are also missing here,
 * so that Python words the error
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
    // Missing, or already copied as a whole: the copies made below are different objects.
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
