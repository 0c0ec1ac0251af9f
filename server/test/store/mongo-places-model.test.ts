/**
 * Goal: MongoDB grants, counts and refuses places as the memory store does (rule S14), for any sequence of operations.
 * Method: random sequences over few ids and keys, without those whose results differ between the stores; every result and every
 * instance at the end must be equal.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import type { ConflictRule } from '../../src/store/records/instances.js';
import { mongoForTests } from '../support/mongo-container.js';
import { propertyRuns } from '../support/property-runs.js';
import { commitOf, instanceOf, NO_SIDE } from './records.js';
import { inPlace, PLACE_OPERATIONS, placed } from './support/random-place-operations.js';
import { optional, priority, reference, type Step } from './support/random-values.js';

const RUNS = 40;
const OPERATIONS_MAX = 40;
const IDS = ['i', 'j', 'k', 'l', 'm'];

const audit = { time: 9000, actor: 'a', detail: null } as const;
const TERMINATE: ConflictRule = { action: 'terminate', audit: { ...audit, action: 'terminate' } };
const id = fc.constantFrom(...IDS);

const operation: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({
      id,
      status: fc.constantFrom('Runnable', 'Runnable', 'Suspended'),
      queued: fc.boolean(),
      reference: optional(reference),
      conflict: fc.constantFrom(null, { action: 'refuse' } as const, TERMINATE),
      inserted: placed,
    })
    .map(({ conflict, inserted, ...changes }): Step => async (store) => {
      const record = instanceOf(changes.id, changes);
      const insert = { record, side: NO_SIDE, ...(conflict !== null && { conflict }) };
      const result = await store.insertInstance(inPlace(insert, inserted));
      // Not all stores look at the events in the same step, or say that none was terminated.
      return { terminated: [], ...result, noEvents: undefined };
    }),
  fc.tuple(id, fc.boolean()).map(([begun, ends]): Step => async (store) => {
    const record = await store.getInstance(begun);
    if (record?.status !== 'Runnable' || record.concurrencyKey === null) return null;
    const end = { status: 'Complete', endTime: 9000, outcome: 'Succeeded' } as const;
    const begin = { queued: false, takesPlace: true, ...(ends && end) } as const;
    return store.commitInstance(commitOf(record, begin));
  }),
  fc.tuple(id, fc.constantFrom('suspend', 'resume', 'terminate')).map(
    ([controlled, action]): Step =>
      (store) =>
        store.controlInstance(controlled, action, 9000),
  ),
  fc.tuple(id, priority).map(
    ([moved, wanted]): Step =>
      (store) =>
        store.setPriority(moved, wanted, { ...audit, action: 'set-priority' }),
  ),
  ...PLACE_OPERATIONS,
);

const mongo = await mongoForTests();

describe.skipIf(mongo === null)('places on MongoDB', () => {
  const url = mongo?.url ?? 'mongodb://127.0.0.1';
  const client = new MongoClient(url);
  const database = client.db(`places-${randomUUID()}`);
  const store = createMongoStore({ url, databaseName: database.databaseName });
  beforeAll(async () => {
    await client.connect();
    await store.start();
  });
  afterAll(async () => {
    await store.stop();
    await database.dropDatabase();
    await client.close();
  });

  it('returns the same results as the memory store', { timeout: 240_000 }, async () => {
    const property = fc.asyncProperty(
      fc.array(operation, { maxLength: OPERATIONS_MAX, size: 'max' }),
      async (steps) => {
        const memory = createMemoryStore();
        for (const { name } of await database.listCollections().toArray()) {
          await database.collection(name).deleteMany({});
        }
        for (const run of steps) expect(await run(store)).toEqual(await run(memory));
        for (const each of IDS) {
          expect(await store.getInstance(each)).toEqual(await memory.getInstance(each));
        }
      },
    );
    await fc.assert(property, propertyRuns(RUNS));
  });
});
