/**
 * Request bodies: bytes under a limit, then text, then a JSON value.
 *
 * Routes with a body select one of the readers below with `@Middlewares`, so a body is only read once the caller has been
 * authenticated. The value is passed on without coercion; only its member names are normalized (body-names.ts).
 *
 *  BR1 Each event loop tick reads at most one large body, or part of one, so other requests are served in between no matter how
 *      many bodies arrive at once.
 */
import type { Request, RequestHandler } from 'express';
import type { Json } from '../../engine/values/json.js';
import { AppError } from '../../base/errors.js';
import { turnFor } from '../../base/slices.js';
import { memoryCost } from '../../engine/values/memory-cost.js';
import type { ApiLimits } from './api-limits.js';
import { withKnownNames } from './body-names.js';
import { parseJson } from './json-format.js';
import { jsonLocator, jsonNumbers } from './json-position.js';
import {
  addressOf,
  beginRequest,
  contextOf,
  responseOf,
  type ParsedBody,
} from './request-context.js';
import type { BodyMemory } from './request-memory.js';
import { parseYaml } from './yaml-format.js';

/** The chunks of a body as they arrive, and the joined body. */
const BYTES_COST = 2;
/** YAML values per character; aliases add more. */
const YAML_COST = 32;
/** The maximum number of JSON values per character, and the length above which the cost is estimated more precisely. */
const JSON_COST_MAX = 32;
const SCANNED_FROM = 4096;

/** How much longer YAML takes than JSON of the same length. */
const YAML_TIME = 16;

type BodyFormat = 'json' | 'yaml' | 'python' | 'form';

const MEDIA_TYPES: Readonly<Record<string, BodyFormat>> = {
  'application/json': 'json',
  'text/json': 'json',
  'application/yaml': 'yaml',
  'application/x-yaml': 'yaml',
  'text/yaml': 'yaml',
  'text/x-python': 'python',
  'application/x-www-form-urlencoded': 'form',
};

/** A required JSON or YAML body. */
export const requiredBody: RequestHandler = (request, _response, next) => readValue(request, next);

/** A JSON or YAML body; if it is absent or empty, `{}`. */
export const objectBody: RequestHandler = (request, _response, next) =>
  readValue(request, next, {});

/** A JSON or YAML body; if it is absent or empty, null. */
export const nullableBody: RequestHandler = (request, _response, next) =>
  readValue(request, next, null);

/** The text of a Python script. */
export const scriptBody: RequestHandler = async (request, _response, next) => {
  if (formatOf(request) !== 'python') {
    throw unsupported(request, 'Send the script as text/x-python');
  }
  const { limits } = contextOf(request).services;
  const memory = memoryOf(request);
  const bytes = await readBytes(request, limits.scriptBytesMax, memory);
  await turnFor(bytes.length);
  request.body = decode(bytes);
  next();
};

/**
 * The bytes of a webhook call, unless its address has sent too many invalid signatures. They are parsed only after the signature
 * has been verified.
 */
export const webhookBody: RequestHandler = async (request, _response, next) => {
  const { limits, wrongSignatures } = contextOf(request).services;
  wrongSignatures.assertMayTry(addressOf(request));
  await beginRequest(request);
  const bytes = hasBody(request)
    ? await readBytes(request, limits.webhookBytesMax, memoryOf(request))
    : Buffer.alloc(0);
  request.body = bytes;
  next();
};

/** The body of a webhook call: JSON and forms are parsed, other types are text. @throws AppError `unreadable_body` */
export async function readWebhookBody(request: Request, bytes: Buffer): Promise<Json> {
  const { bodyMemory, services } = contextOf(request);
  const format = formatOf(request);
  await turnFor(bytes.length);
  const text = decode(bytes);
  if (format === 'form') {
    bodyMemory?.grow(text.length * JSON_COST_MAX);
    return formOf(text, services.limits);
  }
  if (format !== 'json') return text;
  bodyMemory?.grow(valueCost(text, 'json'));
  return text.trim() === '' ? null : parseJson(text, services.limits);
}

function formOf(text: string, { bodyNodesMax }: ApiLimits): Json {
  const values = new Map<string, Json>();
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    count += 1;
    if (count > bodyNodesMax) {
      throw new AppError('unreadable_body', `The form has more than ${bodyNodesMax} fields`);
    }
    const before = values.get(name);
    if (Array.isArray(before)) before.push(value);
    else values.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(values);
}

/** The value that one of the readers above has parsed: JSON values only. */
export function asJson(body: unknown): Json {
  return body as Json;
}

async function readValue(request: Request, next: () => void, whenEmpty?: Json): Promise<void> {
  const context = contextOf(request);
  const body = await parseBody(request, context.services.limits);
  if (body === null && whenEmpty === undefined) {
    throw new AppError('unreadable_body', 'The body is empty; send JSON or YAML');
  }
  context.body = body;
  if (body !== null) await turnFor(body.text.length);
  // Only routes call this.
  const { path } = request.route as { readonly path: string };
  request.body = body === null ? whenEmpty : withKnownNames(request.method, path, body.value);
  next();
}

/** Null if the body is absent or empty. */
async function parseBody(request: Request, limits: ApiLimits): Promise<ParsedBody | null> {
  if (!hasBody(request)) return null;
  const format = formatOf(request);
  const memory = memoryOf(request);
  const bytesMax = format === 'yaml' ? limits.yamlBytesMax : limits.bodyBytesMax;
  const bytes = await readBytes(request, bytesMax, memory);
  // Some clients send a content type, even a custom one, without a body.
  if (bytes.length === 0) return null;
  if (format !== 'json' && format !== 'yaml') {
    throw unsupported(request, 'Send application/json or application/yaml');
  }
  const isYaml = format === 'yaml';
  await turnFor(isYaml ? bytes.length * YAML_TIME : bytes.length);
  const text = decode(bytes);
  memory.grow(valueCost(text, format));
  if (!isYaml) await turnFor(bytes.length);
  if (format === 'yaml') return parseYaml(text, limits);
  if (text.trim() === '') return null;
  return {
    value: parseJson(text, limits),
    text,
    locator: () => jsonLocator(text),
    numbers: () => jsonNumbers(text),
  };
}

/** The memory that the text and its value will take, in bytes. */
function valueCost(text: string, format: 'json' | 'yaml'): number {
  if (format === 'yaml') return text.length * YAML_COST;
  return text.length < SCANNED_FROM ? text.length * JSON_COST_MAX : memoryCost(text);
}

function memoryOf(request: Request): BodyMemory {
  const context = contextOf(request);
  context.bodyMemory = context.services.memory.body(context.caller.key, responseOf(request));
  return context.bodyMemory;
}

function hasBody(request: Request): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

/** Null if the type isn't supported. @throws AppError `unsupported_media_type` for an unsupported encoding or charset */
function formatOf(request: Request): BodyFormat | null {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupported(request, 'Compressed request bodies are not supported');
  }
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';');
  const charset = parameters
    .map((parameter) => /^charset="?([^"]*)"?$/i.exec(parameter.trim())?.[1]?.toLowerCase())
    .find((value) => value !== undefined);
  if (charset !== undefined && !['utf-8', 'utf8', 'us-ascii'].includes(charset)) {
    throw unsupported(request, 'Request bodies must be UTF-8');
  }
  const mediaType = type.trim().toLowerCase();
  if (Object.hasOwn(MEDIA_TYPES, mediaType)) return MEDIA_TYPES[mediaType] ?? null;
  return /^[\w.-]+\/[\w.-]+\+json$/.test(mediaType) ? 'json' : null;
}

function unsupported(request: Request, hint: string): AppError {
  const type = request.headers['content-type'];
  const sent =
    type === undefined ? 'The body has no Content-Type' : `The body has the Content-Type ${type}`;
  return new AppError('unsupported_media_type', `${sent}. ${hint}`);
}

function readBytes(request: Request, bytesMax: number, memory: BodyMemory): Promise<Buffer> {
  const tooLarge = () =>
    new AppError('body_too_large', `The body is larger than ${bytesMax} bytes`, {
      fields: { bytesMax },
    });
  const { caller, services } = contextOf(request);
  // NaN: the length was not announced.
  const announced = Number(request.headers['content-length'] ?? NaN);
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown): void => {
      memory.release();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    try {
      if (announced > bytesMax) throw tooLarge();
      // Bodies that arrive together would each get a part of the memory, and none enough.
      if (announced > 0) memory.grow(announced * BYTES_COST);
    } catch (error) {
      refuse(error);
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > bytesMax) throw tooLarge();
        memory.grow(length * BYTES_COST);
        chunks.push(chunk);
        if (length !== announced) services.bodyTurns.count(caller.key, request, chunk.length);
      } catch (error) {
        // `sendUnread` reads the rest.
        request.off('data', onData);
        request.pause();
        refuse(error);
      }
    };
    // Every request closes eventually; it was interrupted only if it hadn't ended before.
    const onClose = () => {
      if (!request.readableEnded) reject(new AppError('unreadable_body', 'The body ended early'));
    };
    request.on('data', onData);
    request.once('end', () => resolve(Buffer.concat(chunks, length)));
    request.once('error', onClose);
    request.once('close', onClose);
  });
}

// Without stateful options, one decoder can be shared.
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Buffer): string {
  try {
    return UTF_8.decode(bytes);
  } catch (cause) {
    throw new AppError('unreadable_body', 'The body is not valid UTF-8', { cause });
  }
}
