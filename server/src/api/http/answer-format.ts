/**
 * Answers in the format that the caller prefers: JSON, unless `Accept` says YAML.
 *
 * Long answers are written in slices, and no longer than the caller is there. What is too long for YAML, which is made for
 * people, is answered in JSON; `Content-Type` says so, as it does for callers that accept neither.
 */
import type { Request, Response } from 'express';
import { writeJson } from '../../engine/values/exact-json.js';
import { isLight, writeJsonParts } from '../../engine/values/json-parts.js';
import { inSlices, NotWantedError } from '../../base/slices.js';
import { addressOf, contextOf } from './request-context.js';
import { writeYaml, writeYamlParts } from './yaml-writer.js';

const YAML_MEDIA_TYPES: readonly string[] = ['application/yaml', 'application/x-yaml', 'text/yaml'];
const JSON_MEDIA_TYPE = 'application/json';
/** In the order in which they win when the caller has no preference. */
const MEDIA_TYPES = [JSON_MEDIA_TYPE, 'text/json', ...YAML_MEDIA_TYPES];
/** With the only charset that there is, too: a range with a parameter fits nothing without it. */
const OFFERED = [...MEDIA_TYPES, ...MEDIA_TYPES.map(withCharset)];

/** In characters: twenty times as many can come from a JSON of this length that is nested deeply. */
export const YAML_LENGTH_MAX = 8 * 1024 * 1024;

/** Takes the place of Express's `response.json`, which tsoa calls with what a controller answers. */
export function sendAnswer(response: Response, value: unknown): Response {
  const type = answerType(response.req);
  const isYaml = YAML_MEDIA_TYPES.includes(type);
  if (!isLight(value)) {
    sendInSlices(response, type, value).catch((error: unknown) => {
      if (!(error instanceof NotWantedError)) response.req.next?.(error);
    });
    return response;
  }
  return sendCounted(response, type, isYaml ? writeYaml(value) : writeJson(value as object));
}

/** @throws AppError when there is no memory for it, and the caller can ask again */
function sendCounted(response: Response, type: string, text: string): Response {
  const { memory } = contextOf(response.req).services;
  memory.answer(addressOf(response.req), response, text.length, onlyReads(response.req));
  return sendText(response, withCharset(type), text);
}

/** Whoever takes work gets it, or nobody would do it until its lease ends. */
function onlyReads({ method, originalUrl }: Request): boolean {
  return method === 'GET' && !originalUrl.startsWith('/api/activity/');
}

async function sendInSlices(response: Response, type: string, value: unknown): Promise<void> {
  const isWanted = (): boolean => !response.closed;
  const isYaml = YAML_MEDIA_TYPES.includes(type);
  const yaml = isYaml ? await inSlices(writeYamlParts(value, YAML_LENGTH_MAX), isWanted) : null;
  if (yaml !== null) {
    sendCounted(response, type, yaml);
    return;
  }
  const json = await inSlices(writeJsonParts(value), isWanted);
  sendCounted(response, isYaml ? JSON_MEDIA_TYPE : type, json);
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
