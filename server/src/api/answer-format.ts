/** Answers in the format that the caller prefers: JSON, unless `Accept` says YAML. */
import type { Request, Response } from 'express';
import { writeJson } from '../engine/exact-json.js';
import { writeYaml } from './yaml-writer.js';

const YAML_MEDIA_TYPES: readonly string[] = ['application/yaml', 'application/x-yaml', 'text/yaml'];
const JSON_MEDIA_TYPE = 'application/json';
/** In the order in which they win when the caller has no preference. */
const MEDIA_TYPES = [JSON_MEDIA_TYPE, 'text/json', ...YAML_MEDIA_TYPES];
/** With the only charset that there is, too: a range with a parameter fits nothing without it. */
const OFFERED = [...MEDIA_TYPES, ...MEDIA_TYPES.map(withCharset)];

/** Takes the place of Express's `response.json`, which tsoa calls with what a controller answers. */
export function sendAnswer(response: Response, value: unknown): Response {
  const type = answerType(response.req);
  const isYaml = YAML_MEDIA_TYPES.includes(type);
  return sendText(
    response,
    withCharset(type),
    isYaml ? writeYaml(value) : writeJson(value as object),
  );
}

/** Sends a body as it is: no entity tag, no guess about its type. */
export function sendText(response: Response, contentType: string, text: string): Response {
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  // Text goes out in one write with the headers; bytes would need a second one.
  return response.end(text);
}

function answerType(request: Request): string {
  const { accept } = request.headers;
  if (accept === undefined || accept === '*/*' || accept === JSON_MEDIA_TYPE) {
    return JSON_MEDIA_TYPE;
  }
  const preferred = request.accepts(OFFERED);
  // Whoever accepts neither still learns more from JSON than from a 406.
  if (preferred === false) return JSON_MEDIA_TYPE;
  return preferred.replace(/;.*/, '');
}

function withCharset(type: string): string {
  return `${type}; charset=utf-8`;
}
