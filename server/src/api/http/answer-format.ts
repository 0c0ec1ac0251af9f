/**
 * Formats responses as the caller prefers: JSON, unless `Accept` asks for YAML.
 *
 * Reads of a few kilobytes or more are gzipped for callers that accept it. The length then depends on the content, which is safe:
 * browsers don't send tokens on their own, so another site can't make a user's browser repeat a read.
 *
 * Long responses are written in slices once memory is available, until the caller disconnects (see long-answers.ts). A response
 * that is too long for YAML, which is meant for people, is sent as JSON with the matching `Content-Type`, and so is a response to
 * a caller that accepts neither.
 */
import { constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { writeJson } from '../../engine/values/exact-json.js';
import { lengthInParts, weigh, writeJsonParts } from '../../engine/values/json-parts.js';
import { inSlices, nextSlice, CanceledError } from '../../base/slices.js';
import type { LongAnswer } from './long-answers.js';
import { contextOf } from './request-context.js';
import { writeYaml, writeYamlParts } from './yaml-writer.js';

const YAML_MEDIA_TYPES: readonly string[] = ['application/yaml', 'application/x-yaml', 'text/yaml'];
const JSON_MEDIA_TYPE = 'application/json';
/** In order of precedence if the caller has no preference. */
const MEDIA_TYPES = [JSON_MEDIA_TYPE, 'text/json', ...YAML_MEDIA_TYPES];
/** Also listed with the only supported charset, because a media range with a parameter wouldn't match otherwise. */
const OFFERED = [...MEDIA_TYPES, ...MEDIA_TYPES.map(withCharset)];

/** In characters: below it, compressing takes longer than sending. */
const GZIP_LENGTH_MIN = 2048;
/** JSON is repetitive, so even the fastest level shrinks it many times. */
const GZIP_LEVEL = { level: constants.Z_BEST_SPEED };

/** Shorter responses go straight to the kernel and aren't counted. In characters. */
const SHORT_LENGTH_MAX = 16 * 1024;
/** About the same amount, as counted by `weigh`. */
const SHORT_WEIGHT_MAX = 256;
/** The text, and its bytes. */
const ANSWER_COST = 2;
/** How much longer YAML usually is than JSON. */
const YAML_COST = 2;
/** A client that has read none of its response for this long is considered gone. */
const UNREAD_MS = 30_000;

/** In characters: deeply nested JSON of this length can grow twentyfold. */
export const YAML_LENGTH_MAX = 8 * 1024 * 1024;

/**
 * Replaces Express's `response.json`, which tsoa calls with a controller's result.
 * @throws AppError `authorization_ended` if the caller's authorization has ended since the call was made
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
  if (typeof value === 'object' && value !== null && !isShort(value)) {
    sendLong(response, type, value).catch((error: unknown) => {
      if (!(error instanceof CanceledError)) response.req.next?.(error);
    });
    return response;
  }
  const isYaml = YAML_MEDIA_TYPES.includes(type);
  const text = isYaml ? writeYaml(value) : writeJson(value as object);
  // Names may be long, and characters may need escapes.
  count(response, text.length);
  learn(response.req, 0);
  const plain = { contentType: withCharset(type), encoding: null };
  if (!onlyReads(response.req) || text.length < GZIP_LENGTH_MIN) {
    return writeText(response, plain.contentType, text);
  }
  response.vary('Accept-Encoding');
  if (!acceptsGzip(response.req)) return writeText(response, plain.contentType, text);
  compress(text, (bytes) => {
    if (bytes === null) sendBytes(response, { ...plain, bytes: Buffer.from(text) });
    else sendBytes(response, { ...plain, encoding: 'gzip', bytes });
  });
  return response;
}

/** @throws AppError if there is no memory for the response, CanceledError if the caller has disconnected */
async function sendLong(response: Response, type: string, value: object): Promise<void> {
  const { req: request } = response;
  const { caller, services } = contextOf(request);
  const isRead = onlyReads(request);
  const isCompressed = isRead && acceptsGzip(request);
  const use = services.longAnswers.use(
    value,
    {
      form: isCompressed ? `${type} gzip` : type,
      cost: async () => {
        const cost = await costOf(value, type);
        learn(request, cost);
        return cost;
      },
      mayRefuse: isRead,
      write: (isWanted) => write({ value, type, isCompressed }, isWanted),
    },
    caller,
  );
  response.once('close', use.leave);
  if (response.closed) use.leave();
  const answer = await use.answer;
  // Many callers may have waited for the same response.
  await nextSlice();
  // The call may have been answered in the meantime because its caller's authorization ended.
  if (response.closed || response.headersSent) return;
  response.setTimeout(UNREAD_MS);
  if (isRead) response.vary('Accept-Encoding');
  sendBytes(response, answer);
}

/** The memory that the request's route needs, unless it was already taken while reading. */
function learn(request: Request, bytes: number): void {
  const { caller, route, routeMemory, services } = contextOf(request);
  if (route === null) return;
  const isRead = bytes > 0 && caller.memory.bytes > (routeMemory?.weight ?? 0);
  services.routeMemory.learn(route, caller, isRead ? 0 : bytes);
}

/** The memory needed to write the value, in bytes: its text plus the bytes to send. */
async function costOf(value: object, type: string): Promise<number> {
  const length = await inSlices(lengthInParts(value));
  const isYaml = YAML_MEDIA_TYPES.includes(type);
  return length * ANSWER_COST * (isYaml ? YAML_COST : 1);
}

async function write(
  what: { readonly value: object; readonly type: string; readonly isCompressed: boolean },
  isWanted: () => boolean,
): Promise<LongAnswer> {
  const { isCompressed, type, value } = what;
  const isYaml = YAML_MEDIA_TYPES.includes(type);
  const yaml = isYaml ? await inSlices(writeYamlParts(value, YAML_LENGTH_MAX), isWanted) : null;
  const text = yaml ?? (await inSlices(writeJsonParts(value), isWanted));
  const contentType = withCharset(isYaml && yaml === null ? JSON_MEDIA_TYPE : type);
  const plain = Buffer.from(text);
  if (!isCompressed) return { contentType, encoding: null, bytes: plain };
  return new Promise((resolve) => {
    compress(plain, (bytes) => {
      if (bytes === null) resolve({ contentType, encoding: null, bytes: plain });
      else resolve({ contentType, encoding: 'gzip', bytes });
    });
  });
}

/** Whether the caller accepts gzip. Without a header, it formally accepts anything but may not expect gzip. */
function acceptsGzip(request: Request): boolean {
  const { 'accept-encoding': accepted } = request.headers;
  return accepted !== undefined && request.acceptsEncodings('gzip') === 'gzip';
}

/** Compresses on another thread. Null if that failed. */
function compress(text: string | Buffer, done: (bytes: Buffer | null) => void): void {
  gzip(text, GZIP_LEVEL, (error, bytes) => done(error === null ? bytes : null));
}

function sendBytes(response: Response, { bytes, contentType, encoding }: LongAnswer): void {
  if (response.closed || response.headersSent) return;
  response.setHeader('Content-Type', contentType);
  if (encoding !== null) response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}

/** Whether the caller can repeat the request. A worker must receive the work item that it has claimed. */
function onlyReads({ method, originalUrl }: Request): boolean {
  return method === 'GET' && !originalUrl.startsWith('/api/activity/');
}

/**
 * Sends a body unchanged, without an ETag and without guessing its type.
 * @throws AppError `too_many_requests`, `overloaded` if there is no memory for a long one
 */
export function sendText(response: Response, contentType: string, text: string): Response {
  count(response, text.length);
  return writeText(response, contentType, text);
}

/** Counts a text until it has been sent. @throws AppError if it is long and there is no memory for it */
function count(response: Response, length: number): void {
  if (length <= SHORT_LENGTH_MAX) return;
  const { memory } = contextOf(response.req).caller;
  const bytes = length * ANSWER_COST;
  if (onlyReads(response.req)) memory.reserveNow('texts', bytes);
  else memory.add('texts', bytes);
  response.setTimeout(UNREAD_MS);
}

function writeText(response: Response, contentType: string, text: string): Response {
  if (response.headersSent) return response;
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  // Text is sent in one write with the headers; bytes would need a second one.
  return response.end(text);
}

function isShort(value: object): boolean {
  return weigh(value, SHORT_WEIGHT_MAX) <= SHORT_WEIGHT_MAX;
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
