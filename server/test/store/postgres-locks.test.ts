/**
 * Goal: statements that wait for a lock end in time, so that they do not accumulate, and others are not affected.
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
import { commitOf, instanceOf, NO_SIDE } from './records.js';
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

  it('ends the statements that wait for it; their connections and other rows stay usable', async () => {
    const [locked, free] = [instanceOf('locked'), instanceOf('free')];
    for (const record of [locked, free]) await store.insertInstance({ record, side: NO_SIDE });
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(`SELECT FROM "${schema.name}".instances WHERE id = 'locked' FOR UPDATE`);
      const commit = store.commitInstance(commitOf(locked));
      const claim = store.claimInstance({ id: 'locked', epoch: 1, owner: 'me', suspected: false });
      const failures = Promise.all(
        [commit, claim].map((operation) => expect(operation).rejects.toThrow('lock timeout')),
      );
      await expect.poll(() => valueOn(url, WAITING), POLL).toBe(2);
      expect(await store.commitInstance(commitOf(free))).toBe('committed');
      await failures;
      await expect(commit).rejects.toBeInstanceOf(StoreUnavailableError);
      // The lock is still held.
      expect(await valueOn(url, WAITING)).toBe(0);
    } finally {
      await holder.end();
    }
    const sentBefore = statements.length;
    expect(await store.commitInstance(commitOf(locked))).toBe('committed');
    // A search for the server would read its settings.
    expect(statements.length - sentBefore).toBe(handling === null ? 1 : 3);
  });
});

const POLL = { timeout: OPERATION_TIMEOUT_MS / 2 };
