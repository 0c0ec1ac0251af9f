import { createHash } from 'node:crypto';
import { Controller, Get, Produces, Request, Response, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { definitionJsonSchema } from '../../engine/definitions/definition-json-schema.js';
import { sendText } from '../http/answer-format.js';
import type { DataObject } from '../wire/models/json-value.js';
import { responseOf } from '../http/request-context.js';

const MEDIA_TYPE = 'application/schema+json';
const DEFINITION_SCHEMA = JSON.stringify(definitionJsonSchema(), null, 2);
const ENTITY_TAG = `"${createHash('sha256').update(DEFINITION_SCHEMA).digest('base64url')}"`;

@Route('schemas')
@Tags('Definitions')
export class SchemaController extends Controller {
  /**
   * The JSON Schema (2020-12) of definitions, in JSON and YAML alike, for editors that complete and check them. It needs
   * no token. What it accepts may still be refused: unique ids, targets and expressions are beyond a schema.
   *
   * @summary Get the schema of definitions
   */
  @Get('definition.json')
  @Produces('application/schema+json')
  @Response(304, 'Not modified: the schema is the one that If-None-Match names')
  async getDefinitionSchema(@Request() request: HttpRequest): Promise<DataObject> {
    const response = responseOf(request);
    response.setHeader('ETag', ENTITY_TAG);
    // It says nothing of anybody's data; editors keep it, and ask whether there is another one.
    response.setHeader('Cache-Control', 'no-cache');
    if (hasIt(request)) response.status(304).end();
    else sendText(response, `${MEDIA_TYPE}; charset=utf-8`, DEFINITION_SCHEMA);
    return {};
  }
}

/** Whether the caller names the tag among those it has; a proxy may have marked it as weak. */
function hasIt(request: HttpRequest): boolean {
  const tags = request.headers['if-none-match']?.split(',') ?? [];
  return tags.some((tag) => ['*', ENTITY_TAG, `W/${ENTITY_TAG}`].includes(tag.trim()));
}
