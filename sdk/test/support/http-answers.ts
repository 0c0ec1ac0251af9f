/** A small real HTTP server with scripted responses, for failures that a healthy server does not have. */
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
        // The last response is repeated.
        const answer = answers[Math.min(this.seen.length, answers.length - 1)]!;
        this.seen.push({ method, path: url, headers, body, atMs });
        answer(request, response);
      });
    });
  }

  /** Sends the responses one after another, and then repeats the last one. */
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

/** The connection breaks before the response. */
export const reset: Answer = (request) => request.socket.resetAndDestroy();

/** The connection breaks in the middle of the response. */
export const halfAnAnswer: Answer = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"name":', () => request.socket.resetAndDestroy());
};

/** There is never a response. */
export const silence: Answer = () => undefined;

/** The response starts, but never ends. */
export const endless: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"name":');
};
