/**
 * Goal: a database takes, grants, frees and counts slots as the memory store does (rule S15), for any sequence of operations.
 * Method: random sequences over few instances, limits and times; every result and everything that can be read must be equal.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';
import { postgresForTests } from '../support/postgres-container.js';
import { propertyRuns } from '../support/property-runs.js';
import { openTestSchema } from './support/postgres-schema.js';
import { slotContents, slotOperation } from './support/random-slot-operations.js';

const OPERATIONS_MAX = 50;

interface Modelled {
  readonly title: string;
  readonly runs: number;
  readonly store: Store;
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

async function openSqlite(): Promise<Modelled> {
  const directory = await mkdtemp(join(tmpdir(), 'stepwright-slots-'));
  const path = join(directory, 'model.db');
  const store = createSqliteStore({ path });
  await store.start();
  const connection = new DatabaseSync(path, { timeout: 5000 });
  const tables = connection.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  const emptyTables = tables.map(({ name }) => `DELETE FROM ${String(name)};`).join(' ');
  return {
    title: 'SQLite',
    runs: 150,
    store,
    clear: async () => connection.exec(`BEGIN IMMEDIATE; ${emptyTables} COMMIT`),
    close: async () => {
      connection.close();
      await store.stop();
      await rm(directory, { recursive: true });
    },
  };
}

async function openPostgres(url: string): Promise<Modelled> {
  const schema = await openTestSchema(url);
  const store = createPostgresStore({ url: schema.url, operationTimeoutMs: 20_000 });
  await store.start();
  return {
    title: 'PostgreSQL',
    runs: 40,
    store,
    clear: () => schema.clear(),
    close: async () => {
      await store.stop();
      await schema.drop();
    },
  };
}

const postgres = await postgresForTests();
const modelled = [
  await openSqlite(),
  ...(postgres === null ? [] : [await openPostgres(postgres.url)]),
];
afterAll(async () => {
  for (const { close } of modelled) await close();
});

it.each(modelled)(
  'returns the same results for slots on the $title store as on the memory store',
  { timeout: 240_000 },
  async ({ clear, runs, store }) => {
    const property = fc.asyncProperty(
      fc.array(slotOperation, { maxLength: OPERATIONS_MAX, size: 'max' }),
      async (steps) => {
        const memory = createMemoryStore();
        await clear();
        for (const run of steps) {
          expect(await run(store)).toEqual(await run(memory));
        }
        expect(await slotContents(store)).toEqual(await slotContents(memory));
      },
    );
    await fc.assert(property, propertyRuns(runs));
  },
);
