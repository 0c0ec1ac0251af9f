/** The whole server in this process, on the embedded store in its own folder, with real Python. */
import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeServer } from '../../../src/compose-server.js';
import { readConfig } from '../../../src/config/read-config.js';
import { createLogger } from '../../../src/base/logger.js';
import type { Store } from '../../../src/store/store.js';

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Body;
}

export type JsonBody = Record<string, unknown>;

export interface CallOptions {
  readonly json?: unknown;
  readonly yaml?: string;
  readonly python?: string;
  readonly headers?: Record<string, string>;
}

export interface RealServer {
  readonly url: string;
  /** `POST /api/definition`; parses the body if the response is JSON. */
  call<Body = JsonBody>(line: string, options?: CallOptions): Promise<Answer<Body>>;
  stop(): Promise<void>;
}

export async function startRealServer(
  settings: Record<string, string> = {},
  wrapStore: (store: Store) => Store = (store) => store,
): Promise<RealServer> {
  const folder = await mkdtemp(join(tmpdir(), 'stepwright-api-'));
  const environment = { DATA_DIR: folder, PYTHON_PROCESSES: '1', ...settings };
  const config = readConfig(environment);
  const logger = createLogger({ level: 'error' });
  const { app, host } = await composeServer({ config, environment, logger, wrapStore });
  await host.start();
  const http = createServer(app);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    url,
    call: (line, options) => call(url, line, options),
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await host.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function call<Body>(
  url: string,
  line: string,
  options: CallOptions = {},
): Promise<Answer<Body>> {
  const [method = 'GET', path = '/'] = line.split(' ');
  const { json, yaml, python } = options;
  const sent: [string, string] | null =
    json !== undefined
      ? ['application/json', JSON.stringify(json)]
      : yaml !== undefined
        ? ['application/yaml', yaml]
        : python !== undefined
          ? ['text/x-python', python]
          : null;
  const response = await fetch(url + path, {
    method,
    headers: { ...(sent && { 'content-type': sent[0] }), ...options.headers },
    ...(sent && { body: sent[1] }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  // The test checks its expectations of the response afterwards.
  const body = (isJson ? JSON.parse(text) : undefined) as Body;
  return { status: response.status, headers: response.headers, text, body };
}
