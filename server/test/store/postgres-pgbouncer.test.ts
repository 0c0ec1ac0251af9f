/**
 * Goal: the store keeps no state in sessions of the database, so that PgBouncer can pool in transaction mode.
 * Method: the contract, through a real PgBouncer with few sessions; without one these cases are skipped with a prominent
 * message. `test-pooler.ts` replaces it in other tests.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { HAS_PGBOUNCER, startPgBouncer, type PgBouncer } from '../postgres/support/pgbouncer.js';
import { postgresForTests } from '../support/postgres-container.js';
import { describeStore, type StoreFixture } from './conformance.js';
import { openTestSchema } from './support/postgres-schema.js';

const postgres = await postgresForTests();
if (!HAS_PGBOUNCER) {
  console.warn('*** PgBouncer is NOT COVERED by this test run: there is no `pgbouncer` ***');
}

describe.skipIf(postgres === null || !HAS_PGBOUNCER)('PostgreSQL through PgBouncer', () => {
  let pooler: PgBouncer;
  beforeAll(async () => {
    pooler = await startPgBouncer(postgres?.url ?? '');
  });
  afterAll(() => pooler.stop());

  const pooled = (schemaUrl: string): string => {
    const url = new URL(schemaUrl);
    const { host } = new URL(pooler.url);
    url.host = host;
    return url.href;
  };

  describeStore('the PostgreSQL store', async (): Promise<StoreFixture> => {
    const schema = await openTestSchema(postgres?.url ?? '');
    const options = { url: pooled(schema.url), operationTimeoutMs: 20_000 };
    const [store, other] = [createPostgresStore(options), createPostgresStore(options)];
    await store.start();
    return {
      store,
      open: async () => {
        await other.start();
        return other;
      },
      clear: () => schema.clear(),
      close: async () => {
        await Promise.all([store.stop(), other.stop()]);
        await schema.drop();
      },
    };
  });

  it('executes the frequent statements more often than it takes to prepare them', async () => {
    const schema = await openTestSchema(postgres?.url ?? '');
    const options = { url: pooled(schema.url), operationTimeoutMs: 20_000 };
    const stores = [createPostgresStore(options), createPostgresStore(options)];
    for (const store of stores) await store.start();
    try {
      for (let n = 0; n < 60; n += 1) {
        // Several at once use several sessions, each of which knows other statements.
        const found = await Promise.all(
          stores.flatMap((store) => [store.getInstance('x'), store.findDueInstances(n, 5)]),
        );
        expect(found).toEqual([null, [], null, []]);
      }
    } finally {
      for (const store of stores) await store.stop();
      await schema.drop();
    }
  });
});
