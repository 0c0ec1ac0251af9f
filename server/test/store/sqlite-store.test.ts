/** Goal: the embedded store keeps the contract, on one file that several store objects and processes share. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { describeStore, type StoreFixture } from './conformance.js';

const directory = await mkdtemp(join(tmpdir(), 'stepwright-store-'));
afterAll(() => rm(directory, { recursive: true }));

describeStore('the SQLite store', async (): Promise<StoreFixture> => {
  const path = join(directory, 'conformance.db');
  const store = createSqliteStore({ path });
  await store.start();
  const other = createSqliteStore({ path });
  // A third writer beside the two threads: it empties the tables, which is much faster than new files.
  const connection = new DatabaseSync(path, { timeout: 5000 });
  const tables = connection.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  return {
    store,
    open: async () => {
      await other.start();
      return other;
    },
    clear: () => {
      const deletions = tables.map(({ name }) => `DELETE FROM ${String(name)};`);
      connection.exec(`BEGIN IMMEDIATE; ${deletions.join(' ')} COMMIT`);
      return Promise.resolve();
    },
    close: async () => {
      connection.close();
      await Promise.all([store.stop(), other.stop()]);
    },
  };
});
