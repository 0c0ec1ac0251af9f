/**
 * Goal: MongoDB takes, grants and counts slots as the memory store does (rule S15), for any sequence of operations.
 * Method: random sequences over few ids, limits and keys; every result must be equal, and the use of all limits at the end.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import { mongoForTests } from '../support/mongo-container.js';
import { propertyRuns } from '../support/property-runs.js';
import { SLOT_OPERATIONS } from './support/random-held-slots.js';

const RUNS = 40;
const OPERATIONS_MAX = 50;
const AT = 12;

const mongo = await mongoForTests();

describe.skipIf(mongo === null)('slots on MongoDB', () => {
  const url = mongo?.url ?? 'mongodb://127.0.0.1';
  const client = new MongoClient(url);
  const database = client.db(`slots-${randomUUID()}`);
  const store = createMongoStore({
    url,
    databaseName: database.databaseName,
    operationTimeoutMs: 20_000,
  });
  beforeAll(async () => {
    await client.connect();
    await store.start();
  });
  afterAll(async () => {
    await store.stop();
    await database.dropDatabase();
    await client.close();
  });

  it('returns the same results as the memory store', { timeout: 400_000 }, async () => {
    const property = fc.asyncProperty(
      fc.array(fc.oneof(...SLOT_OPERATIONS), { maxLength: OPERATIONS_MAX, size: 'max' }),
      async (steps) => {
        const memory = createMemoryStore();
        for (const { name } of await database.listCollections().toArray()) {
          await database.collection(name).deleteMany({});
        }
        for (const run of steps) expect(await run(store)).toEqual(await run(memory));
        const limits = ['api', 'db'];
        expect(await store.countSlots(limits, AT)).toEqual(await memory.countSlots(limits, AT));
      },
    );
    await fc.assert(property, propertyRuns(RUNS));
  });
});
