/**
 * Goal: the store on PostgreSQL keeps the contract.
 * Method: a real server, in a container or named by TEST_POSTGRES; without one these cases are skipped with a prominent
 * message.
 */
import { describe } from 'vitest';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { postgresForTests } from '../support/postgres-container.js';
import { describeStore, type StoreFixture } from './conformance.js';
import { openTestSchema } from './support/postgres-schema.js';

const postgres = await postgresForTests();

describe.skipIf(postgres === null)('with a server', () => {
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
      clear: () => schema.clear(),
      close: async () => {
        await Promise.all([store.stop(), other.stop()]);
        await schema.drop();
      },
    };
  });
});
