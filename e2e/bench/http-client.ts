/** A lightweight client, so that the load itself costs little: persistent connections, JSON in and out, no retries. */
import { Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

export class HttpClient {
  readonly #base: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 512 });

  constructor(base: string) {
    this.#base = base;
  }

  /** @throws Error for a status of 400 and above, except 404 */
  call(method: string, path: string, body?: unknown): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers =
        text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const sent = request(
        `${this.#base}${path}`,
        { method, agent: this.#agent, headers },
        (received) => {
          const chunks: Buffer[] = [];
          received.on('data', (chunk: Buffer) => chunks.push(chunk));
          received.on('end', () => {
            const status = received.statusCode ?? 0;
            const answer = Buffer.concat(chunks).toString();
            if (status >= 400 && status !== 404) {
              reject(new Error(`${method} ${path}: ${status} ${answer}`));
              return;
            }
            const isJson = received.headers['content-type']?.includes('json') === true;
            resolve({ status, json: isJson && answer !== '' ? JSON.parse(answer) : answer });
          });
        },
      );
      sent.on('error', reject);
      sent.end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
