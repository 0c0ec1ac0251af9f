/**
 * Goal: a database returns what the memory store returns, for any sequence of operations.
 * Method: random sequences of operations over few ids and times, so that they interact; both stores get the same, and
 * every result and everything that can be read at the end must be equal.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { IS_NIGHTLY } from '../../../sdk/test/support/nightly.js';
import { propertyRuns } from '../support/property-runs.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';
import { postgresForTests } from '../support/postgres-container.js';
import { claimBy } from './records.js';
import { openTestSchema } from './support/postgres-schema.js';
import { anyOperation } from './support/random-operations.js';

const RUNS = 150;
const RUNS_OVER_THE_NETWORK = 40;
const OPERATIONS_MAX = 60;

/** Everything that the contract exposes. */
async function contents(store: Store): Promise<unknown> {
  const ids = ['i', 'j', 'k'];
  return {
    instances: await Promise.all(ids.map((id) => store.getInstance(id))),
    list: await store.listInstances({ filter: {}, after: null, limit: 10 }),
    history: await Promise.all(ids.map((id) => store.readHistory(id, 0, 10))),
    definitions: await store.listDefinitions(null, 10),
    scripts: await store.listStepScripts(null, 10),
    subscriptions: await Promise.all(
      ['paid/7', 'paid/8'].map((nameKey) => store.findSubscriptions(nameKey, 100, null, 10)),
    ),
    events: await Promise.all(['e', 'f', 'g'].map((id) => store.getEvent(id))),
    nodes: await store.listNodes(),
    unsettled: await store.findUnsettledActivities(100, 10),
    statistics: await store.statistics(),
    // Claiming everything shows every remaining item, in the order of the queue.
    queue: await emptyQueue(store),
  };
}

async function emptyQueue(store: Store): Promise<unknown[]> {
  const items: unknown[] = [];
  for (const name of ['ship', 'pack']) {
    for (;;) {
      const claim = claimBy('last', 1000);
      const item = await store.claimActivity({ name, now: 100, claim, deferMs: 1000 });
      if (item === null) break;
      items.push(item);
    }
  }
  return items;
}

interface Modelled {
  readonly title: string;
  readonly runs: number;
  readonly store: Store;
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

async function openSqlite(): Promise<Modelled> {
  const directory = await mkdtemp(join(tmpdir(), 'stepwright-model-'));
  const path = join(directory, 'model.db');
  const store = createSqliteStore({ path });
  await store.start();
  const connection = new DatabaseSync(path, { timeout: 5000 });
  const tables = connection.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  const emptyTables = tables.map(({ name }) => `DELETE FROM ${String(name)};`).join(' ');
  return {
    title: 'SQLite',
    runs: RUNS,
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
    runs: RUNS_OVER_THE_NETWORK,
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
  'returns the same results on the $title store as on the memory store',
  { timeout: IS_NIGHTLY ? 2_400_000 : 240_000 },
  async ({ clear, runs, store }) => {
    const property = fc.asyncProperty(
      fc.array(anyOperation, { maxLength: OPERATIONS_MAX, size: 'max' }),
      async (steps) => {
        const memory = createMemoryStore();
        await clear();
        for (const run of steps) expect(await run(store)).toEqual(await run(memory));
        expect(await contents(store)).toEqual(await contents(memory));
      },
    );
    await fc.assert(property, propertyRuns(runs));
  },
);
