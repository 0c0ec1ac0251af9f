/** The service that HttpRequest steps of a test file call. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

export interface Callee {
  /** Its address, once tests are running. */
  readonly url: string;
}

/** Listens on its own port while the tests of the file run. */
export function useCallee(listener: RequestListener): Callee {
  const server = createServer(listener);
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    get url() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
  };
}
