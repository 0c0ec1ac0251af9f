/**
 * The pipes to the server, as seen from an interpreter's process. Everything is synchronous: the event loop never turns
 * between requests, so no timer, promise or finalizer that a guest managed to leave behind can ever run, and if the
 * server is gone, the next read ends this process.
 */
import { readSync, writeSync } from 'node:fs';
import {
  decodeRequestHeader,
  encodeReply,
  REQUEST_HEADER_BYTES,
  REQUEST_MARK,
  type ReplyFrame,
  type RequestFrame,
  type RequestHeader,
} from './frames.js';

const STDIN = 0;
const STDOUT = 1;
const pause = new Int32Array(new SharedArrayBuffer(4));

export class ServerPipe {
  readonly #header = Buffer.alloc(REQUEST_HEADER_BYTES);
  #waiting = false;

  /**
   * Waits for the next request. May be interrupted at any point and called again: a header that had already arrived is
   * found in the buffer, even though the interrupted read did not report its length.
   */
  receiveHeader(): RequestHeader {
    const header = this.#header;
    if (!this.#waiting) {
      header.fill(0);
      this.#waiting = true;
    }
    if (header.at(-1) !== REQUEST_MARK) {
      // The server writes a header in a single write, so that it arrives completely or not at all.
      if (header.some((byte) => byte !== 0)) process.exit(1);
      readExactly(header);
    }
    this.#waiting = false;
    return decodeRequestHeader(header);
  }

  /** Whether an interrupt now would lose nothing. */
  get isWaiting(): boolean {
    return this.#waiting;
  }

  receiveBody({ requestBytes, variablesBytes, ...rest }: RequestHeader): RequestFrame {
    const body = Buffer.allocUnsafe(requestBytes + variablesBytes);
    readExactly(body);
    const request = body.subarray(0, requestBytes);
    return { request, variables: body.subarray(requestBytes), ...rest };
  }

  send(reply: ReplyFrame): void {
    const frame = encodeReply(reply);
    let offset = 0;
    while (offset < frame.length) {
      offset += retryWhileBusy(() => writeSync(STDOUT, frame, offset, frame.length - offset));
    }
  }
}

function readExactly(buffer: Buffer): void {
  let offset = 0;
  while (offset < buffer.length) {
    const count = retryWhileBusy(() =>
      readSync(STDIN, buffer, offset, buffer.length - offset, null),
    );
    // The server is gone, or no longer needs this process.
    if (count === 0) process.exit(0);
    offset += count;
  }
}

function retryWhileBusy(operation: () => number): number {
  for (;;) {
    try {
      return operation();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EOF' || code === 'EPIPE') return process.exit(0);
      if (code !== 'EAGAIN' && code !== 'EINTR') throw error;
      // A pipe may be in non-blocking mode; then the only option is to poll.
      if (code === 'EAGAIN') Atomics.wait(pause, 0, 0, 1);
    }
  }
}
