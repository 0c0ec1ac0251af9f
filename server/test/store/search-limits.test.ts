/**
 * Goal: on a database server, searches leave connections for everything else, and the server itself ends those that take too
 * long.
 */
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { collectionsOf } from '../../src/store/mongo/collections.js';
import { timeLimited } from '../../src/store/mongo/time-limited.js';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { StoreUnavailableError } from '../../src/store/store.js';
import { mongoForTests } from '../support/mongo-container.js';
import { postgresForTests, valueOn } from '../support/postgres-container.js';
import { openTestSchema } from './support/postgres-schema.js';

const postgres = await postgresForTests();
const mongo = await mongoForTests();

describe.skipIf(postgres === null)('searches on PostgreSQL', () => {
  it('leaves connections for everything else', async () => {
    const schema = await openTestSchema(postgres?.url ?? '');
    const store = createPostgresStore({ url: schema.url, operationTimeoutMs: 20_000, poolMax: 4 });
    await store.start();
    try {
      await schema.client.query(`BEGIN; LOCK TABLE "${schema.name}".resources`);
      let ended = 0;
      const searches = Array.from({ length: 8 }, () =>
        store.listResources('api-key', null, 10).finally(() => (ended += 1)),
      );
      const locks = `SELECT count(*)::int AS value FROM pg_locks WHERE NOT granted AND relation = '"${schema.name}".resources'::regclass`;
      // Each one waits for the lock, with the connection that it has.
      await expect.poll(() => valueOn(schema.url, locks)).toBe(1);
      expect(await store.getInstance('none')).toBeNull();
      expect(ended).toBe(0);
      await schema.client.query('COMMIT');
      await Promise.all(searches);
    } finally {
      await store.stop();
      await schema.drop();
    }
  });

  it('ends on the server when no caller waits any longer', async () => {
    const schema = await openTestSchema(postgres?.url ?? '');
    const statements: string[] = [];
    const store = createPostgresStore({
      url: schema.url,
      operationTimeoutMs: 1000,
      poolMax: 4,
      onStatement: (text) => void statements.push(text),
    });
    await store.start();
    try {
      // Whoever lists resources waits for a minute.
      await schema.client.query(`
        CREATE FUNCTION "${schema.name}".slow() RETURNS text LANGUAGE sql AS 'SELECT pg_sleep(60)::text';
        ALTER TABLE "${schema.name}".resources RENAME TO resources_of_old;
        CREATE VIEW "${schema.name}".resources AS
          SELECT * FROM "${schema.name}".resources_of_old, LATERAL (SELECT "${schema.name}".slow()) AS waits`);
      await schema.client.query(`INSERT INTO "${schema.name}".resources_of_old
        SELECT (jsonb_populate_record(null::"${schema.name}".resources_of_old,
          '{"kind":"api-key","name":"a","body":"{}","revision":1}')).*`);
      const search = store.listResources('api-key', null, 10);
      await expect(search).rejects.toThrow(StoreUnavailableError);
      const running = `SELECT count(*)::int AS value FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%"${schema.name}".resources%' AND pid <> pg_backend_pid()`;
      await expect.poll(() => valueOn(schema.url, running), { timeout: 10_000 }).toBe(0);
      expect(await store.getInstance('none')).toBeNull();
    } finally {
      await store.stop();
      await schema.drop();
    }
  });
});

describe.skipIf(mongo === null)('searches on MongoDB', () => {
  it('sends the server a time limit with each command', async () => {
    const client = new MongoClient(mongo?.url ?? '', { monitorCommands: true });
    const limits: [string, unknown][] = [];
    client.on('commandStarted', ({ command, commandName }) => {
      limits.push([commandName, command['maxTimeMS']]);
    });
    try {
      const { events } = timeLimited(collectionsOf(client.db(`limits-${randomUUID()}`)), 1234);
      await events.find({ name: 'a' }).sort({ _id: 1 }).toArray();
      await events.findOne({ name: 'a' });
      await events.countDocuments({ name: 'a' });
      await events.aggregate([{ $match: { name: 'a' } }]).toArray();
      expect(limits).toEqual([
        ['find', 1234],
        ['find', 1234],
        ['aggregate', 1234],
        ['aggregate', 1234],
      ]);
    } finally {
      await client.close();
    }
  });
});
