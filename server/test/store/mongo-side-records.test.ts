/**
 * Goal: the side records of a commit exist afterwards, even if another commit of the same pass loses and removes its
 * own at that very moment (two nodes run one instance while one of them is presumed dead).
 * Method: a real server; the loser removes its records between the two writes with which the winner replaces what it
 * found.
 */
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CandidateFinder } from '../../src/store/mongo/candidate-finder.js';
import { collectionsOf, type Collections } from '../../src/store/mongo/collections.js';
import { CountedInserts } from '../../src/store/counted-inserts.js';
import { KeyedMutex } from '../../src/base/limits/keyed-mutex.js';
import { openDescendantsIn } from '../../src/store/mongo/instances.js';
import { DisabledDefinitions } from '../../src/store/mongo/disabled-definitions.js';
import { groupedWritesOf } from '../../src/store/mongo/grouped-writes.js';
import { LazyWrites } from '../../src/store/mongo/lazy-writes.js';
import type { MongoContext } from '../../src/store/mongo/mongo-context.js';
import { attemptOf, insertSideRecords, takeBack } from '../../src/store/mongo/side-records.js';
import type { SideRecords } from '../../src/store/records/instances.js';
import { mongoForTests } from '../support/mongo-container.js';
import { activityOf } from './records.js';

const mongo = await mongoForTests();

const SIDE: SideRecords = {
  history: [{ instanceId: 'i', sequence: 0, body: '{}' }],
  subscriptions: [{ id: 'i/1/1', instanceId: 'i', nameKey: 'go', effectiveAt: 1 }],
  activities: [activityOf('i/2/1', 'i')],
};

describe.skipIf(mongo === null)('side records of two concurrent commits', () => {
  const client = new MongoClient(mongo?.url ?? 'mongodb://127.0.0.1');
  const database = client.db(`side-${randomUUID()}`);
  const collections = collectionsOf(database);
  const context = contextOf(collections);
  beforeAll(() => client.connect());
  afterAll(async () => {
    await database.dropDatabase();
    await client.close();
  });

  function contextOf(parts: Collections): MongoContext {
    const candidates = new CandidateFinder(parts);
    const readServerTime = (): Promise<void> => Promise.resolve();
    const lazyWrites = new LazyWrites(parts);
    const countedInserts = new CountedInserts(openDescendantsIn(parts));
    const groupedWrites = groupedWritesOf(parts);
    return {
      ...parts,
      candidates,
      readServerTime,
      lazyWrites,
      countedInserts,
      groupedWrites,
      references: new KeyedMutex(),
      inputSweep: { after: null },
      claimSweep: { after: null },
      limitKeySweep: { after: null },
      slotWaitSweep: { after: null },
      disabledDefinitions: new DisabledDefinitions(parts.disabled),
    };
  }

  /** The collection, with a hook before each bulk write. */
  function before<Target extends object>(target: Target, happens: () => Promise<void>): Target {
    return new Proxy(target, {
      get: (_target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]): Promise<unknown> => {
          if (name === 'bulkWrite') await happens();
          return Reflect.apply(member, target, args);
        };
      },
    });
  }

  async function counts(): Promise<number[]> {
    const { activities, history, subscriptions } = collections;
    return Promise.all([
      history.countDocuments(),
      subscriptions.countDocuments(),
      activities.countDocuments(),
    ]);
  }

  it('keeps the side records of the winner, and removes them if the winner loses later', async () => {
    const loser = { ...attemptOf({ epoch: 1, inSeq: 0 }), replaces: true };
    const losers = await insertSideRecords(context, SIDE, loser);
    expect(await counts()).toEqual([1, 1, 1]);
    let takenBack: Promise<void> | null = null;
    const happens = (): Promise<void> => (takenBack ??= takeBack(context, losers, SIDE));
    const interrupted = contextOf({
      ...collections,
      history: before(collections.history, happens),
      subscriptions: before(collections.subscriptions, happens),
      activities: before(collections.activities, happens),
    });
    const winner = { ...attemptOf({ epoch: 2, inSeq: 0 }), replaces: true };
    const winners = await insertSideRecords(interrupted, SIDE, winner);
    expect(takenBack).not.toBeNull();
    expect(await counts()).toEqual([1, 1, 1]);
    const item = await collections.activities.findOne();
    expect(item).toMatchObject({ name: 'ship', attempt: 0, done: false, tokenHash: null });
    // It may remove the records that it inserted in place of the loser's.
    await takeBack(context, winners, SIDE);
    expect(await counts()).toEqual([0, 0, 0]);
  });

  it('leaves side records to a later pass', async () => {
    const later = { ...attemptOf({ epoch: 3, inSeq: 0 }), replaces: true };
    await insertSideRecords(context, SIDE, later);
    const earlier = { ...attemptOf({ epoch: 2, inSeq: 5 }), replaces: true };
    const inserted = await insertSideRecords(context, SIDE, earlier);
    expect(inserted).toMatchObject({ history: [], subscriptions: [], activities: [] });
    await takeBack(context, inserted, SIDE);
    expect(await counts()).toEqual([1, 1, 1]);
    expect(await collections.subscriptions.findOne()).toMatchObject({ order: later.order });
  });
});
