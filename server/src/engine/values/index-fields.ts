/**
 * Index fields: the values in an instance's data that users can search by. The definition lists their names and paths.
 *
 * Text, numbers and booleans can be indexed; a list is indexed by each of its elements that can be. Anything else is omitted.
 */
import { isLonger, type Tags } from './tags.js';
import { jsonLength } from './json-length.js';
import { getField, isJsonObject, setField, type Json, type JsonObject } from './json.js';

/** A `bigint` is an integer beyond ±(2^53 - 1). */
export type IndexValue = string | number | bigint | boolean;

export type IndexFields = Readonly<Record<string, IndexValue | readonly IndexValue[]>>;

/** By name: the path from the data to the value. */
export type IndexPaths = ReadonlyMap<string, readonly string[]>;

export const NO_TAGS: Tags = Object.freeze({});
export const NO_INDEX: IndexFields = Object.freeze({});

/** In characters (code points). Longer text is not indexed. */
export const INDEX_TEXT_LENGTH_MAX = 256;
/** Further elements of a list are not indexed. */
export const INDEX_ELEMENTS_MAX = 1000;
/** Maximum size of all lists of an instance as JSON, in bytes, so that a page of instances stays small. */
export const INDEX_LISTS_LENGTH_MAX = 8 * 1024;

export function indexFieldsOf(data: JsonObject, paths: IndexPaths): IndexFields {
  if (paths.size === 0) return NO_INDEX;
  const fields: JsonObject = {};
  let listLength = 0;
  for (const [name, path] of paths) {
    const value = valueAt(data, path);
    if (Array.isArray(value)) {
      const elements = indexedElements(value, INDEX_LISTS_LENGTH_MAX - listLength);
      if (elements.length === 0) continue;
      listLength += jsonLength(elements);
      setField(fields, name, elements);
    } else if (isIndexable(value)) {
      setField(fields, name, value);
    }
  }
  // Only values that can be indexed were set.
  return fields as IndexFields;
}

/** The values of this field that an instance is indexed by. */
export function elementsOf(value: IndexValue | readonly IndexValue[]): readonly IndexValue[] {
  // Array.isArray does not narrow readonly arrays.
  return typeof value === 'object' ? value : [value];
}

export function areSameFields(left: IndexFields, right: IndexFields): boolean {
  if (left === right) return true;
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => {
    const [mine, other] = [left[name], Object.hasOwn(right, name) ? right[name] : undefined];
    if (mine === undefined || other === undefined) return false;
    if (typeof mine !== 'object' || typeof other !== 'object') return mine === other;
    return mine.length === other.length && mine.every((element, at) => element === other[at]);
  });
}

function valueAt(data: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = data;
  for (const name of path) {
    if (!isJsonObject(value)) return undefined;
    value = getField(value, name);
  }
  return value;
}

function indexedElements(list: readonly Json[], lengthMax: number): IndexValue[] {
  const elements: IndexValue[] = [];
  // The two brackets, one of which makes up for the comma that the first element doesn't have.
  let length = 1;
  for (const element of list) {
    if (!isIndexable(element)) continue;
    length += jsonLength(element) + 1;
    if (length > lengthMax || elements.length === INDEX_ELEMENTS_MAX) break;
    elements.push(element);
  }
  return elements;
}

function isIndexable(value: Json | undefined): value is IndexValue {
  if (typeof value === 'string') return !isLonger(value, INDEX_TEXT_LENGTH_MAX);
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';
}
