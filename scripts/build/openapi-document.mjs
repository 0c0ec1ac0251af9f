/**
 * Completes the document that tsoa generates:
 *
 * - OpenAPI 3.1 instead of 3.0: `null` is a type, a `$ref` may have a description, bearer tokens may name their scopes.
 * - Request bodies: controllers take free-form bodies as `unknown` and name the schema in `x-request-schema`; every body
 *   can also be YAML, except scripts.
 * - Responses can also be YAML; errors are `application/problem+json`.
 * - YAML examples are generated from JSON examples.
 * - For client generators: the license identifier, no named schemas for plain strings or numbers, no unused schemas, and no
 *   unions that some languages can't express (`forGenerators`).
 * - The order is fixed, so that the same controllers produce the same text on every machine.
 *
 * Called by: generate.mjs.
 */
import { stringify } from 'yaml';

const YAML = 'application/yaml';
const JSON_TYPE = 'application/json';
const PROBLEM_TYPE = 'application/problem+json';
/**
 * Replacements for named schemas of plain strings or numbers, which some generators turn into an undefined type. tsoa doesn't
 * support formats for named types.
 */
const PLAIN_SCHEMAS = {
  Time: { type: 'string', format: 'date-time' },
  WholeNumber: { type: 'integer', format: 'int32' },
};
const PROBLEM = { $ref: '#/components/schemas/Problem' };

export function finishDocument(generated) {
  const document = withoutPlainNames(generated);
  const schemas = mapValues(sortKeys(document.components.schemas), finishSchema);
  const finish = (operation) => finishOperation(operation, schemas);
  const paths = mapValues(sortKeys(document.paths), (path) => mapValues(path, finish));
  const { license, ...info } = withoutEmpty(document.info);
  return {
    openapi: '3.1.1',
    // The name is an SPDX identifier.
    info: { ...info, license: { ...license, identifier: license.name } },
    servers: document.servers,
    tags: document.tags,
    paths,
    components: {
      schemas: usedSchemas(paths, schemas),
      securitySchemes: document.components.securitySchemes,
    },
  };
}

function withoutPlainNames(value) {
  if (Array.isArray(value)) return value.map(withoutPlainNames);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, allOf, ...rest } = value;
  // tsoa writes a reference that has a description or may be null as the only element of `allOf`.
  const [{ $ref: only } = {}, ...others] = allOf ?? [];
  const plain = PLAIN_SCHEMAS[nameIn($ref ?? (others.length === 0 ? only : undefined))];
  return plain === undefined ? mapValues(value, withoutPlainNames) : { ...plain, ...rest };
}

/**
 * The document as the server publishes it. In some languages, a union of a list or object with another type produces a client
 * that doesn't compile. So a string or list of strings becomes the list, and any other union becomes any value.
 */
export function forGenerators(value) {
  if (Array.isArray(value)) return value.map(forGenerators);
  if (typeof value !== 'object' || value === null) return value;
  const { anyOf = [], ...rest } = value;
  const choices = anyOf.filter(({ type }) => type !== 'null');
  const isCompound = ({ type }) => type === 'array' || type === 'object';
  if (choices.length < 2 || !choices.some(isCompound)) return mapValues(value, forGenerators);
  const [list, ...lists] = choices.filter(({ type }) => type === 'array');
  const isShortForm = choices.every(({ type }) => type === 'array' || type === 'string');
  const whole = isShortForm && lists.length === 0 ? list : {};
  return mapValues({ ...whole, ...rest }, forGenerators);
}

/** The schemas that operations refer to, directly or indirectly. */
function usedSchemas(paths, schemas) {
  const used = new Set();
  const visit = (value) => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(paths);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

function finishOperation(operation, schemas) {
  const {
    'x-request-schema': bodySchema,
    'x-request-optional': isBodyOptional = false,
    'x-yaml-schema': yamlSchema,
    requestBody,
    description,
    parameters,
    responses,
    ...rest
  } = operation;
  return {
    ...rest,
    description: oneLine(description),
    parameters: parameters.map(finishSchema).map(withNameLimits),
    ...(requestBody && {
      requestBody:
        bodySchema === undefined
          ? scriptBody(requestBody)
          : dataBody(bodySchema, { required: !isBodyOptional, schemas }),
    }),
    responses: withYamlSchema(yamlSchema, finishResponses(operation, schemas)),
  };
}

/** Characters that the server rejects in names: see `server/src/engine/values/names.ts`. */
function withNameLimits(parameter) {
  const { in: place, name, schema } = parameter;
  if (place !== 'path' || name === 'token' || schema.type !== 'string') return parameter;
  const maxLength = name === 'key' ? 512 : 200;
  const pattern = '^[^\\u0000-\\u001f\\u007f-\\u009f]+$';
  return { ...parameter, schema: { ...schema, minLength: 1, maxLength, pattern } };
}

/** The operation has another schema for YAML than for JSON. */
function withYamlSchema(schema, responses) {
  if (schema === undefined) return responses;
  return mapValues(responses, (response) =>
    response.content?.[YAML] === undefined
      ? response
      : {
          ...response,
          content: { ...response.content, [YAML]: { ...response.content[YAML], schema } },
        },
  );
}

/** A body of any form gets the most helpful example: an object. */
function dataBody(schemaName, { required, schemas }) {
  const schema = schemas[schemaName];
  if (schema === undefined)
    throw new Error(`x-request-schema names ${schemaName}, which is unknown`);
  const example = exampleOf(schema, schemas) ?? exampleOf(schemas.DataObject, schemas);
  const media = { schema: { $ref: `#/components/schemas/${schemaName}` } };
  return { required, content: inBothFormats(media, example) };
}

function scriptBody({ required, content }) {
  return { required, content: { 'text/x-python': content[JSON_TYPE] } };
}

function finishResponses(operation, schemas) {
  const isSecured = operation.security?.length > 0;
  const errors = {
    ...(isSecured && {
      401: problemResponse('The token is missing or invalid'),
      403: problemResponse('The token lacks the scope'),
    }),
    default: problemResponse('Any other error, such as 429 or 503 with `Retry-After`, or 500'),
  };
  return mapValues({ ...operation.responses, ...errors }, (response) =>
    response.content === undefined
      ? response
      : { ...response, content: finishContent(response.content, schemas) },
  );
}

function problemResponse(description) {
  return { description, content: { [JSON_TYPE]: { schema: PROBLEM } } };
}

function finishContent(content, schemas) {
  const media = content[JSON_TYPE];
  if (media === undefined) return content;
  if (media.schema.$ref === PROBLEM.$ref) return { [PROBLEM_TYPE]: { schema: PROBLEM } };
  const schema = finishSchema(media.schema);
  return inBothFormats({ schema }, exampleOf(schemas[nameIn(schema.$ref)], schemas));
}

function inBothFormats(media, example) {
  if (example === undefined) return { [JSON_TYPE]: media, [YAML]: media };
  return { [JSON_TYPE]: { ...media, example }, [YAML]: { ...media, example: stringify(example) } };
}

/** The example of a page contains the example of its items. */
function exampleOf(schema, schemas) {
  const item = schema?.properties?.items?.items?.$ref;
  if (item === undefined || schema.examples !== undefined) return schema?.examples?.[0];
  const example = exampleOf(schemas[nameIn(item)], schemas);
  return example && { items: [example], nextCursor: null };
}

function nameIn(reference) {
  return /[^/]+$/.exec(reference ?? '')?.[0];
}

/** Converts from OpenAPI 3.0 to JSON Schema 2020-12, which 3.1 uses. */
function finishSchema(value) {
  if (Array.isArray(value)) return value.map(finishSchema);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, example, description, additionalProperties, properties, ...rest } = value;
  const result = mapValues(rest, finishSchema);
  if (description !== undefined) result.description = oneLine(description);
  // Members named `example` or `description` are properties, not keywords.
  if (properties !== undefined && Object.keys(properties).length > 0) {
    result.properties = mapValues(properties, finishSchema);
  }
  // tsoa writes `true` for every object; an index signature becomes a schema.
  if (additionalProperties !== undefined && additionalProperties !== true) {
    result.additionalProperties = finishSchema(additionalProperties);
  }
  if (example !== undefined) result.examples = [example];
  return nullable === true ? orNull(result) : result;
}

function orNull({ type, anyOf, allOf, ...rest }) {
  const none = { type: 'null' };
  if (anyOf !== undefined) return { ...rest, anyOf: [...anyOf, none] };
  if (allOf !== undefined) return { ...rest, anyOf: [...allOf, none] };
  return { ...rest, type: [type, 'null'], ...(rest.enum && { enum: [...rest.enum, null] }) };
}

/** A single line break in a comment has no meaning; an empty line starts a paragraph. */
function oneLine(text) {
  return text?.replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

function sortKeys(object) {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function withoutEmpty(object) {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => Object.keys(value).length > 0),
  );
}
