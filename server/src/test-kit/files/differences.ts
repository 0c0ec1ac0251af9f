/** How a value differs from the expected one, path by path. */
import { writeJson } from '../../engine/values/exact-json.js';
import { getField, isJsonObject, type Json } from '../../engine/values/json.js';
import { isList } from './read-members.js';

export interface Difference {
  /** Such as `data.items[0].price`. */
  readonly path: string;
  /** Undefined: there should be nothing. */
  readonly expected: Json | undefined;
  /** Undefined: there is nothing. */
  readonly actual: Json | undefined;
}

/**
 * Objects may have more members than expected, unless `exact`; lists must have the same length.
 */
export function differencesOf(
  expected: Json,
  actual: Json | undefined,
  path: string,
  exact = false,
): readonly Difference[] {
  if (isJsonObject(expected) && isJsonObject(actual)) {
    const missing = Object.entries(expected).flatMap(([name, value]) =>
      differencesOf(value, getField(actual, name), memberPath(path, name), exact),
    );
    if (!exact) return missing;
    const surplus = Object.entries(actual)
      .filter(([name]) => getField(expected, name) === undefined)
      .map(([name, value]) => ({
        path: memberPath(path, name),
        expected: undefined,
        actual: value,
      }));
    return [...missing, ...surplus];
  }
  if (isList(expected) && actual !== undefined && isList(actual)) {
    if (expected.length !== actual.length) return [{ path, expected, actual }];
    return expected.flatMap((item, index) =>
      differencesOf(item, actual[index], `${path}[${index}]`, exact),
    );
  }
  return areEqual(expected, actual) ? [] : [{ path, expected, actual }];
}

function areEqual(expected: Json, actual: Json | undefined): boolean {
  if (actual === undefined) return false;
  // 2 and 2.0 are the same number.
  return expected === actual || writeJson(expected) === writeJson(actual);
}

function memberPath(path: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}
