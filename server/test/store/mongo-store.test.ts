/**
 * Goal: the store on MongoDB keeps the contract, with few commands, and gives up in time when the server is
 * unavailable.
 * Method: a real server, in a container or named by TEST_DBHOST; without one these cases are skipped with a prominent
 * message.
 */
import { randomUUID } from 'node:crypto';
import { BSON, MongoClient, type Db } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { createMongoStore, type MongoStoreOptions } from '../../src/store/mongo/mongo-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import type { InstanceFilter } from '../../src/store/records/instance-lists.js';
import type { InstanceRecord } from '../../src/store/records/instances.js';
import type { NewActivityRecord } from '../../src/store/records/activities.js';
import { mongoForTests } from '../support/mongo-container.js';
import { describeStore, type StoreFixture } from './conformance.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from './records.js';

const mongo = await mongoForTests();
const url = mongo?.url ?? '';

describe.skipIf(mongo === null)('a MongoDB deployment', () => {
  describeStore('the MongoDB store', async (): Promise<StoreFixture> => {
    const databaseName = `store-${randomUUID()}`;
    // Two processes run tests on this machine; the timeouts for production are not under test here.
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
        // Stopping sends the deferred writes of the previous case, whose ids are used again.
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

const WRITE_COMMANDS: ReadonlySet<string> = new Set([
  'insert',
  'update',
  'delete',
  'findAndModify',
]);

/** A store on its own database; `commands` fills as it works. */
async function openStore(changes: Partial<MongoStoreOptions> = {}) {
  const commands: string[] = [];
  const databaseName = `store-${randomUUID()}`;
  const store = createMongoStore({
    url,
    databaseName,
    operationTimeoutMs: 20_000,
    onCommand: (name) => void commands.push(name),
    ...changes,
  });
  await store.start();
  const client = new MongoClient(changes.url ?? url);
  const close = async (): Promise<void> => {
    await store.stop();
    await client.db(databaseName).dropDatabase();
    await client.close();
  };
  return { store, commands, database: client.db(databaseName), close };
}

async function withStore(
  use: (opened: Awaited<ReturnType<typeof openStore>>) => Promise<void>,
): Promise<void> {
  const opened = await openStore();
  try {
    await use(opened);
  } finally {
    await opened.close();
  }
}

describe.skipIf(mongo === null)('createMongoStore', () => {
  const offer = (
    store: Store,
    activity: NewActivityRecord,
    changes: Partial<InstanceRecord> = {},
  ) =>
    store.insertInstance({
      record: instanceOf(activity.instanceId, changes),
      side: { ...NO_SIDE, activities: [activity] },
    });
  const claim = (store: Store, worker: string) =>
    store.claimActivity({ name: 'ship', now: 2000, claim: claimBy(worker), deferMs: 1000 });

  it('needs seven writes for an activity from start to end', () =>
    withStore(async ({ store, commands }) => {
      await offer(store, activityOf('i/1/0', 'i'));
      await claim(store, 'w');
      await store.completeActivity({
        activityId: 'i/1/0',
        tokenHash: 'token-w',
        result: { succeeded: true, data: '1', hash: 'h' },
        now: 3000,
        message: { id: 'm', body: '1' },
      });
      const commit = commitOf(instanceOf('i', { inSeq: 1 }), {
        status: 'Complete',
        endTime: 5,
        settleActivities: ['i/1/0'],
      });
      expect(await store.commitInstance(commit)).toBe('committed');
      await store.stop();
      const writes = commands.filter((name) => WRITE_COMMANDS.has(name));
      expect(writes).toEqual([
        'insert',
        'insert',
        'findAndModify',
        'findAndModify',
        'findAndModify',
        'update',
        'update',
      ]);
      // Start: whether the definition is disabled, once a second. Claim: the candidate, and the status of its instance.
      const reads = commands.filter((name) => name === 'find' || name === 'aggregate');
      expect(reads).toEqual(['find', 'find', 'find']);
    }));

  it('needs one write for a pass without side records, and one for many messages', () =>
    withStore(async ({ store, commands }) => {
      await store.insertInstance({ record: instanceOf('i'), side: NO_SIDE });
      await store.commitInstance(commitOf(instanceOf('i')));
      const messages = Array.from({ length: 50 }, (_, n) => ({
        instanceId: 'i',
        message: { id: `m${n}`, body: '' },
      }));
      await store.postMessages(messages);
      expect(commands.filter((name) => WRITE_COMMANDS.has(name))).toEqual([
        'insert',
        'update',
        'update',
      ]);
      expect((await store.getInstance('i'))?.inbox).toHaveLength(50);
    }));

  it('counts open instances of an earlier version as unchanged since their start', () =>
    withStore(async ({ store, database }) => {
      await store.insertInstance({ record: instanceOf('old'), side: NO_SIDE });
      await store.insertInstance({
        record: instanceOf('ended', { status: 'Complete', endTime: 5000 }),
        side: NO_SIDE,
      });
      await database
        .collection('instances')
        .updateMany({}, { $unset: { lastChangeAt: '', openChangedAt: '' } });
      await database.collection('markers').deleteMany({});
      await store.stop();
      await store.start();
      const list = { filter: { unchangedSince: 9000 }, after: null, limit: 5 };
      expect((await store.listInstances(list)).items).toMatchObject([
        { id: 'old', lastChangeAt: 1000 },
      ]);
      expect(await store.getInstance('ended')).toMatchObject({ lastChangeAt: 5000 });
    }));

  it('finds instances of an earlier version by outcome and parent', () =>
    withStore(async ({ store, database }) => {
      const insert = async (id: string, changes: Partial<InstanceRecord>): Promise<void> => {
        await store.insertInstance({ record: instanceOf(id, changes), side: NO_SIDE });
      };
      const terminated = { status: 'Terminated', endTime: 5, errorAt: 4 } as const;
      await insert('w', {});
      await insert('w.1.1', { reference: 'w', status: 'Complete', endTime: 5 });
      await insert('w.2.1', { reference: 'w', ...terminated });
      await insert('c-0', { reference: 'w.1.1', ...terminated });
      await insert('own', { reference: 'w', startTime: 2000 });
      const audit = { time: 5, actor: 'ann', action: 'terminate', detail: null } as const;
      await store.appendAudit('c-0', audit);
      await database.collection('instances').updateMany({}, { $unset: { outcome: '' } });
      await database.collection('markers').deleteMany({});
      await store.stop();
      await store.start();
      const find = async (filter: InstanceFilter): Promise<readonly string[]> =>
        (await store.listInstances({ filter, after: null, limit: 9 })).items.map(({ id }) => id);
      expect(await find({ outcome: 'Succeeded' })).toEqual(['w.1.1']);
      expect(await find({ outcome: 'Failed' })).toEqual(['w.2.1']);
      expect(await find({ outcome: 'Terminated' })).toEqual(['c-0']);
      expect(await find({ parentId: 'w' })).toEqual(['w.2.1', 'w.1.1']);
      expect(await find({ parentId: null })).toEqual(['own', 'w']);
      expect(await store.getInstance('w.1.1')).toMatchObject({ rootId: 'w' });
      expect(await store.getInstance('own')).toMatchObject({ rootId: null });
      // A node of the earlier version may end other instances in the meantime.
      await database.collection('instances').updateMany({}, { $unset: { outcome: '' } });
      expect(await store.getInstance('w.2.1')).toMatchObject({ outcome: 'Failed' });
    }));

  it('reports no start of a failure that an earlier version renewed', () =>
    withStore(async ({ store, database }) => {
      const failure = { key: 'k', stepId: 'pay', type: 'T', message: 'm' };
      const failed = instanceOf('i', { errorAt: 1300, failingSince: 1200, failure });
      await store.insertInstance({ record: failed, side: NO_SIDE });
      const firstAt = async () => {
        const { counts } = await store.countFailures({ filter: {}, now: 2000, after: null });
        return counts.map((count) => count.firstAt);
      };
      expect(await firstAt()).toEqual([1200]);
      // It does not know the new fields.
      await database.collection('instances').updateMany({}, { $set: { errorAt: 1400 } });
      expect(await store.getInstance('i')).toMatchObject({ errorAt: 1400, failingSince: null });
      expect(await firstAt()).toEqual([1400]);
    }));

  it('combines deferrable operations into one write', () =>
    withStore(async ({ store, commands }) => {
      const ids = Array.from({ length: 20 }, (_, n) => `i${n}`);
      await Promise.all(
        ids.map((id) => store.insertInstance({ record: instanceOf(id), side: NO_SIDE })),
      );
      commands.length = 0;
      for (const id of ids) {
        const removeSubscriptions = [`${id}/1/0`];
        await store.commitInstance(commitOf(instanceOf(id), { removeSubscriptions }));
      }
      await expect.poll(() => commands.includes('delete')).toBe(true);
      const deletes = commands.filter((name) => name === 'delete').length;
      // At most one per batching interval; 20 sequential commits take longer than one interval.
      expect(deletes).toBeLessThan(10);
    }));

  it('removes the side records of a commit that failed', () =>
    withStore(async ({ store, database }) => {
      await store.insertInstance({ record: instanceOf('i'), side: NO_SIDE });
      const lost = commitOf(instanceOf('i', { inSeq: 7 }), {
        side: {
          history: [{ instanceId: 'i', sequence: 0, body: 'lost' }],
          subscriptions: [{ id: 's', instanceId: 'i', nameKey: 'k', effectiveAt: 0 }],
          activities: [
            activityOf('i/1/0', 'i'),
            activityOf('i/2/0', 'i', { claim: claimBy('poller') }),
          ],
        },
      });
      expect(await store.commitInstance(lost)).toBe('lost');
      for (const name of ['history', 'subscriptions', 'activities']) {
        expect(await database.collection(name).countDocuments({})).toBe(0);
      }
    }));

  describe('a commit after a process died before its own', () => {
    /** The state that such a process leaves behind. */
    async function leaveSideRecords(store: Store, database: Db, epoch: number): Promise<void> {
      const orphan = instanceOf('orphan', { epoch });
      await store.insertInstance({
        record: orphan,
        side: {
          history: [{ instanceId: 'i', sequence: 0, body: 'left' }],
          subscriptions: [{ id: 'i/1/0', instanceId: 'i', nameKey: 'left', effectiveAt: 0 }],
          activities: [
            activityOf('i/2/0', 'i', { name: 'left', claim: claimBy('dead') }),
            activityOf('i/3/0', 'i', { name: 'same', claim: claimBy('alive') }),
          ],
        },
      });
      await database.collection<{ _id: string }>('instances').deleteOne({ _id: 'orphan' });
    }
    const rerun = (epoch: number, claimed = {}) =>
      commitOf(instanceOf('i', { epoch }), {
        side: {
          history: [{ instanceId: 'i', sequence: 0, body: 'kept' }],
          subscriptions: [{ id: 'i/1/0', instanceId: 'i', nameKey: 'kept', effectiveAt: 0 }],
          activities: [
            activityOf('i/2/0', 'i', { name: 'kept', ...claimed }),
            activityOf('i/3/0', 'i', { name: 'same' }),
          ],
        },
      });

    it('replaces side records with different content (SR2), and keeps the others (SR3)', () =>
      withStore(async ({ store, database }) => {
        await store.insertInstance({ record: instanceOf('i', { epoch: 2 }), side: NO_SIDE });
        await leaveSideRecords(store, database, 1);
        expect(await store.commitInstance(rerun(2))).toBe('committed');
        expect((await store.readHistory('i', 0, 5)).map(({ body }) => body)).toEqual(['kept']);
        expect(await store.findSubscriptions('left', 9, null, 5)).toEqual([]);
        expect(await store.findSubscriptions('kept', 9, null, 5)).toHaveLength(1);
        expect(await store.findAvailableActivities(['left', 'kept', 'same'], 2000)).toEqual([
          'kept',
        ]);
        expect(await store.extendActivity('i/3/0', 'token-alive', 9000, 2000)).toEqual({
          name: 'same',
          withdrawn: false,
        });
      }));

    it('replaces and removes nothing on a node that lost the instance', () =>
      withStore(async ({ store, database }) => {
        await store.insertInstance({ record: instanceOf('i', { epoch: 5 }), side: NO_SIDE });
        await leaveSideRecords(store, database, 5);
        expect(await store.commitInstance(rerun(4))).toBe('lost');
        expect((await store.readHistory('i', 0, 5)).map(({ body }) => body)).toEqual(['left']);
        expect(await store.findSubscriptions('left', 9, null, 5)).toHaveLength(1);
        expect(await store.extendActivity('i/2/0', 'token-dead', 9000, 2000)).toEqual({
          name: 'left',
          withdrawn: false,
        });
        expect(await store.extendActivity('i/3/0', 'token-alive', 9000, 2000)).toEqual({
          name: 'same',
          withdrawn: false,
        });
      }));
  });

  it('hands out and defers no item while its instance is being inserted', () =>
    withStore(async ({ store, database }) => {
      await offer(store, activityOf('i/1/0', 'i', { createdAt: 1999 }));
      const instances = database.collection<{ _id: string }>('instances');
      const instance = (await instances.findOne({ _id: 'i' }))!;
      await instances.deleteOne({ _id: 'i' });
      expect(await claim(store, 'w')).toBeNull();
      await instances.insertOne(instance);
      expect(await claim(store, 'w')).toMatchObject({ id: 'i/1/0', attempt: 1 });
    }));

  it('reads values with any characters, compressed if they are long', () =>
    withStore(async ({ store, database }) => {
      const state = JSON.stringify({ text: 'long '.repeat(10_000) });
      await store.insertInstance({ record: instanceOf('i', { state }), side: NO_SIDE });
      const stored = await database.collection<{ _id: string }>('instances').findOne({ _id: 'i' });
      expect(BSON.calculateObjectSize(stored!)).toBeLessThan(5000);
      expect((await store.getInstance('i'))?.state).toBe(state);
    }));

  it("reports the server's time at the start and with each heartbeat", async () => {
    const readings: { time: number; roundTripMs: number }[] = [];
    const store = createMongoStore({
      url,
      databaseName: `store-${randomUUID()}`,
      onServerTime: (time, roundTripMs) => readings.push({ time, roundTripMs }),
    });
    await store.start();
    const atStart = readings.length;
    expect(atStart).toBeGreaterThan(0);
    const node = { id: 'n', url: '', version: '', hostname: 'h', pid: 1, details: null };
    await store.putNode({ ...node, beatAt: 1 });
    expect(readings).toHaveLength(atStart + 1);
    // The server is on this machine, so its clock is the one of the test.
    for (const { roundTripMs, time } of readings) {
      expect(Math.abs(time - Date.now())).toBeLessThan(60_000);
      expect(roundTripMs).toBeGreaterThanOrEqual(0);
    }
    await store.stop();
  });

  it('starts again after a start that failed once it had read the time', async () => {
    let readings = 0;
    const store = createMongoStore({
      url,
      databaseName: `store-${randomUUID()}`,
      onServerTime: () => {
        readings += 1;
        if (readings === 1) throw new Error('spoiled');
      },
    });
    await expect(store.start()).rejects.toThrow('spoiled');
    await expect(store.ping()).rejects.toThrow('not been started');
    await store.start();
    expect(readings).toBeGreaterThan(1);
    await store.ping();
    await store.stop();
  });

  it("reports that it wasn't started, or was stopped", async () => {
    const store = createMongoStore({ url });
    await expect(store.ping()).rejects.toThrow(StoreUnavailableError);
    await store.stop();
    await store.start();
    await store.start();
    await store.ping();
    await store.stop();
    await store.stop();
    await expect(store.ping()).rejects.toThrow(StoreUnavailableError);
  });
});
