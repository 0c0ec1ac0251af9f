/**
 * Responses in the format that the caller prefers: JSON, unless `Accept` asks for YAML.
 *
 * Reads of a few kilobytes or more are sent with gzip to callers that accept it. Lengths then depend on the contents, which
 * reveals nothing: browsers do not send tokens on their own, so another site cannot make a user's browser repeat a read.
 *
 * Long responses are written in slices, until the caller disconnects. A response that is too long for YAML, which is meant
 * for people, is sent as JSON; `Content-Type` says so, as it does for callers that accept neither.
 */
import { constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { writeJson } from '../../engine/values/exact-json.js';
import { isLight, writeJsonParts } from '../../engine/values/json-parts.js';
import { inSlices, NotWantedError } from '../../base/slices.js';
import { addressOf, contextOf } from './request-context.js';
import { writeYaml, writeYamlParts } from './yaml-writer.js';

const YAML_MEDIA_TYPES: readonly string[] = ['application/yaml', 'application/x-yaml', 'text/yaml'];
const JSON_MEDIA_TYPE = 'application/json';
/** In order of precedence if the caller has no preference. */
const MEDIA_TYPES = [JSON_MEDIA_TYPE, 'text/json', ...YAML_MEDIA_TYPES];
/** Also with the only supported charset: a media range with a parameter matches nothing without it. */
const OFFERED = [...MEDIA_TYPES, ...MEDIA_TYPES.map(withCharset)];

/** In characters: below it, compressing takes longer than sending. */
const GZIP_LENGTH_MIN = 2048;
/** JSON repeats its names, so even the fastest level makes it many times shorter. */
const GZIP_LEVEL = { level: constants.Z_BEST_SPEED };

/** In characters: JSON of this length that is deeply nested can become twenty times as long. */
export const YAML_LENGTH_MAX = 8 * 1024 * 1024;

/**
 * Replaces Express's `response.json`, which tsoa calls with the result of a controller.
 * @throws AppError `authorization_ended` if the caller has lost its right since it made the call
 */
export function sendAnswer(response: Response, value: unknown): Response {
  const { admission } = contextOf(response.req);
  const confirmed = admission?.confirm() ?? null;
  if (confirmed === null) return sendValue(response, value);
  confirmed
    .catch((error: unknown) => {
      admission?.abandon();
      throw error;
    })
    .then(() => sendValue(response, value))
    .catch((error: unknown) => response.req.next?.(error));
  return response;
}

function sendValue(response: Response, value: unknown): Response {
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

/** @throws AppError if there is no memory for the response, and the caller can repeat the request */
function sendCounted(response: Response, type: string, text: string): Response {
  if (response.headersSent) return response;
  const { memory } = contextOf(response.req).services;
  const isRead = onlyReads(response.req);
  memory.answer(addressOf(response.req), response, text.length, isRead);
  if (!isRead || text.length < GZIP_LENGTH_MIN) return sendText(response, withCharset(type), text);
  response.vary('Accept-Encoding');
  if (!acceptsGzip(response.req)) return sendText(response, withCharset(type), text);
  sendCompressed(response, withCharset(type), text);
  return response;
}

/** Whether the caller accepts gzip; with no header, it accepts anything, but may not expect it. */
function acceptsGzip(request: Request): boolean {
  const { 'accept-encoding': accepted } = request.headers;
  return accepted !== undefined && request.acceptsEncodings('gzip') === 'gzip';
}

/** Compresses on another thread. */
function sendCompressed(response: Response, contentType: string, text: string): void {
  gzip(text, GZIP_LEVEL, (error, bytes) => {
    // It may have been answered meanwhile, because the right of its caller has ended.
    if (response.closed || response.headersSent) return;
    if (error !== null) {
      sendText(response, contentType, text);
      return;
    }
    response.setHeader('Content-Type', contentType);
    response.setHeader('Content-Encoding', 'gzip');
    response.setHeader('Content-Length', bytes.length);
    response.end(bytes);
  });
}

/** A worker must get the work item that it has claimed; otherwise, the item would be stuck until its lease ends. */
function onlyReads({ method, originalUrl }: Request): boolean {
  return method === 'GET' && !originalUrl.startsWith('/api/activity/');
}

async function sendInSlices(response: Response, type: string, value: unknown): Promise<void> {
  const isWanted = (): boolean => !response.closed && !response.headersSent;
  const isYaml = YAML_MEDIA_TYPES.includes(type);
  const yaml = isYaml ? await inSlices(writeYamlParts(value, YAML_LENGTH_MAX), isWanted) : null;
  if (yaml !== null) {
    sendCounted(response, type, yaml);
    return;
  }
  const json = await inSlices(writeJsonParts(value), isWanted);
  sendCounted(response, isYaml ? JSON_MEDIA_TYPE : type, json);
}

/** Sends a body unchanged: without an entity tag, without guessing its type. */
export function sendText(response: Response, contentType: string, text: string): Response {
  if (response.headersSent) return response;
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  // Text is sent in one write with the headers; bytes would need a second one.
  return response.end(text);
}

function answerType(request: Request): string {
  const { accept } = request.headers;
  if (accept === undefined || accept === '*/*' || accept === JSON_MEDIA_TYPE) {
    return JSON_MEDIA_TYPE;
  }
  const preferred = request.accepts(OFFERED);
  // For callers that accept neither, JSON is more useful than a 406.
  if (preferred === false) return JSON_MEDIA_TYPE;
  return preferred.replace(/;.*/, '');
}

function withCharset(type: string): string {
  return `${type}; charset=utf-8`;
}
