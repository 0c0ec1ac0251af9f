/** A tiny real HTTP server that answers as a test says, for what a healthy server does not do. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly atMs: number;
}

export class HttpAnswers {
  readonly #server: Server;
  readonly seen: SeenRequest[] = [];

  private constructor(answers: readonly Answer[]) {
    this.#server = createServer((request, response) => {
      const atMs = performance.now();
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const body = Buffer.concat(chunks).toString();
        // The last answer is given again and again.
        const answer = answers[Math.min(this.seen.length, answers.length - 1)]!;
        this.seen.push({ method, path: url, headers, body, atMs });
        answer(request, response);
      });
    });
  }

  /** Gives the answers one after another, and the last one from then on. */
  static async start(...answers: readonly Answer[]): Promise<HttpAnswers> {
    const server = new HttpAnswers(answers);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
}

export function problem(
  status: number,
  code: string,
  headers: Record<string, string> = {},
): Answer {
  const document = { type: 'about:blank', title: 'x', status, detail: `a ${code}`, code };
  return json(status, document, { 'content-type': 'application/problem+json', ...headers });
}

/** The connection breaks before the answer. */
export const reset: Answer = (request) => request.socket.resetAndDestroy();

/** The connection breaks in the middle of the answer. */
export const halfAnAnswer: Answer = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"name":', () => request.socket.resetAndDestroy());
};

/** No answer ever comes. */
export const silence: Answer = () => undefined;

/** An answer begins, and the rest of it never comes. */
export const endless: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"name":');
};
