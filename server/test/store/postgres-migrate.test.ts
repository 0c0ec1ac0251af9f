/**
 * Goal: many nodes can create the tables at the same time; an older server does not start on newer tables; and the store
 * works behind a pooler that forgets prepared statements.
 * Method: a real server, and a schema for each test.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPostgresAddress } from '../../src/postgres/address.js';
import { PostgresServers } from '../../src/postgres/servers.js';
import { Outage } from '../../src/store/outage.js';
import { createActivityClaimGroup } from '../../src/store/postgres/activity-queue.js';
import { Connections } from '../../src/store/postgres/connect.js';
import { Database } from '../../src/store/postgres/database.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { MIGRATIONS } from '../../src/store/postgres/migrations/all-migrations.js';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { postgresForTests } from '../support/postgres-container.js';
import { commitOf, instanceOf, NO_SIDE } from './records.js';
import { openTestSchema, type TestSchema } from './support/postgres-schema.js';

const TIMEOUT_MS = 20_000;
const SESSIONS = 8;
const MANY_USES = 50;
const postgres = await postgresForTests();

async function openDatabase(
  schema: TestSchema,
  poolMax: number,
): Promise<{ readonly database: Database; readonly connections: Connections }> {
  const servers = new PostgresServers({
    address: readPostgresAddress(schema.url),
    databaseName: 'postgres',
    passwordFile: null,
    connectTimeoutMs: TIMEOUT_MS,
    limits: null,
  });
  await servers.find();
  const connections = new Connections({ servers, poolMax });
  const outage = new Outage(TIMEOUT_MS);
  const options = { connections, schema: schema.name, outage, timeoutMs: TIMEOUT_MS };
  return { database: new Database(options), connections };
}

describe.skipIf(postgres === null)('the PostgreSQL schema', () => {
  let schema: TestSchema;
  beforeEach(async () => {
    schema = await openTestSchema(postgres?.url ?? '');
  });
  afterEach(() => schema.drop());

  it('is created once by sessions that all found nothing before', async () => {
    const opened = await Promise.all(
      Array.from({ length: SESSIONS }, () => openDatabase(schema, 1)),
    );
    const look = `SELECT to_regclass('"${schema.name}".migrations')::text AS found`;
    for (const { database } of opened) {
      expect((await database.query(look))[0]?.textOrNull('found')).toBeNull();
    }
    await Promise.all(opened.map(({ database }) => migrate(database, schema.name)));
    const [applied] = await opened[0]!.database.query('SELECT count(*) AS count FROM @migrations');
    expect(applied?.number('count')).toBe(MIGRATIONS.length);
    for (const { connections } of opened) await connections.close();
  });

  it('prevents an older server from starting', async () => {
    const store = createPostgresStore({ url: schema.url, operationTimeoutMs: TIMEOUT_MS });
    await store.start();
    await store.stop();
    await schema.client.query(
      `INSERT INTO "${schema.name}".migrations VALUES (${MIGRATIONS.length + 1}, 'later', now())`,
    );
    await expect(store.start()).rejects.toThrow(/newer version of the server/);
  });

  /** A database of a server that knew only the first migrations. */
  async function openEarlier(migrations: number): ReturnType<typeof openDatabase> {
    const opened = await openDatabase(schema, 1);
    const { database } = opened;
    await schema.client.query(`CREATE SCHEMA "${schema.name}"`);
    await database.execute(
      'CREATE TABLE @migrations (version int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL)',
    );
    for (const { name, statements, version } of MIGRATIONS.slice(0, migrations)) {
      for (const statement of statements) await database.execute(statement);
      const text = 'INSERT INTO @migrations VALUES ($1, $2, now())';
      await database.queryByValues(text, [version, name]);
    }
    return opened;
  }

  it('keeps the content of an earlier version, while nodes of that version still write', async () => {
    const { connections, database } = await openEarlier(7);
    await database.execute(`
      INSERT INTO @instances (id, definition_id, version, status, start_time, last_change_at, error_at, failure_key, failure,
                              epoch, in_seq, revision, under_way, crashes, schema_version, state)
      VALUES ('open', 'order', 1, 'Runnable', 1000, 1000, 1200, 'k', '["pay","T","m"]', 1, 0, 1, false, 0, 1, '{}')`);
    const store = createPostgresStore({ url: schema.url, operationTimeoutMs: TIMEOUT_MS });
    await store.start();
    const failure = { key: 'k', stepId: 'pay', type: 'T', message: 'm' };
    const open = instanceOf('open', { errorAt: 1200, failure });
    const firstAt = async () => {
      const { counts } = await store.countFailures({ filter: {}, now: 2000, after: null });
      return counts.map((count) => count.firstAt);
    };
    expect(await store.getInstance('open')).toEqual(open);
    expect(await firstAt()).toEqual([1200]);
    const again = { errorAt: 1300, failingSince: 1200, failure };
    expect(await store.commitInstance(commitOf(open, again))).toBe('committed');
    expect(await firstAt()).toEqual([1200]);
    // What a node of the earlier version writes after another failure: it does not know the new columns.
    await database.execute(
      `UPDATE @instances SET error_at = 1400, failure_key = 'l' WHERE id = 'open'`,
    );
    expect(await store.getInstance('open')).toMatchObject({ errorAt: 1400, failingSince: null });
    expect(await firstAt()).toEqual([1400]);
    await store.stop();
    await connections.close();
  });

  it('keeps runs from before there were queues, and those that such nodes still start', async () => {
    const { connections, database } = await openEarlier(9);
    const insertOpen = (id: string, startTime: number) =>
      database.execute(`
        INSERT INTO @instances (id, definition_id, version, reference, status, start_time, last_change_at, epoch, in_seq,
                                revision, under_way, crashes, schema_version, priority, state)
        VALUES ('${id}', 'order', 1, 'r', 'Runnable', ${startTime}, ${startTime}, 1, 0, 1, false, 0, 1, 2, '{}')`);
    await insertOpen('open', 1000);
    const store = createPostgresStore({ url: schema.url, operationTimeoutMs: TIMEOUT_MS });
    await store.start();
    const open = instanceOf('open', { reference: 'r', priority: 2 });
    expect(await store.getInstance('open')).toEqual(open);
    const record = instanceOf('next', { reference: 'r', startTime: 3000, queued: true });
    const conflict = { action: 'queue', queued: true } as const;
    const inserted = await store.insertInstance({ record, side: NO_SIDE, conflict });
    expect(inserted).toMatchObject({ outcome: 'inserted' });
    await insertOpen('other', 2000);
    expect(await store.getInstance('other')).toMatchObject({ queued: false, countsFrom: null });
    expect(await store.getInstance('other')).toMatchObject({ concurrencyKey: null, place: null });
    const held = { concurrencyKey: 'k', place: 'held', countsFrom: 3000 } as const;
    const places = { limit: 1, maxQueued: null };
    const first = { record: instanceOf('held', held), side: NO_SIDE, places };
    expect(await store.insertInstance(first)).toMatchObject({ outcome: 'inserted' });
    const second = { ...first, record: instanceOf('more', held) };
    expect(await store.insertInstance(second)).toEqual({ outcome: 'no-place', holders: ['held'] });
    const place = { definitionId: 'order', reference: 'r', id: 'next', at: 3000 };
    expect(await store.findPredecessor(place)).toBe('other');
    const page = { filter: { queued: true }, after: null, limit: 5 } as const;
    expect((await store.listInstances(page)).items).toMatchObject([{ id: 'next' }]);
    await store.stop();
    await connections.close();
  });

  it('has numbered migrations without gaps', () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, n) => n + 1));
  });
});

describe.skipIf(postgres === null)('a frequent statement', () => {
  it('is repeated without its name when the session has lost it', async () => {
    const schema = await openTestSchema(postgres?.url ?? '');
    const { connections, database } = await openDatabase(schema, 1);
    const square = async (n: number): Promise<number | undefined> =>
      (await database.query('SELECT $1::int * $1::int AS square', [n]))[0]?.number('square');
    const preparedCount = async (): Promise<number | undefined> => {
      const text = 'SELECT count(*) AS count FROM pg_prepared_statements';
      return (await database.queryByValues(text, []))[0]?.number('count');
    };
    for (let n = 0; n < MANY_USES; n += 1) expect(await square(n)).toBe(n * n);
    expect(await preparedCount()).toBe(1);
    // As a pooler does that gives the next statement to another session.
    await database.execute('DEALLOCATE ALL');
    for (let n = 0; n < MANY_USES; n += 1) expect(await square(n)).toBe(n * n);
    expect(await preparedCount()).toBe(0);
    await connections.close();
    await schema.drop();
  });

  it('is prepared on the server, including the claim of an activity', async () => {
    const schema = await openTestSchema(postgres?.url ?? '');
    const { connections, database } = await openDatabase(schema, 1);
    await migrate(database, schema.name);
    const claims = createActivityClaimGroup(database);
    for (let n = 0; n < MANY_USES; n += 1) {
      const claim = { tokenHash: `t${n}`, workerId: 'w', leaseExpiresAt: 9000 };
      expect(await claims.submit({ name: 'none', now: 1000, claim, deferMs: 1000 })).toBeNull();
    }
    const [prepared] = await database.queryByValues(
      `SELECT generic_plans + custom_plans AS uses FROM pg_prepared_statements
        WHERE statement LIKE '%FOR UPDATE SKIP LOCKED%' AND name LIKE 'stepwright%'`,
      [],
    );
    expect(prepared?.number('uses')).toBeGreaterThan(MANY_USES / 2 - 1);
    await connections.close();
    await schema.drop();
  });
});
