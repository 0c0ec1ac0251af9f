/** The whole server for the security tests, on a store that each test can open, corrupt and open again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { createSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../../src/store/store.js';
import { Client } from '../../behavior/support/client.js';
import {
  startServer,
  type TestServer,
  type TestServerOptions,
} from '../../behavior/support/server.js';

export interface SecuredServer {
  readonly client: Client;
  readonly server: TestServer;
}

/** A server for all tests of a file or block. After each file the prototype of all objects must be unchanged. */
export function serverForTests(
  environment: Readonly<Record<string, string>> = {},
  openStore: () => Store = createMemoryStore,
  options: Pick<TestServerOptions, 'keepsLine'> = {},
): SecuredServer {
  const running: { server?: TestServer; client?: Client } = {};
  beforeAll(async () => {
    running.server = await startServer({ store: openStore(), environment, ...options });
    running.client = new Client(running.server.url);
  });
  afterAll(async () => {
    await running.server?.stop();
    expectCleanPrototypes();
  });
  return {
    get client() {
      return running.client!;
    },
    get server() {
      return running.server!;
    },
  };
}

const CLEAN = [Object.prototype, Array.prototype, Function.prototype].map((prototype) =>
  Reflect.ownKeys(prototype),
);

/** Nothing was added to the prototype that every object inherits. */
export function expectCleanPrototypes(): void {
  const now = [Object.prototype, Array.prototype, Function.prototype].map((prototype) =>
    Reflect.ownKeys(prototype),
  );
  expect(now).toEqual(CLEAN);
}

export interface SqliteFile {
  readonly file: string;
  open(): Store;
  remove(): Promise<void>;
}

export async function sqliteFile(): Promise<SqliteFile> {
  const directory = await mkdtemp(path.join(tmpdir(), 'stepwright-security-'));
  const file = path.join(directory, 'stepwright.db');
  return {
    file,
    open: () => createSqliteStore({ path: file }),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
