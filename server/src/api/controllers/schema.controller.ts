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
   * Returns the JSON Schema (2020-12) of definitions in JSON and YAML, with which editors can complete and check them.
   * No token is required. The server may reject a definition that the schema accepts: a schema cannot check unique ids,
   * the targets of steps, or expressions.
   *
   * @summary Get the schema of definitions
   */
  @Get('definition.json')
  @Produces('application/schema+json')
  @Response(304, 'Not modified: If-None-Match names the current schema')
  async getDefinitionSchema(@Request() request: HttpRequest): Promise<DataObject> {
    const response = responseOf(request);
    response.setHeader('ETag', ENTITY_TAG);
    // The schema contains no user data. Editors may cache it, and must revalidate it.
    response.setHeader('Cache-Control', 'no-cache');
    if (hasIt(request)) response.status(304).end();
    else sendText(response, `${MEDIA_TYPE}; charset=utf-8`, DEFINITION_SCHEMA);
    return {};
  }
}

/** Whether If-None-Match contains the tag; a proxy may have marked it as weak. */
function hasIt(request: HttpRequest): boolean {
  const tags = request.headers['if-none-match']?.split(',') ?? [];
  return tags.some((tag) => ['*', ENTITY_TAG, `W/${ENTITY_TAG}`].includes(tag.trim()));
}
