/**
 * Goal: a long input that belongs to no instance does not stay, and is never shown.
 * Method: starts that are refused after others, and starts whose process dies between the input and the instance.
 */
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectionsOf } from '../../src/store/mongo/collections.js';
import { sweepInputs, withInput } from '../../src/store/mongo/inputs.js';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import { mongoForTests } from '../support/mongo-container.js';
import { instanceOf, NO_SIDE } from './records.js';

const mongo = await mongoForTests();
const LONG = 'x'.repeat(100_000);
const CALLERS = 20;

describe.skipIf(mongo === null)('long inputs on MongoDB', () => {
  const url = mongo?.url ?? 'mongodb://127.0.0.1';
  const client = new MongoClient(url);
  const databaseName = `inputs-${randomUUID()}`;
  const collections = collectionsOf(client.db(databaseName));
  const options = { url, databaseName, operationTimeoutMs: 20_000 };
  const store = createMongoStore(options);
  const other = createMongoStore(options);
  beforeAll(async () => {
    await client.connect();
    await store.start();
    await other.start();
  });
  afterAll(async () => {
    await Promise.all([store.stop(), other.stop()]);
    await client.db(databaseName).dropDatabase();
    await client.close();
  });

  const insertOf = (id: string, { input = LONG, reference = 'r' } = {}) => ({
    record: instanceOf(id, { reference, requestHash: 'h', lastChangeAt: 50 }),
    side: NO_SIDE,
    input,
  });

  it('removes the inputs of lost starts', async () => {
    const same = Array.from({ length: CALLERS }, () => insertOf('same'));
    const rivals = Array.from({ length: CALLERS }, (_, n) => ({
      ...insertOf(`rival-${n}`, { reference: 's' }),
      conflict: { action: 'refuse' as const },
    }));
    await Promise.all(
      [...same, ...rivals].map((insert, n) => (n % 2 === 0 ? store : other).insertInstance(insert)),
    );
    expect(await collections.instances.countDocuments()).toBe(2);
    expect(await collections.inputs.countDocuments()).toBe(2);
    expect(await store.getInput('same')).toBe(LONG);
  });

  it("sweeps the input of an interrupted start, and doesn't show it for a later start", async () => {
    await collections.inputs.deleteMany({});
    // The process dies before it inserts the instance.
    await withInput(collections, insertOf('later', { input: `${LONG}!` }));
    await store.insertInstance(insertOf('later'));
    expect(await store.getInput('later')).toBe(LONG);
    expect(await collections.inputs.countDocuments()).toBe(2);
    const position = { after: null };
    await sweepInputs(collections, position, { before: 50, limit: 10 });
    expect(await collections.inputs.countDocuments()).toBe(2);
    // Each call looks at one.
    await sweepInputs(collections, position, { before: 51, limit: 1 });
    await sweepInputs(collections, position, { before: 51, limit: 1 });
    expect(await collections.inputs.countDocuments()).toBe(1);
    expect(await store.getInput('later')).toBe(LONG);
  });
});
