/**
 * Goal: the store on PostgreSQL keeps the contract.
 * Method: a real server, in a container or named by TEST_POSTGRES; without one these cases are skipped with a prominent
 * message.
 */
import { describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { postgresForTests, valueOn } from '../support/postgres-container.js';
import { describeStore, type StoreFixture } from './conformance.js';
import { openTestSchema } from './support/postgres-schema.js';

const postgres = await postgresForTests();

describe.skipIf(postgres === null)('a PostgreSQL server', () => {
  describeStore('the PostgreSQL store', async (): Promise<StoreFixture> => {
    const schema = await openTestSchema(postgres?.url ?? '');
    // Two processes run tests on this machine; the timeouts for production are not under test here.
    const options = { url: schema.url, operationTimeoutMs: 20_000 };
    const [store, other] = [createPostgresStore(options), createPostgresStore(options)];
    await store.start();
    return {
      store,
      open: async () => {
        await other.start();
        return other;
      },
      strayTerms: async () => {
        const { rows } = await schema.client.query<{ readonly count: number }>(
          `SELECT count(*)::int AS count FROM "${schema.name}".terms AS t
            WHERE NOT EXISTS (SELECT FROM "${schema.name}".instances AS i WHERE i.id = t.instance_id)`,
        );
        return rows[0]!.count;
      },
      clear: () => schema.clear(),
      close: async () => {
        await Promise.all([store.stop(), other.stop()]);
        await schema.drop();
      },
    };
  });

  it('starts again after a start that failed once it had read the time', async () => {
    const schema = await openTestSchema(postgres?.url ?? '');
    const url = new URL(schema.url);
    url.searchParams.set('application_name', schema.name);
    let readings = 0;
    const store = createPostgresStore({
      url: url.href,
      onServerTime: () => {
        readings += 1;
        if (readings === 1) throw new Error('spoiled');
      },
    });
    await expect(store.start()).rejects.toThrow('spoiled');
    await expect(store.ping()).rejects.toThrow('not been started');
    const connections = `SELECT count(*)::int AS value FROM pg_stat_activity WHERE application_name = '${schema.name}'`;
    await expect.poll(() => valueOn(schema.url, connections)).toBe(0);
    await store.start();
    expect(readings).toBeGreaterThan(1);
    await store.ping();
    await store.stop();
    await schema.drop();
  });
});
