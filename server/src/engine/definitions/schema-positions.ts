/** Where a JSON Schema (draft 2020-12) contains further schemas. In other places, such as `const`, `$ref` is only data. */
import { getField, isJsonObject, type Json, type JsonObject } from '../values/json.js';
import { childPointer } from './json-pointer.js';

/** Keywords that validate values and whose value is a schema … */
export const SCHEMA_KEYWORDS: readonly string[] = [
  'additionalProperties',
  'items',
  'contains',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'if',
  'then',
  'else',
  'not',
];
/** … a list of schemas … */
export const SCHEMA_LIST_KEYWORDS: readonly string[] = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
/** … or schemas by name. */
export const SCHEMA_MAP_KEYWORDS: readonly string[] = [
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
];

/** Contains a schema, but validates nothing. */
const ANNOTATION = 'contentSchema';

export interface SchemaPosition {
  readonly schema: JsonObject;
  readonly pointer: string;
}

/** The schema and all schemas inside it, outer ones first. Boolean schemas have no keywords, so they are left out. */
export function* schemaPositions(schema: Json, pointer = ''): Generator<SchemaPosition, void> {
  if (!isJsonObject(schema)) return;
  yield { schema, pointer };
  for (const keyword of [...SCHEMA_KEYWORDS, ANNOTATION]) {
    yield* schemaPositions(getField(schema, keyword) ?? null, childPointer(pointer, keyword));
  }
  for (const keyword of [...SCHEMA_LIST_KEYWORDS, ...SCHEMA_MAP_KEYWORDS]) {
    const inner = getField(schema, keyword) ?? null;
    if (typeof inner !== 'object' || inner === null) continue;
    if (Array.isArray(inner) !== SCHEMA_LIST_KEYWORDS.includes(keyword)) continue;
    const innerPointer = childPointer(pointer, keyword);
    for (const [key, value] of Object.entries<Json>(inner as JsonObject)) {
      yield* schemaPositions(value, childPointer(innerPointer, key));
    }
  }
}
