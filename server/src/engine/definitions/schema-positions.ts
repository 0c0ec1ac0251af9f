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
  // From earlier drafts; 2020-12 lets them be understood. The members of `dependencies` may be lists of names.
  'definitions',
  'dependencies',
];

/** Contains a schema, but validates nothing. */
const ANNOTATION = 'contentSchema';

export interface SchemaPosition {
  /** The schema that contains this one; null for the outermost. */
  readonly parent: JsonObject | null;
  readonly schema: JsonObject;
  readonly pointer: string;
}

/** The schema and all schemas inside it, outer ones first. Boolean schemas have no keywords, so they are left out. */
export function* schemaPositions(
  schema: Json,
  pointer = '',
  parent: JsonObject | null = null,
): Generator<SchemaPosition, void> {
  if (!isJsonObject(schema)) return;
  yield { parent, schema, pointer };
  for (const keyword of [...SCHEMA_KEYWORDS, ANNOTATION]) {
    const place = childPointer(pointer, keyword);
    yield* schemaPositions(getField(schema, keyword) ?? null, place, schema);
  }
  for (const keyword of [...SCHEMA_LIST_KEYWORDS, ...SCHEMA_MAP_KEYWORDS]) {
    const inner = getField(schema, keyword) ?? null;
    if (typeof inner !== 'object' || inner === null) continue;
    if (Array.isArray(inner) !== SCHEMA_LIST_KEYWORDS.includes(keyword)) continue;
    const innerPointer = childPointer(pointer, keyword);
    for (const [key, value] of Object.entries<Json>(inner as JsonObject)) {
      yield* schemaPositions(value, childPointer(innerPointer, key), schema);
    }
  }
}
