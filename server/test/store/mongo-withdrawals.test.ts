/**
 * Goal: no claim takes an item that was withdrawn, or changes where it is found, at whatever point the claim was.
 * Method: claims on a real server, during which the item is withdrawn at a chosen point.
 */
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withdrawActivities } from '../../src/store/mongo/activities.js';
import { claimActivity } from '../../src/store/mongo/activity-queue.js';
import { CandidateFinder } from '../../src/store/mongo/candidate-finder.js';
import { collectionsOf } from '../../src/store/mongo/collections.js';
import { instanceDocumentOf } from '../../src/store/mongo/instance-documents.js';
import type { MongoContext } from '../../src/store/mongo/mongo-context.js';
import { activityDocumentOf, attemptOf } from '../../src/store/mongo/side-records.js';
import { mongoForTests } from '../support/mongo-container.js';
import { activityOf, claimBy, instanceOf } from './records.js';

const mongo = await mongoForTests();
const url = mongo?.url ?? 'mongodb://127.0.0.1';
const ID = 'i/1/0';

describe.skipIf(mongo === null)('a claim on MongoDB', () => {
  const client = new MongoClient(url);
  const database = client.db(`withdrawals-${randomUUID()}`);
  const collections = collectionsOf(database);
  const candidates = new CandidateFinder(collections);
  // Claims and withdrawals use nothing else of it.
  const context = { ...collections, candidates } as MongoContext;
  beforeAll(() => client.connect());
  beforeEach(async () => {
    for (const collection of await database.collections()) await collection.deleteMany({});
  });
  afterAll(async () => {
    await database.dropDatabase();
    await client.close();
  });

  const withdraw = () => withdrawActivities(context, [[ID]]);
  const claimOn = (changed: Partial<MongoContext>) =>
    claimActivity({ ...context, ...changed }, [
      { name: 'ship', now: 2000, claim: claimBy('w'), deferMs: 500 },
    ]);
  async function offer(status: 'Runnable' | 'Suspended'): Promise<void> {
    await collections.instances.insertOne(instanceDocumentOf(instanceOf('i', { status })));
    const item = activityDocumentOf(activityOf(ID, 'i'), attemptOf({ epoch: 1, inSeq: 0 }));
    await collections.activities.insertOne(item);
  }
  const unheld = { availableAt: 1000, deferred: false, settled: true, tokenHash: null, attempt: 0 };
  const stored = () => collections.activities.findOne({ _id: ID });

  it("doesn't take an item that was withdrawn after it was found", async () => {
    await offer('Runnable');
    const find: CandidateFinder['find'] = async (request) => {
      const found = await candidates.find(request);
      if (found !== null) await withdraw();
      return found;
    };
    expect(await claimOn({ candidates: { find } as CandidateFinder })).toBeNull();
    expect(await stored()).toMatchObject(unheld);
  });

  it("doesn't defer an item that was withdrawn before it's put back", async () => {
    await offer('Suspended');
    let withdrawing: ReturnType<typeof withdraw> | undefined;
    const withdrawOnce = () => (withdrawing ??= withdraw());
    const instances = new Proxy(collections.instances, {
      get: (target, member) =>
        member === 'findOne'
          ? async (...args: Parameters<typeof target.findOne>) => {
              await withdrawOnce();
              return target.findOne(...args);
            }
          : (Reflect.get(target, member) as unknown),
    });
    expect(await claimOn({ instances })).toBeNull();
    expect(await stored()).toMatchObject(unheld);
  });
});
