/**
 * What travels between the server and an interpreter's process: length-framed binary messages.
 *
 * Strictly one request, then one reply. Headers are fixed numbers, so that neither side has to parse text that
 * the other side could make expensive. Used by both processes; must not import anything of either.
 */

/** How a call ended, as the interpreter's process saw it. The place in the list is the code on the wire. */
export const OUTCOMES = [
  /** The Python side answered; its text may still report an error of the user's code. */
  'answered',
  /** The server broke it off, because its time was over. The interpreter is restored and serves on. */
  'timeout',
  /** The answer is larger than the limit. */
  'too-large',
  /** The code asked the host for something that is closed. */
  'denied',
  /** The WebAssembly stack ran out. */
  'overflow',
  /** A trap, or an interpreter that no longer answers in the agreed way. */
  'broken',
] as const;

export type Outcome = (typeof OUTCOMES)[number];

export interface RequestFrame {
  /** Proven in the server: nothing of it can stay behind in the interpreter. */
  readonly pure: boolean;
  readonly timeoutMs: number;
  readonly request: Buffer;
  readonly variables: Buffer;
}

export interface ReplyFrame {
  readonly outcome: Outcome;
  /** How many items of the request had been begun; counts from 0. */
  readonly progress: number;
  readonly deniedCalls: number;
  readonly heapBytes: number;
  /** What the code printed. */
  readonly output: Buffer;
  /** The answer, or for `denied` and `broken` a few words on what happened. */
  readonly result: Buffer;
}

export const REQUEST_HEADER_BYTES = 16;
export const REPLY_HEADER_BYTES = 24;
/** Beside the values, which have a limit of their own: an answer's first line with names, or an error and its traceback. */
export const ANSWER_OVERHEAD_BYTES = 64 * 1024;

const PURE = 1;
/** The last byte of every request's header; see server-pipe.ts. */
export const REQUEST_MARK = 0x5a;

/** Beyond the call's own limit: breaking it off, restoring the interpreter, and a machine under load. */
const GRACE_MS = 1_000;

/** When the server stops waiting for a call and kills its process. */
export function longestCallMs(timeoutMs: number): number {
  return 2 * timeoutMs + GRACE_MS;
}

export function encodeRequestHeader(frame: RequestFrame): Buffer {
  const header = Buffer.allocUnsafe(REQUEST_HEADER_BYTES);
  header.writeUInt32LE(frame.request.length, 0);
  header.writeUInt32LE(frame.variables.length, 4);
  header.writeUInt32LE(frame.timeoutMs, 8);
  header.writeUInt32LE(frame.pure ? PURE : 0, 12);
  header[REQUEST_HEADER_BYTES - 1] = REQUEST_MARK;
  return header;
}

export interface RequestHeader {
  readonly requestBytes: number;
  readonly variablesBytes: number;
  readonly timeoutMs: number;
  readonly pure: boolean;
}

export function decodeRequestHeader(header: Buffer): RequestHeader {
  return {
    requestBytes: header.readUInt32LE(0),
    variablesBytes: header.readUInt32LE(4),
    timeoutMs: header.readUInt32LE(8),
    pure: header[12] === PURE,
  };
}

export function encodeReply(reply: ReplyFrame): Buffer {
  const header = Buffer.allocUnsafe(REPLY_HEADER_BYTES);
  header.writeUInt32LE(OUTCOMES.indexOf(reply.outcome), 0);
  header.writeUInt32LE(reply.output.length, 4);
  header.writeUInt32LE(reply.result.length, 8);
  header.writeUInt32LE(reply.progress, 12);
  header.writeUInt32LE(reply.deniedCalls, 16);
  header.writeUInt32LE(reply.heapBytes, 20);
  return Buffer.concat([header, reply.output, reply.result]);
}

/** The other process sent something that is not a reply. */
export class MalformedReply extends Error {
  override readonly name = 'MalformedReply';
}

/** Collects the chunks of a stream into replies. Believes no length: what is over the limit is an error at once. */
export class ReplyReader {
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  #neededBytes = REPLY_HEADER_BYTES;
  readonly #maxBodyBytes: number;

  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  /**
   * @returns a reply when this chunk completed one
   * @throws MalformedReply
   */
  push(chunk: Buffer): ReplyFrame | null {
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#bufferedBytes < this.#neededBytes) return null;
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    const bodyBytes = bytes.readUInt32LE(4) + bytes.readUInt32LE(8);
    if (bodyBytes > this.#maxBodyBytes) {
      throw new MalformedReply(`a reply of ${bodyBytes} bytes exceeds the limit`);
    }
    this.#neededBytes = REPLY_HEADER_BYTES + bodyBytes;
    if (bytes.length < this.#neededBytes) return null;
    if (bytes.length > this.#neededBytes) {
      throw new MalformedReply('more than one reply to one request');
    }
    this.#chunks = [];
    this.#bufferedBytes = 0;
    this.#neededBytes = REPLY_HEADER_BYTES;
    return decodeReply(bytes);
  }
}

function decodeReply(bytes: Buffer): ReplyFrame {
  const outcome = OUTCOMES[bytes.readUInt32LE(0)];
  if (outcome === undefined) throw new MalformedReply('an unknown outcome');
  const outputEnd = REPLY_HEADER_BYTES + bytes.readUInt32LE(4);
  return {
    outcome,
    progress: bytes.readUInt32LE(12),
    deniedCalls: bytes.readUInt32LE(16),
    heapBytes: bytes.readUInt32LE(20),
    output: bytes.subarray(REPLY_HEADER_BYTES, outputEnd),
    result: bytes.subarray(outputEnd),
  };
}
