/**
 * The messages between the server and the process of an interpreter: binary, with a length prefix.
 *
 * Strictly one request, then one reply. Headers are fixed-size numbers, so that neither side has to parse text that the
 * other side could make expensive. Used by both processes; must not import anything from either.
 */

/** How a call ended, as seen by the interpreter's process. The position in the list is the code on the wire. */
export const OUTCOMES = [
  /** The Python side responded; its text may still report an error of the user's code. */
  'answered',
  /** The server interrupted the call because its time was up. The interpreter is restored and continues to serve. */
  'timeout',
  /** The response exceeds the limit. */
  'too-large',
  /** The code called a closed host function. */
  'denied',
  /** The WebAssembly stack overflowed. */
  'overflow',
  /** A trap, or an interpreter that violates the protocol. */
  'broken',
] as const;

export type Outcome = (typeof OUTCOMES)[number];

/** The time and the random numbers that a call sees instead of the machine's, so that it can be repeated. */
export interface CallMoment {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** A positive integer of up to 32 bits. */
  readonly seed: number;
}

export interface RequestFrame {
  /** The server has proved that the call leaves nothing behind in the interpreter. */
  readonly pure: boolean;
  readonly timeoutMs: number;
  readonly request: Buffer;
  readonly variables: Buffer;
  /** @default the machine's clock and random numbers */
  readonly moment?: CallMoment;
}

export interface ReplyFrame {
  readonly outcome: Outcome;
  /** Index of the item that was being processed when the call ended. */
  readonly progress: number;
  readonly deniedCalls: number;
  readonly heapBytes: number;
  /** Text that the code printed. */
  readonly output: Buffer;
  /** The response; for `denied` and `broken`, a short description of what happened. */
  readonly result: Buffer;
}

export const REQUEST_HEADER_BYTES = 32;
export const REPLY_HEADER_BYTES = 24;
/**
 * Room beyond the values, which have their own limit: the first line of a response with its names, or an error and its
 * traceback.
 */
export const ANSWER_OVERHEAD_BYTES = 64 * 1024;

const PURE = 1;
/** The last byte of every request header; see server-pipe.ts. */
export const REQUEST_MARK = 0x5a;

/**
 * Extra time beyond the call's own limit, for the interrupt, for restoring the interpreter, and for a machine under
 * load.
 */
const GRACE_MS = 1_000;

/** The time after which the server stops waiting for a call and kills its process. */
export function longestCallMs(timeoutMs: number): number {
  return 2 * timeoutMs + GRACE_MS;
}

export function encodeRequestHeader(frame: RequestFrame): Buffer {
  const header = Buffer.alloc(REQUEST_HEADER_BYTES);
  header.writeUInt32LE(frame.request.length, 0);
  header.writeUInt32LE(frame.variables.length, 4);
  header.writeUInt32LE(frame.timeoutMs, 8);
  header.writeUInt32LE(frame.pure ? PURE : 0, 12);
  header.writeDoubleLE(frame.moment?.time ?? 0, 16);
  header.writeUInt32LE(frame.moment?.seed ?? 0, 24);
  header[REQUEST_HEADER_BYTES - 1] = REQUEST_MARK;
  return header;
}

export interface RequestHeader {
  readonly requestBytes: number;
  readonly variablesBytes: number;
  readonly timeoutMs: number;
  readonly pure: boolean;
  readonly moment?: CallMoment;
}

export function decodeRequestHeader(header: Buffer): RequestHeader {
  const seed = header.readUInt32LE(24);
  return {
    requestBytes: header.readUInt32LE(0),
    variablesBytes: header.readUInt32LE(4),
    timeoutMs: header.readUInt32LE(8),
    pure: header[12] === PURE,
    ...(seed !== 0 && { moment: { time: header.readDoubleLE(16), seed } }),
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

/**
 * Assembles the chunks of a stream into replies. It trusts no length: a length over the limit is an error immediately.
 */
export class ReplyReader {
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  #neededBytes = REPLY_HEADER_BYTES;
  readonly #maxBodyBytes: number;

  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  /**
   * @returns the reply, if this chunk completed one
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
