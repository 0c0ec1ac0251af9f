import { createHash } from 'node:crypto';
import { Controller, Get, Produces, Request, Response, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { definitionJsonSchema } from '../../engine/definitions/definition-json-schema.js';
import { limitJsonSchema } from '../../engine/definitions/limit-json-schema.js';
import { testFileJsonSchema } from '../../test-kit/files/json-schema.js';
import type { JsonObject } from '../../engine/values/json.js';
import { sendText } from '../http/answer-format.js';
import type { DataObject } from '../wire/models/json-value.js';
import { responseOf } from '../http/request-context.js';

const MEDIA_TYPE = 'application/schema+json';
const DEFINITIONS = entityOf(definitionJsonSchema());
const LIMITS = entityOf(limitJsonSchema());
const TEST_FILES = entityOf(testFileJsonSchema());

@Route('schemas')
@Tags('Definitions')
export class SchemaController extends Controller {
  /**
   * Returns the JSON Schema (2020-12) for definitions in JSON and YAML, which editors can use for completion and validation. No
   * token is required. The server may reject a definition that the schema accepts: a schema cannot check unique ids, the targets
   * of steps, or expressions.
   *
   * @summary Get the definition schema
   */
  @Get('definition.json')
  @Produces('application/schema+json')
  @Response(304, 'Not modified: If-None-Match names the current schema')
  async getDefinitionSchema(@Request() request: HttpRequest): Promise<DataObject> {
    return send(request, DEFINITIONS);
  }

  /**
   * Returns the JSON Schema (2020-12) for files that hold a limit (`*.limit.yaml`), which editors can use for completion and
   * validation. No token is required.
   *
   * @summary Get the limit file schema
   */
  @Get('limit.json')
  @Produces('application/schema+json')
  @Response(304, 'Not modified: If-None-Match names the current schema')
  async getLimitSchema(@Request() request: HttpRequest): Promise<DataObject> {
    return send(request, LIMITS);
  }

  /**
   * Returns the JSON Schema (2020-12) for test files (`*.test.yaml`), which editors can use for completion and validation. No
   * token is required.
   *
   * @summary Get the test file schema
   */
  @Get('test-file.json')
  @Produces('application/schema+json')
  @Response(304, 'Not modified: If-None-Match names the current schema')
  async getTestFileSchema(@Request() request: HttpRequest): Promise<DataObject> {
    return send(request, TEST_FILES);
  }
}

interface Entity {
  readonly text: string;
  readonly tag: string;
}

function entityOf(schema: JsonObject): Entity {
  const text = JSON.stringify(schema, null, 2);
  return { text, tag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}

function send(request: HttpRequest, { tag, text }: Entity): DataObject {
  const response = responseOf(request);
  response.setHeader('ETag', tag);
  // The schema contains no user data. Editors may cache it but must revalidate it.
  response.setHeader('Cache-Control', 'no-cache');
  if (hasIt(request, tag)) response.status(304).end();
  else sendText(response, `${MEDIA_TYPE}; charset=utf-8`, text);
  return {};
}

/** Whether If-None-Match contains the tag, which a proxy may have marked as weak. */
function hasIt(request: HttpRequest, tag: string): boolean {
  const tags = request.headers['if-none-match']?.split(',') ?? [];
  return tags.some((each) => ['*', tag, `W/${tag}`].includes(each.trim()));
}
