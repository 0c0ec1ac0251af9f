/**
 * Connections whose answers are read as real servers give them (answer-head.ts), and that tell whether a call may be sent
 * again because its connection had been closed.
 *
 * undici reads the answers of a connection by `socket.read()` and announces each request on a diagnostics channel. Both
 * are used here, because its strict parser has no options.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { AnswerHead } from './answer-head.js';

class AnswerSocket {
  readonly #head = new AnswerHead();
  #requests = 0;

  constructor(socket: Socket) {
    const read = socket.read.bind(socket);
    socket.read = (size?: number) => {
      for (;;) {
        const chunk: unknown = read(size);
        if (!Buffer.isBuffer(chunk)) return chunk;
        const passed = this.#pass(socket, chunk);
        if (passed === null || passed.length > 0) return passed;
      }
    };
    socket.on('error', (error) => {
      if (this.#requests > 1 && this.#head.isMissing) closedBefore.add(error);
    });
  }

  sends(): void {
    this.#requests += 1;
    this.#head.expect();
  }

  #pass(socket: Socket, chunk: Buffer): Buffer | null {
    try {
      return this.#head.pass(chunk);
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
      return null;
    }
  }
}

const answerSockets = new WeakMap<Socket, AnswerSocket>();
const closedBefore = new WeakSet<Error>();
let follows = false;

/** The same connector, for connections whose answers are read in this way. */
export function withAnswers(connect: buildConnector.connector): buildConnector.connector {
  followRequests();
  return (options, callback) => {
    connect(options, (...connected) => {
      const [error, socket] = connected;
      if (error === null) answerSockets.set(socket, new AnswerSocket(socket));
      callback(...connected);
    });
  };
}

/**
 * Whether a connection that had been kept from an earlier call was closed before the answer began: then the server has
 * most likely closed it while the request was under way.
 */
export function wasClosedBefore(error: unknown): boolean {
  return error instanceof Error && closedBefore.has(error);
}

function followRequests(): void {
  if (follows) return;
  follows = true;
  subscribe('undici:client:sendHeaders', (event) => {
    answerSockets.get((event as { readonly socket: Socket }).socket)?.sends();
  });
}
