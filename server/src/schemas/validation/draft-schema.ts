/**
 * The schema of schemas: what the keywords of draft 2020-12 can have as values.
 *
 * In place of the draft's own, which is spread over eight documents: problems name a choice instead of alternatives.
 */
import type { JsonObject } from '../../engine/values/json.js';
import { CompiledSchema } from './compiled-schema.js';

const SCHEMA: JsonObject = { $ref: '#' };
const SCHEMAS: JsonObject = { type: 'array', minItems: 1, items: SCHEMA };
const SCHEMAS_BY_NAME: JsonObject = { type: 'object', additionalProperties: SCHEMA };
const COUNT: JsonObject = { type: 'integer', minimum: 0 };
const NUMBER: JsonObject = { type: 'number' };
const TEXT: JsonObject = { type: 'string' };
const FLAG: JsonObject = { type: 'boolean' };
const TEXTS: JsonObject = { type: 'array', items: TEXT, uniqueItems: true };
const TYPE: JsonObject = {
  enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'],
};
const ANCHOR: JsonObject = { type: 'string', pattern: '^[A-Za-z_][-A-Za-z0-9._]*$' };

const DRAFT: JsonObject = {
  type: ['object', 'boolean'],
  properties: {
    $id: { type: 'string', pattern: '^[^#]*#?$' },
    $schema: TEXT,
    $ref: TEXT,
    $anchor: ANCHOR,
    $dynamicRef: TEXT,
    $dynamicAnchor: ANCHOR,
    $vocabulary: { type: 'object', additionalProperties: FLAG },
    $comment: TEXT,
    $defs: SCHEMAS_BY_NAME,
    definitions: SCHEMAS_BY_NAME,
    type: {
      if: { type: 'array' },
      then: { items: TYPE, minItems: 1, uniqueItems: true },
      else: TYPE,
    },
    enum: { type: 'array' },
    multipleOf: { type: 'number', exclusiveMinimum: 0 },
    maximum: NUMBER,
    exclusiveMaximum: NUMBER,
    minimum: NUMBER,
    exclusiveMinimum: NUMBER,
    maxLength: COUNT,
    minLength: COUNT,
    pattern: TEXT,
    maxItems: COUNT,
    minItems: COUNT,
    uniqueItems: FLAG,
    maxContains: COUNT,
    minContains: COUNT,
    maxProperties: COUNT,
    minProperties: COUNT,
    required: TEXTS,
    dependencies: {
      type: 'object',
      additionalProperties: { if: { type: 'array' }, then: TEXTS, else: SCHEMA },
    },
    dependentRequired: { type: 'object', additionalProperties: TEXTS },
    prefixItems: SCHEMAS,
    items: SCHEMA,
    contains: SCHEMA,
    additionalProperties: SCHEMA,
    properties: SCHEMAS_BY_NAME,
    patternProperties: SCHEMAS_BY_NAME,
    dependentSchemas: SCHEMAS_BY_NAME,
    propertyNames: SCHEMA,
    if: SCHEMA,
    then: SCHEMA,
    else: SCHEMA,
    allOf: SCHEMAS,
    anyOf: SCHEMAS,
    oneOf: SCHEMAS,
    not: SCHEMA,
    unevaluatedItems: SCHEMA,
    unevaluatedProperties: SCHEMA,
    title: TEXT,
    description: TEXT,
    deprecated: FLAG,
    readOnly: FLAG,
    writeOnly: FLAG,
    examples: { type: 'array' },
    format: TEXT,
    contentEncoding: TEXT,
    contentMediaType: TEXT,
    contentSchema: SCHEMA,
  },
};

let compiled: CompiledSchema | null = null;

export function draftSchema(): CompiledSchema {
  compiled ??= new CompiledSchema(DRAFT);
  return compiled;
}
