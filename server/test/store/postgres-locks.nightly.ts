/**
 * Goal: statements that wait for a lock end in time, so that they do not accumulate; other rows stay usable, also for
 * operations that shared a statement with one that waits.
 * Method: another session holds the lock of a row, on the database itself and through poolers that pass no settings on.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import {
  startTestPooler,
  type SettingsHandling,
  type TestPooler,
} from '../postgres/support/test-pooler.js';
import { postgresForTests, valueOn } from '../support/postgres-container.js';
import { commitOf, eventOf, instanceOf, NO_SIDE } from './records.js';
import { openTestSchema, type TestSchema } from './support/postgres-schema.js';

const postgres = await postgresForTests();
const NAME = 'locks';
/** Long enough for a busy machine, and far below the statement timeout. */
const OPERATION_TIMEOUT_MS = 6000;
const WAITING = `
SELECT count(*)::int AS value FROM pg_stat_activity WHERE application_name = '${NAME}' AND wait_event_type = 'Lock'`;

const ROUTES: readonly (readonly [string, SettingsHandling | null])[] = [
  ['the database', null],
  ['a pooler that refuses settings', 'refuses'],
  ['a pooler that ignores settings', 'ignores'],
];

describe.skipIf(postgres === null).each(ROUTES)('a row lock behind %s', (_, handling) => {
  const url = postgres?.url ?? '';
  let schema: TestSchema;
  let pooler: TestPooler | null = null;
  let store: Store;
  const statements: string[] = [];
  beforeAll(async () => {
    schema = await openTestSchema(url);
    const address = new URL(schema.url);
    address.searchParams.set('application_name', NAME);
    if (handling !== null) {
      pooler = await startTestPooler(address, handling);
      address.host = pooler.host;
    }
    store = createPostgresStore({
      url: address.href,
      operationTimeoutMs: OPERATION_TIMEOUT_MS,
      poolMax: 3,
      onStatement: (text) => void statements.push(text),
    });
    await store.start();
  });
  afterAll(async () => {
    await store.stop();
    await pooler?.stop();
    await schema.drop();
  });

  /** While another session holds the locks of these instances. */
  async function whileLocked(ids: readonly string[], run: () => Promise<void>): Promise<void> {
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(`SELECT FROM "${schema.name}".instances WHERE id = ANY($1) FOR UPDATE`, [
        ids,
      ]);
      await run();
    } finally {
      await holder.end();
    }
  }

  it('ends the waiting statements, and leaves their connections and other rows usable', async () => {
    const [locked, taken, free] = [instanceOf('locked'), instanceOf('taken'), instanceOf('free')];
    for (const record of [locked, taken, free]) {
      await store.insertInstance({ record, side: NO_SIDE });
    }
    await whileLocked(['locked', 'taken'], async () => {
      const commit = store.commitInstance(commitOf(locked));
      const claim = store.claimInstance({ id: 'taken', epoch: 1, owner: 'me', suspected: false });
      const failures = Promise.all(
        [commit, claim].map((operation) => expect(operation).rejects.toThrow('lock timeout')),
      );
      await expect.poll(() => valueOn(url, WAITING), POLL).toBe(2);
      expect(await store.commitInstance(commitOf(free))).toBe('committed');
      await failures;
      await expect(commit).rejects.toBeInstanceOf(StoreUnavailableError);
      // The lock is still held.
      expect(await valueOn(url, WAITING)).toBe(0);
    });
    const sentBefore = statements.length;
    expect(await store.commitInstance(commitOf(locked))).toBe('committed');
    // A search for the server would read its settings.
    expect(statements.length - sentBefore).toBe(handling === null ? 1 : 3);
  });

  it('fails no event of other instances that shares its statement', async () => {
    const names = ['free 1', 'held 1', 'free 2', 'held 2', 'free 3'];
    for (const name of names) {
      const subscription = { id: name, instanceId: name, nameKey: name, effectiveAt: 0 };
      await store.insertInstance({
        record: instanceOf(name),
        side: { ...NO_SIDE, subscriptions: [subscription] },
      });
    }
    const isFree = (name: string): boolean => name.startsWith('free');
    const publish = (name: string) =>
      store.insertEvent(eventOf(name, { nameKey: name, publishedAt: 1 }), { id: name, body: '{}' });
    await whileLocked(['held 1', 'held 2'], async () => {
      // While the first one is in flight, the others wait for each other.
      const results = await Promise.allSettled(['nobody', ...names].map(publish));
      const free = names.filter(isFree);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1 + free.length);
      for (const name of free) {
        expect((await store.getInstance(name))?.inbox).toEqual([{ id: name, body: '{}' }]);
      }
    });
    for (const name of names) {
      const { outcome } = await publish(name);
      expect(outcome).toBe(isFree(name) ? 'exists' : 'inserted');
    }
  });
});

const POLL = { timeout: OPERATION_TIMEOUT_MS / 2 };
