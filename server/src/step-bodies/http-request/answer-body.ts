/**
 * The body of a response: read within a limit, decompressed, and converted to JSON that a workflow can keep.
 *
 *  B1 At most `bytesMax` of it is read, before, between and after decompressions.
 *  B2 A body without a byte is empty and complete, whatever its content codings are.
 *  B3 A JSON response keeps its meaning: one that our numbers, depth or strings cannot represent remains a string.
 */
import { pipeline, Readable, type Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { readJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type Json } from '../../engine/values/json.js';
import { readMediaType } from './media-type.js';

/** The response arrived, but its body is incomplete. The message is for the author of the definition. */
export class AnswerBodyError extends Error {
  override readonly name = 'AnswerBodyError' as const;
}

type Grow = (bytes: number) => Promise<void>;

/** As for literal values in definitions. */
const JSON_DEPTH_MAX = 64;
const CODINGS_MAX = 3;
/** The window of zstd, as a power of two: 8 MiB, the most that HTTP allows (RFC 9659). It is memory of each decoder. */
const ZSTD_WINDOW_LOG_MAX = 23;

/** The fields that name the codings of a body, each with all values joined by commas. */
export interface BodyFields {
  readonly contentEncoding: string;
  /** Its chunks are already removed. */
  readonly transferEncoding: string;
}

/**
 * @param grow called with the number of bytes just received; reading pauses until it resolves
 * @throws AnswerBodyError for a body beyond the limit or with broken compression; other errors are the connection's
 */
export async function readBytes(
  body: Readable,
  { contentEncoding, transferEncoding }: BodyFields,
  bytesMax: number,
  grow: Grow = () => Promise.resolve(),
): Promise<Buffer> {
  // Those of the transfer were applied last.
  const codings = [...codingsOf(transferEncoding), ...codingsOf(contentEncoding)];
  if (codings.length > CODINGS_MAX) {
    throw new AnswerBodyError(`its body is compressed more than ${CODINGS_MAX} times`);
  }
  if (codings.length === 0) return collect(body, bytesMax, grow);
  try {
    const decoded = await decode(body, codings, bytesMax);
    return decoded === null ? Buffer.alloc(0) : await collect(decoded, bytesMax, grow);
  } catch (error) {
    if (isZlibError(error)) throw new AnswerBodyError('its body could not be decompressed');
    throw error;
  }
}

/** Null: there is not a single byte. */
async function decode(
  body: Readable,
  codings: readonly Coding[],
  bytesMax: number,
): Promise<Readable | null> {
  let stream = body;
  for (const coding of codings) {
    // Also checked between two decoders: a short body can expand to a long one, which the next decoder reduces to
    // nothing.
    const source = limited(stream, bytesMax);
    const first = await source.next();
    if (first.done === true) return null;
    const encoded = Readable.from(startingWith(first.value, source), { objectMode: false });
    // Errors appear at the last stream of the chain, which `collect` reads.
    stream = pipeline(encoded, createDecoder(coding, first.value), () => undefined);
  }
  return stream;
}

async function* startingWith(
  first: Buffer,
  others: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  yield first;
  yield* others;
}

type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
]);

/** Names that change nothing here. */
const NO_CODINGS: ReadonlySet<string> = new Set(['', 'identity', 'chunked']);

/** In the order in which they are removed: the reverse of the listed order, in which they were applied. */
function codingsOf(field: string): readonly Coding[] {
  const names = field
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !NO_CODINGS.has(name));
  const codings = names.map((name) => CODINGS.get(name));
  // Some servers send other values here (a charset, for example): as in browsers, the bytes are then left unchanged.
  return codings.every((coding) => coding !== undefined) ? codings.reverse() : [];
}

/** The compression method in the lower half of zlib's first byte. */
const ZLIB_METHOD = 8;

function createDecoder(coding: Coding, first: Buffer): Transform {
  switch (coding) {
    case 'gzip':
      return createGunzip();
    case 'deflate': {
      // zlib's format by the standard, but bare deflate from many servers.
      const isZlib = ((first[0] ?? 0) & 0x0f) === ZLIB_METHOD;
      return isZlib ? createInflate() : createInflateRaw();
    }
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress({
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      });
  }
}

async function* limited(source: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge(bytesMax);
    if (chunk.length > 0) yield chunk;
  }
}

async function collect(stream: Readable, bytesMax: number, grow: Grow): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of limited(stream, bytesMax)) {
    chunks.push(chunk);
    await grow(chunk.length);
  }
  return Buffer.concat(chunks);
}

export function tooLarge(bytesMax: number): AnswerBodyError {
  return new AnswerBodyError(`its body is larger than ${bytesMax} bytes`);
}

/** zlib's own codes start with `Z_`, those of zstd with `ZSTD_`, those of Brotli with a prefix that Node adds. */
function isZlibError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return (
    typeof error.code === 'string' &&
    /^(Z_|ZSTD_|ERR_BROTLI|ERR__ERROR|ERR_PADDING)/.test(error.code)
  );
}

/**
 * JSON as its value, text as a string, everything else as base64; null for an empty body.
 *
 * @param contentType all fields, joined by commas
 */
export function decodeBody(bytes: Buffer, contentType: string): Json {
  if (bytes.length === 0) return null;
  const { charset, essence } = readMediaType(contentType);
  if (isJsonType(essence)) return parseJson(decodeText(bytes, charset));
  if (isTextType(essence)) return decodeText(bytes, charset);
  if (essence === '') return decodeUnnamed(bytes);
  return bytes.toString('base64');
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json');
}

const TEXT_TYPES = new Set([
  'application/ecmascript',
  'application/graphql',
  'application/javascript',
  'application/jsonl',
  'application/sql',
  'application/toml',
  'application/x-ndjson',
  'application/x-www-form-urlencoded',
  'application/x-yaml',
  'application/xml',
  'application/yaml',
]);

function isTextType(type: string): boolean {
  return type.startsWith('text/') || /\+(xml|yaml|json-seq)$/.test(type) || TEXT_TYPES.has(type);
}

/** For a server that sends no content type: a string if the bytes are valid text. */
function decodeUnnamed(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString('base64');
  }
}

/** As in browsers, a byte order mark counts more than the charset. */
function decodeText(bytes: Buffer, charset: string | null): string {
  try {
    return new TextDecoder(charsetOfMark(bytes) ?? charset ?? 'utf-8').decode(bytes);
  } catch {
    // An unknown charset is ignored; nearly everything is UTF-8.
    return new TextDecoder().decode(bytes);
  }
}

function charsetOfMark([first, second, third]: Buffer): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : null;
}

function parseJson(text: string): Json {
  try {
    const value = readJson(text);
    return isKept(value, 0) ? value : text;
  } catch {
    return text;
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether the value can be stored and passed to Python unchanged: see B3. */
function isKept(value: unknown, depth: number): value is Json {
  if (typeof value === 'string') return !LONE_SURROGATE.test(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === JSON_DEPTH_MAX) return false;
  if (Array.isArray(value)) return value.every((item: unknown) => isKept(item, depth + 1));
  if (!isJsonObject(value)) return false;
  for (const key of Object.keys(value)) {
    if (LONE_SURROGATE.test(key) || !isKept(value[key], depth + 1)) return false;
  }
  return true;
}
