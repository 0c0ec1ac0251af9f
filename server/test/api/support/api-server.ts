/** The application on its own port, for tests over HTTP. */
import type { KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ApiLimits } from '../../../src/api/http/api-limits.js';
import { DEFAULT_API_LIMITS } from '../../support/default-limits.js';
import type { AuthConfig } from '../../../src/api/access/access-control.js';
import { createApp } from '../../../src/api/create-app.js';
import { RequestMemory, type RequestMemoryOptions } from '../../../src/api/http/request-memory.js';
import { createLogger } from '../../../src/base/logger.js';
import { scriptedHost, type HostAnswers, type HostCall } from './scripted-host.js';

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  readonly calls: readonly HostCall[];
  readonly logLines: readonly Record<string, unknown>[];
  readonly server: Server;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** POST with a body and its media type. */
  post(path: string, body: string | Uint8Array, type: string | null): Promise<Response>;
}

export interface ApiServerOptions {
  readonly host?: HostAnswers;
  /** Calls that `host` does not define never end. */
  readonly isSilent?: boolean;
  readonly limits?: Partial<ApiLimits>;
  readonly auth?: AuthConfig | null;
  readonly memory?: Partial<Pick<RequestMemoryOptions, 'bodiesMax' | 'answersMax'>>;
}

/** Accepts tokens with the algorithm ES256 that are signed with the other half of the key. */
export function authWith(publicKey: KeyObject): AuthConfig {
  return {
    algorithm: 'ES256',
    keys: { publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() },
    lifetimeSecondsMax: 3600,
    clockToleranceSeconds: 0,
    scopeClaim: 'scope',
  };
}

export async function startApi(options: ApiServerOptions = {}): Promise<ApiServer> {
  const { host, calls } = scriptedHost(options.host ?? {}, options.isSilent);
  const logLines: Record<string, unknown>[] = [];
  const logger = createLogger({
    level: 'debug',
    destination: { write: (line) => logLines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const limits = { ...DEFAULT_API_LIMITS, ...options.limits };
  const { bodiesMax = 2 ** 28, answersMax = 2 ** 28 } = options.memory ?? {};
  const requestMemory = new RequestMemory({ bodiesMax, answersMax, refused: () => undefined });
  const auth = options.auth ?? null;
  const server = createServer(createApp({ host, logger, limits, auth, requestMemory }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const call = (path: string, init?: RequestInit) => fetch(url + path, init);
  const post = (path: string, body: string | Uint8Array, type: string | null) =>
    call(path, {
      method: 'POST',
      body: typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body),
      headers: type === null ? {} : { 'content-type': type },
    });
  return { url, port, calls, logLines, server, fetch: call, post };
}

export async function problemOf(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}
