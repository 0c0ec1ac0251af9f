/** An HTTP target that records every call by its idempotency key. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class Ledger {
  readonly calls = new Map<string, number>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const key = String(request.headers['idempotency-key']);
      this.calls.set(key, (this.calls.get(key) ?? 0) + 1);
      request.resume();
      response.setHeader('content-type', 'application/json');
      response.end('{"ok":true}');
    });
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo; // The server listens on TCP.
    return `http://127.0.0.1:${port}`;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<unknown>((resolve) => {
      this.#server.close(resolve);
    });
  }
}
