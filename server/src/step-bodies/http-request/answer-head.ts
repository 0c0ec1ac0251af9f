/**
 * The head of an answer (status line and header fields) as servers write it, rewritten as the strict parser of the HTTP
 * client expects it. Browsers and curl read all of these:
 *
 *  AH1 Interim answers (1xx) are skipped, also those that nobody asked for (RFC 9110, 15.2).
 *  AH2 A field that is continued in the next line is one field, and lines that are no field do not count.
 *  AH3 A length that is given several times is given once, and none counts beside `chunked` (RFC 9112, 6.3). Lengths that
 *      contradict each other remain an error.
 *  AH4 Control characters in a value become spaces (RFC 9110, 5.5).
 */
import { errors } from 'undici';
import { withoutOuterBlanks } from '../../base/outer-blanks.js';
import { ChunkLines } from './chunk-lines.js';

/** For all heads of one answer together. */
export const HEAD_BYTES_MAX = 64 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const START = Buffer.from('HTTP/');

const STATUS_LINE = /^HTTP\/(\d\.\d|\d) +(\d{3})(?:[ \t].*)?$/;
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f]/g;

interface Field {
  readonly name: string;
  value: string;
}

/** What one connection receives. */
export class AnswerHead {
  #isExpected = false;
  #hasBegun = false;
  #held: Buffer = Buffer.alloc(0);
  /** Where the search for the end of the head goes on. */
  #searched = 0;
  /** Of the interim answers. */
  #skippedBytes = 0;
  /** Null: the body is not in chunks. */
  #chunks: ChunkLines | null = null;

  /** The next bytes begin the answer to a request. */
  expect(): void {
    this.#isExpected = true;
    this.#hasBegun = false;
    this.#held = Buffer.alloc(0);
    this.#searched = 0;
    this.#skippedBytes = 0;
    this.#chunks = null;
  }

  /** Whether a request waits for the first byte of its answer. */
  get isMissing(): boolean {
    return this.#isExpected && !this.#hasBegun;
  }

  /** The bytes for the parser; empty while a head is incomplete. @throws Error why the answer cannot be read */
  pass(chunk: Buffer): Buffer {
    if (!this.#isExpected) return this.#passBody(chunk);
    this.#hasBegun = true;
    this.#held = Buffer.concat([this.#held, chunk]);
    for (;;) {
      this.#held = withoutLeadingBreaks(this.#held);
      // What is not HTTP has no end: the parser says so at once.
      if (!beginsHead(this.#held)) return this.#passRest();
      const end = endOfHead(this.#held, this.#searched);
      const bytes = this.#skippedBytes + (end ?? this.#held.length);
      if (bytes > HEAD_BYTES_MAX) throw new errors.HeadersOverflowError();
      if (end === null) {
        this.#searched = Math.max(0, this.#held.length - 2);
        return Buffer.alloc(0);
      }
      const head = rewriteHead(this.#held.toString('latin1', 0, end));
      this.#held = this.#held.subarray(end);
      this.#searched = 0;
      if (head === null) {
        this.#skippedBytes = bytes;
        continue;
      }
      if (head.isChunked) this.#chunks = new ChunkLines();
      return Buffer.concat([head.bytes, this.#passRest()]);
    }
  }

  #passRest(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    this.#isExpected = false;
    return this.#passBody(rest);
  }

  #passBody(bytes: Buffer): Buffer {
    return this.#chunks === null ? bytes : this.#chunks.pass(bytes);
  }
}

function withoutLeadingBreaks(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === CARRIAGE_RETURN || bytes[start] === LINE_FEED) start += 1;
  return bytes.subarray(start);
}

function beginsHead(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, START.length);
  return bytes.subarray(0, length).equals(START.subarray(0, length));
}

/** After the first empty line. */
function endOfHead(bytes: Buffer, from: number): number | null {
  for (let at = bytes.indexOf(LINE_FEED, from); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
    const next = bytes[at + 1] === CARRIAGE_RETURN ? at + 2 : at + 1;
    if (bytes[next] === LINE_FEED) return next + 1;
  }
  return null;
}

/** Null: an interim answer. @throws HTTPParserError */
function rewriteHead(text: string): { readonly bytes: Buffer; readonly isChunked: boolean } | null {
  const [statusLine = '', ...lines] = text.split(/\r?\n/);
  const [, version, status] = STATUS_LINE.exec(statusLine) ?? [];
  if (version === undefined || status === undefined || status.startsWith('0')) {
    throw new errors.HTTPParserError('its status line is invalid');
  }
  if (status.startsWith('1')) return null;
  const fields = withOneLength(readFields(lines));
  const written = fields.map(({ name, value }) => `${name}: ${value}\r\n`).join('');
  // Later versions are understood as 1.1. The words beside the status have no meaning.
  const understood = version === '1.0' ? version : '1.1';
  const bytes = Buffer.from(`HTTP/${understood} ${status} \r\n${written}\r\n`, 'latin1');
  return { bytes, isChunked: valuesOf(fields, 'transfer-encoding').at(-1) === 'chunked' };
}

function readFields(lines: readonly string[]): readonly Field[] {
  const fields: Field[] = [];
  let last: Field | null = null;
  for (const line of lines) {
    if (/^[ \t]/.test(line)) {
      if (last !== null) last.value = `${last.value} ${cleanValue(line)}`.trim();
      continue;
    }
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trimEnd();
    last = FIELD_NAME.test(name) ? { name, value: cleanValue(line.slice(colon + 1)) } : null;
    if (last !== null) fields.push(last);
  }
  return fields;
}

function cleanValue(text: string): string {
  return withoutOuterBlanks(text.replaceAll(CONTROLS, ' '));
}

/** Says once where the body ends: see AH3. */
function withOneLength(fields: readonly Field[]): readonly Field[] {
  const codings = new Set(
    valuesOf(fields, 'transfer-encoding').map((value) => value.toLowerCase()),
  );
  codings.delete('identity');
  const lengths = new Set(valuesOf(fields, 'content-length'));
  const others = fields.filter(
    ({ name }) => !['transfer-encoding', 'content-length'].includes(name.toLowerCase()),
  );
  if (codings.size > 0) {
    return [...others, { name: 'Transfer-Encoding', value: [...codings].join(', ') }];
  }
  return [...others, ...[...lengths].map((value) => ({ name: 'Content-Length', value }))];
}

function valuesOf(fields: readonly Field[], wanted: string): readonly string[] {
  return fields
    .filter(({ name }) => name.toLowerCase() === wanted)
    .flatMap(({ value }) => value.split(',').map((part) => part.trim()))
    .filter((value) => value !== '');
}
