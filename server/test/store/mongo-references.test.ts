/**
 * Goal: a start with a conflict rule finds the instance that counts by an index (rule S7), and a claim stays as long as the instance
 * that it stands for (RC3).
 * Method: many instances with one reference; the server explains what the store asks.
 */
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectionsOf } from '../../src/store/mongo/collections.js';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import {
  claimAndInsert,
  readClaim,
  removeOldClaims,
} from '../../src/store/mongo/reference-claims.js';
import { instanceDocumentOf } from '../../src/store/mongo/instance-documents.js';
import { IN_ORDER, withPlace } from '../../src/store/mongo/places.js';
import { keptOf, openOf } from '../../src/store/mongo/named-instances.js';
import { mongoForTests } from '../support/mongo-container.js';
import { instanceOf, NO_SIDE } from './records.js';

const mongo = await mongoForTests();
const MANY = 2000;

describe.skipIf(mongo === null)('references of starts on MongoDB', () => {
  const url = mongo?.url ?? 'mongodb://127.0.0.1';
  const client = new MongoClient(url);
  const databaseName = `references-${randomUUID()}`;
  const collections = collectionsOf(client.db(databaseName));
  const store = createMongoStore({ url, databaseName, operationTimeoutMs: 20_000 });
  beforeAll(async () => {
    await client.connect();
    await store.start();
  });
  afterAll(async () => {
    await store.stop();
    await client.db(databaseName).dropDatabase();
    await client.close();
  });

  it.each([
    ['open', openOf, 'reference_1_definitionId_1_startTime_-1__id_-1'],
    ['kept', keptOf, 'definitionId_1_reference_1_startTime_-1__id_-1'],
  ] as const)('finds the reference of %s instances with an index', async (scope, find, index) => {
    const ended = { status: 'Complete', endTime: 5, outcome: 'Succeeded' } as const;
    const documents = Array.from({ length: MANY }, (_, n) => {
      const definitionId = n % 2 === 0 ? 'order' : 'other';
      return instanceDocumentOf(
        instanceOf(`${scope}-${n}`, { definitionId, reference: scope, startTime: n, ...ended }),
      );
    });
    await collections.instances.insertMany(documents);
    const explained: unknown = await find(collections, { definitionId: 'order', reference: scope })
      .limit(1)
      .explain('queryPlanner');
    const plan = JSON.stringify(explained);
    expect(plan).toContain(`"${index}"`);
    expect(plan).not.toContain('COLLSCAN');
  });

  it('finds the places of a key with an index', async () => {
    const documents = Array.from({ length: MANY }, (_, n) => {
      const place = n % 2 === 0 ? 'held' : 'waiting';
      const concurrencyKey = n % 20 < 2 ? 'k' : 'other';
      const changes = { concurrencyKey, place, countsFrom: n, queued: n % 2 === 1 } as const;
      return instanceDocumentOf(instanceOf(`placed-${n}`, { definitionId: 'placed', ...changes }));
    });
    await collections.instances.insertMany(documents);
    for (const place of ['held', 'waiting'] as const) {
      const filter = withPlace({ definitionId: 'placed', key: 'k' }, place);
      const found = collections.instances.find(filter).sort(IN_ORDER).limit(5);
      const plan = JSON.stringify(await found.explain('queryPlanner'));
      expect(plan).toContain(
        '"definitionId_1_concurrencyKey_1_place_1_queued_1_priority_1_countsFrom_1__id_1"',
      );
      expect(plan).not.toMatch(/COLLSCAN|"stage":"SORT"/);
    }
  });

  it('rejects the claim of a slow start while the instance of another is kept', async () => {
    const documentOf = (id: string) =>
      instanceDocumentOf(instanceOf(id, { status: 'Complete', endTime: 1, lastChangeAt: 1 }));
    const sweep = { before: 100, limit: 1 };
    const key = 'slow';
    // Nobody has claimed it, and there is no instance.
    const claim = await readClaim(collections, key);
    expect(claim).toEqual({ key, token: null });
    const fast = { at: 1, instance: documentOf('fast') };
    expect(await claimAndInsert(collections, [claim], fast)).toBe(true);
    const position = { after: null };
    for (let n = 0; n < 3; n += 1) await removeOldClaims(collections, position, sweep);
    const slow = { at: 2, instance: documentOf('slow') };
    expect(await claimAndInsert(collections, [claim], slow)).toBe(false);
    // When the instance is gone, so is the claim.
    await collections.instances.deleteOne({ _id: 'fast' });
    for (let n = 0; n < 3; n += 1) await removeOldClaims(collections, position, sweep);
    expect(await collections.referenceClaims.findOne({ _id: key })).toBeNull();
    expect(await claimAndInsert(collections, [claim], slow)).toBe(true);
  });

  it('sweeps old claims past claims that remain', async () => {
    await collections.referenceClaims.deleteMany({});
    const conflict = { action: 'refuse' } as const;
    for (const [n, id] of ['a', 'b', 'c', 'd'].entries()) {
      const record = instanceOf(id, { reference: id, lastChangeAt: n });
      await store.insertInstance({ record, side: NO_SIDE, conflict });
    }
    await collections.instances.deleteOne({ _id: 'd' });
    const position = { after: null };
    for (let n = 0; n < 4; n += 1) {
      await removeOldClaims(collections, position, { before: 100, limit: 1 });
    }
    expect(await collections.referenceClaims.countDocuments()).toBe(3);
  });
});
