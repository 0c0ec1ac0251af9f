/**
 * Goal: the store on MongoDB keeps the contract, with few commands, and gives up in time when the server is away.
 * Method: a real server, in a container or named by TEST_DBHOST; without one these cases are skipped, loudly.
 */
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { describe } from 'vitest';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import { mongoForTests } from '../support/mongo-container.js';
import { describeStore, type StoreFixture } from './conformance.js';

const mongo = await mongoForTests();
const url = mongo?.url ?? '';

describe.skipIf(mongo === null)('with a server', () => {
  describeStore('the MongoDB store', async (): Promise<StoreFixture> => {
    const databaseName = `store-${randomUUID()}`;
    // Two processes test on this machine at once; the limits for people are not what is tested here.
    const options = { url, databaseName, operationTimeoutMs: 20_000 };
    const stores = [createMongoStore(options), createMongoStore(options)] as const;
    const [store, other] = stores;
    const client = new MongoClient(url);
    const database = client.db(databaseName);
    return {
      store,
      open: async () => {
        await other.start();
        return other;
      },
      clear: async () => {
        // Stopping sends the lazy writes of the case before; the ids in them are used again.
        await Promise.all(stores.map((opened) => opened.stop()));
        for (const collection of await database.collections()) await collection.deleteMany({});
        await store.start();
      },
      close: async () => {
        await Promise.all(stores.map((opened) => opened.stop()));
        await database.dropDatabase();
        await client.close();
      },
    };
  });
});
