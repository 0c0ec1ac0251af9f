/**
 * Goal: operations of two nodes that wait for each other's locks all succeed.
 * Method: a database that, as in production, looks for deadlocks later than a statement gives up waiting. Its planner is told
 * to lock rows in the order of their ids for one store, and in the order of the table for another. A third session holds a
 * row in the middle until both wait for it.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import type { Store } from '../../src/store/store.js';
import {
  createTestDatabase,
  postgresForTests,
  runOn,
  valueOn,
} from '../support/postgres-container.js';
import { instanceOf, NO_SIDE } from './records.js';

const postgres = await postgresForTests();
/**
 * A statement waits for a lock during 30 % of it, and is repeated if 40 % have passed until then. Both wait for the third
 * session first: the time between, 3 s, is what a busy machine has for that.
 */
const OPERATION_TIMEOUT_MS = 30_000;
const POLL = { timeout: OPERATION_TIMEOUT_MS / 10 };

describe.skipIf(postgres === null)('a PostgreSQL store with two deadlocked transactions', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  const stores: Store[] = [];
  const texts: string[][] = [];

  beforeAll(async () => {
    database = await createTestDatabase(postgres?.url ?? '');
    await configure('deadlock_timeout = 60000');
    await configure('enable_mergejoin = off');
    await configure('enable_hashjoin = off');
    await openStore('nested');
    await configure('enable_hashjoin = on');
    await configure('enable_nestloop = off');
    await openStore('hashed');
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.stop()));
    await database.drop();
  });

  /** For connections that are opened from now on. */
  async function configure(setting: string): Promise<void> {
    const name = new URL(database.url).pathname.slice(1);
    await runOn(database.url, `ALTER DATABASE "${name}" SET ${setting}`);
  }

  /** One connection, which has the settings of the moment. */
  async function openStore(name: string): Promise<void> {
    const url = new URL(database.url);
    url.searchParams.set('application_name', name);
    const sent: string[] = [];
    const store = createPostgresStore({
      url: url.href,
      poolMax: 1,
      operationTimeoutMs: OPERATION_TIMEOUT_MS,
      onStatement: (text) => void sent.push(text),
    });
    await store.start();
    stores.push(store);
    texts.push(sent);
  }

  const waiting = (): Promise<number> =>
    valueOn(
      database.url,
      `SELECT count(*)::int AS value FROM pg_stat_activity
        WHERE application_name IN ('nested', 'hashed') AND wait_event_type = 'Lock'`,
    );

  it.each([
    ['groups', ['a', 'm', 'z'].map((id) => [id])],
    ['single operations with several instances', [['a', 'm', 'z']]],
  ])('repeats %s until all succeed', async (kind, calls) => {
    const [nested, hashed] = [stores[0]!, stores[1]!];
    const idOf = (id: string): string => `${kind} ${id}`;
    // In the table, the last one is the first.
    for (const id of ['z', 'm', 'a', 'free']) {
      await nested.insertInstance({ record: instanceOf(idOf(id)), side: NO_SIDE });
    }
    const post = (store: Store, sender: string, ids: readonly string[]) =>
      store.postMessages(
        ids.map((id) => ({ instanceId: idOf(id), message: { id: sender, body: '{}' } })),
      );
    const sentBefore = texts.map((sent) => sent.length);
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    const posts: Promise<unknown>[] = [];
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM stepwright.instances WHERE id = $1 FOR UPDATE', [idOf('m')]);
      for (const [index, store] of [nested, hashed].entries()) {
        // While the first one is in flight, the others wait for each other.
        const all = [['free'], ...calls].map((ids) => post(store, `from ${index}`, ids));
        posts.push(...all);
        await expect.poll(waiting, POLL).toBe(index + 1);
      }
    } finally {
      await holder.end();
    }
    const results = await Promise.allSettled(posts);
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
    // The free one and the group; then one of the groups again, or both.
    const sent = texts.map((each, index) => each.length - sentBefore[index]!);
    expect(Math.max(...sent)).toBeGreaterThan(2);
    for (const id of ['a', 'm', 'z']) {
      const { inbox } = (await nested.getInstance(idOf(id)))!;
      expect(inbox.map((message) => message.id).toSorted()).toEqual(['from 0', 'from 1']);
    }
  });
});
