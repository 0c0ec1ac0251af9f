/**
 * Reduces a schema to what the compiler may see: the keywords of draft 2020-12 that validate values, in the places of schemas.
 *
 * The compiler knows more keywords than the draft (`nullable`, `$async`, `id`) and rejects or obeys them. They are unknown
 * keywords to users, so they mean nothing here.
 */
import {
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
} from '../../engine/definitions/schema-positions.js';
import {
  getField,
  isJsonObject,
  setField,
  type Json,
  type JsonObject,
} from '../../engine/values/json.js';

const ONE_SCHEMA: ReadonlySet<string> = new Set(SCHEMA_KEYWORDS);
const SCHEMA_LISTS: ReadonlySet<string> = new Set(SCHEMA_LIST_KEYWORDS);
const SCHEMA_MAPS: ReadonlySet<string> = new Set(SCHEMA_MAP_KEYWORDS);
/** Limits that are counts. A count beyond 2^53 may be approximate: nothing is that long. */
const COUNTS: ReadonlySet<string> = new Set([
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxContains',
  'minContains',
  'maxProperties',
  'minProperties',
]);
const VALUES: ReadonlySet<string> = new Set([
  '$ref',
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  'type',
  'const',
  'enum',
  'multipleOf',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'pattern',
  'uniqueItems',
  'required',
  'dependentRequired',
]);

export function pruneSchema(schema: Json): JsonObject | boolean {
  if (!isJsonObject(schema)) return schema !== false;
  return prune(schema);
}

function prune(schema: JsonObject): JsonObject {
  const pruned: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const kept = keptValue(keyword, value);
    if (kept !== undefined) setField(pruned, keyword, kept);
  }
  return movedPrototypeName(withStaticReferences(pruned));
}

/** A dynamic reference differs from a static one only between documents, and there is one document. */
function withStaticReferences(schema: JsonObject): JsonObject {
  const { $dynamicAnchor: anchor, $dynamicRef: reference, ...others } = schema;
  if (anchor === undefined && reference === undefined) return schema;
  if (anchor !== undefined) others['$anchor'] ??= anchor;
  if (reference === undefined) return others;
  return { ...others, allOf: [...listOf(others['allOf']), { $ref: reference }] };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function keptValue(keyword: string, value: Json): Json | undefined {
  if (VALUES.has(keyword)) return value;
  if (COUNTS.has(keyword)) return Number(value);
  if (ONE_SCHEMA.has(keyword)) return inner(value);
  if (SCHEMA_LISTS.has(keyword)) return Array.isArray(value) ? value.map(inner) : undefined;
  if (!SCHEMA_MAPS.has(keyword) || !isJsonObject(value)) return undefined;
  const map: JsonObject = {};
  for (const [name, schema] of Object.entries(value)) setField(map, name, inner(schema));
  return map;
}

function inner(value: Json): Json {
  return isJsonObject(value) ? prune(value) : value;
}

/** The compiler ignores a property named `__proto__`; a pattern for it means the same. */
function movedPrototypeName(schema: JsonObject): JsonObject {
  const properties = getField(schema, 'properties');
  const name = '__proto__';
  if (properties === undefined || !isJsonObject(properties)) return schema;
  const own = getField(properties, name);
  if (own === undefined) return schema;
  Reflect.deleteProperty(properties, name);
  const patterns = getField(schema, 'patternProperties');
  const others = patterns !== undefined && isJsonObject(patterns) ? patterns : {};
  schema['patternProperties'] = { ...others, '^__proto__$': own };
  return schema;
}
