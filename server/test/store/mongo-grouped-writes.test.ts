/**
 * Goal: writes that are requested at the same time share commands, and each caller learns the outcome of its own: which
 * start exists already, which commit lost, and whose outcome is unknown.
 * Method: a real server. The first write of a kind is sent alone; the others of the same turn share commands. Collections
 * that do something before or after a command stand for lost answers and for other nodes.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { MongoClient, MongoNetworkError, MongoServerError } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { collectionsOf } from '../../src/store/mongo/collections.js';
import { GroupedCommits, type GuardedUpdate } from '../../src/store/mongo/grouped-commits.js';
import { GroupedInserts } from '../../src/store/mongo/grouped-inserts.js';
import { instanceDocumentOf } from '../../src/store/mongo/instance-documents.js';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import { StoreUnavailableError } from '../../src/store/store.js';
import { mongoForTests } from '../support/mongo-container.js';
import { activityOf, commitOf, instanceOf, NO_SIDE } from './records.js';

const mongo = await mongoForTests();
const url = mongo?.url ?? 'mongodb://127.0.0.1';

const IDS = Array.from({ length: 20 }, (_, n) => `i${n}`);

describe.skipIf(mongo === null)('simultaneous writes on MongoDB', () => {
  const databaseName = `grouped-${randomUUID()}`;
  const commands: string[] = [];
  const store = createMongoStore({
    url,
    databaseName,
    operationTimeoutMs: 20_000,
    onCommand: (name) => void commands.push(name),
  });
  const client = new MongoClient(url);
  const collections = collectionsOf(client.db(databaseName));
  const { instances } = collections;

  beforeAll(() => store.start());
  beforeEach(async () => {
    await Promise.all(
      [instances, collections.history, collections.activities].map((each) => each.deleteMany({})),
    );
    commands.length = 0;
  });
  afterAll(async () => {
    await store.stop();
    await client.db(databaseName).dropDatabase();
    await client.close();
  });

  const start = (id: string, side = NO_SIDE) =>
    store.insertInstance({ record: instanceOf(id), side });
  const countOf = (name: string): number => commands.filter((command) => command === name).length;

  /** The methods of the collection, one of which is another. */
  function instancesWith(replaced: object): typeof instances {
    return new Proxy(instances, {
      get: (target, name) => {
        const member: unknown = Reflect.get(name in replaced ? replaced : target, name);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  }

  const updateOf = (id: string, changes: Partial<GuardedUpdate> = {}): GuardedUpdate => ({
    _id: id,
    epoch: 1,
    inSeq: 0,
    revision: 1,
    attemptId: randomUUID(),
    set: { state: `by ${id}` },
    unset: {},
    audit: [],
    ...changes,
  });
  const statesOf = async (): Promise<Readonly<Record<string, unknown>>> =>
    Object.fromEntries((await instances.find().toArray()).map(({ _id, state }) => [_id, state]));

  describe('starts', () => {
    it('shares commands between starts, for instances and for each kind of side record', async () => {
      await Promise.all(
        IDS.map((id) =>
          start(id, {
            ...NO_SIDE,
            history: [{ instanceId: id, sequence: 0, body: id }],
            activities: [activityOf(`${id}/1/0`, id)],
          }),
        ),
      );
      // 60 if each were alone.
      expect(countOf('insert')).toBeLessThan(30);
      expect(await instances.countDocuments()).toBe(IDS.length);
      expect(await store.readHistory('i7', 0, 9)).toMatchObject([{ body: 'i7' }]);
      expect(await store.getActivities(IDS.map((id) => `${id}/1/0`))).toHaveLength(IDS.length);
    });

    it('reports which starts exist already', async () => {
      await start('i3');
      await start('i5');
      const outcomes = await Promise.all([...IDS, 'i9'].map((id) => start(id)));
      const existing = outcomes.flatMap(({ outcome }, at) =>
        outcome === 'exists' ? [[...IDS, 'i9'][at]] : [],
      );
      expect(existing).toEqual(['i3', 'i5', 'i9']);
      expect(await instances.countDocuments()).toBe(IDS.length);
    });

    it("stores the other starts if one can't be stored", async () => {
      // Incompressible, and above the 16 MB that a document may have.
      const state = randomBytes(18_000_000).toString('base64');
      const record = instanceOf('huge', { state });
      const outcomes = await Promise.allSettled([
        start('i0'),
        start('i1'),
        store.insertInstance({ record, side: NO_SIDE }),
        start('i2'),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      expect(await instances.distinct('_id')).toEqual(['i0', 'i1', 'i2']);
    });

    it('reports an unknown outcome for all if the response to their command is lost (S5)', async () => {
      const losing = instancesWith({
        insertMany: async (...args: Parameters<typeof instances.insertMany>) => {
          await instances.insertMany(...args);
          throw new MongoNetworkError('connection closed');
        },
      });
      const inserts = new GroupedInserts(losing, ({ state }) => state);
      const outcomes = await Promise.allSettled(
        IDS.map((id) => inserts.insert([instanceDocumentOf(instanceOf(id))])),
      );
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ reason: expect.any(StoreUnavailableError) as unknown });
      }
      // Each caller reads back, and finds its own.
      expect(await instances.countDocuments()).toBe(IDS.length);
    });
  });

  describe('commits', () => {
    it('shares commands between commits', async () => {
      await Promise.all(IDS.map((id) => start(id)));
      commands.length = 0;
      const outcomes = await Promise.all(
        IDS.map((id) => store.commitInstance(commitOf(instanceOf(id), { state: `of ${id}` }))),
      );
      expect(new Set(outcomes)).toEqual(new Set(['committed']));
      expect(new Set(commands)).toEqual(new Set(['update']));
      // The first alone, and two groups of the others.
      expect(commands.length).toBeLessThanOrEqual(3);
      for (const id of IDS) {
        expect(await store.getInstance(id)).toMatchObject({ state: `of ${id}`, revision: 2 });
      }
    });

    it('reports which commits of a group lost, and why', async () => {
      await Promise.all(IDS.map((id) => start(id)));
      await store.postMessages([{ instanceId: 'i4', message: { id: 'm', body: '' } }]);
      const commits = [
        commitOf(instanceOf('i0')),
        commitOf(instanceOf('i1'), { state: 'first' }),
        commitOf(instanceOf('i1'), { state: 'second' }),
        commitOf(instanceOf('i2', { epoch: 2 })),
        commitOf(instanceOf('i3', { revision: 2 })),
        commitOf(instanceOf('i4')),
        commitOf(instanceOf('i5')),
        commitOf(instanceOf('missing')),
      ];
      const outcomes = await Promise.all(commits.map((commit) => store.commitInstance(commit)));
      const first = (await store.getInstance('i1'))?.state === 'first';
      expect(outcomes).toEqual([
        'committed',
        first ? 'committed' : 'lost',
        first ? 'lost' : 'committed',
        'lost',
        'lost',
        'lost',
        'committed',
        'lost',
      ]);
      expect(await store.getInstance('i4')).toMatchObject({ state: '{}', revision: 1, inSeq: 1 });
      expect(await store.getInstance('i5')).toMatchObject({ state: '{"committed":true}' });
    });

    it('withdraws only the side records of lost commits', async () => {
      await Promise.all(['i0', 'i1', 'i2'].map((id) => start(id)));
      const historyOf = (id: string) => [{ instanceId: id, sequence: 0, body: id }];
      const commits = ['i0', 'i1', 'i2'].map((id) =>
        commitOf(instanceOf(id, { revision: id === 'i1' ? 7 : 1 }), {
          side: { ...NO_SIDE, history: historyOf(id) },
        }),
      );
      const outcomes = await Promise.all(commits.map((commit) => store.commitInstance(commit)));
      expect(outcomes).toEqual(['committed', 'lost', 'committed']);
      expect(await collections.history.distinct('instanceId')).toEqual(['i0', 'i2']);
    });

    it('reports success if another caller changes the instance afterwards', async () => {
      await Promise.all(['i0', 'i1', 'i2'].map((id) => start(id)));
      const message = { instanceId: 'i1', message: { id: 'm', body: '' } };
      const commits = new GroupedCommits({
        instances: instancesWith({
          find: (...args: Parameters<typeof instances.find>) => {
            const read = async () => {
              await store.postMessages([message]);
              return instances.find(...args).toArray();
            };
            return { toArray: read };
          },
        }),
      });
      const outcomes = await Promise.all([
        commits.commit(updateOf('i0')),
        commits.commit(updateOf('i1')),
        commits.commit(updateOf('i2', { revision: 9 })),
      ]);
      expect(outcomes).toEqual([true, true, false]);
      expect(await store.getInstance('i1')).toMatchObject({ state: 'by i1', inSeq: 1 });
    });

    it('reports an unknown outcome if another commit overtakes before the result is read', async () => {
      await Promise.all(['i0', 'i1', 'i2'].map((id) => start(id)));
      const commits = new GroupedCommits({
        instances: instancesWith({
          find: (...args: Parameters<typeof instances.find>) => {
            const read = async () => {
              const overtaking = new GroupedCommits({ instances });
              await Promise.all(
                ['i0', 'i1'].map((id) => overtaking.commit(updateOf(id, { revision: 2 }))),
              );
              await overtaking.commit(updateOf('i1', { revision: 3 }));
              await instances.updateOne({ _id: 'i1' }, { $set: { attemptId: 'theirs' } });
              return instances.find(...args).toArray();
            };
            return { toArray: read };
          },
        }),
      });
      const alone = commits.commit(updateOf('i0'));
      await nextTurn();
      const outcomes = await Promise.allSettled([
        alone,
        commits.commit(updateOf('i1')),
        commits.commit(updateOf('i2', { revision: 9 })),
      ]);
      expect(outcomes).toMatchObject([
        { value: true },
        { reason: expect.any(StoreUnavailableError) as unknown },
        { value: false },
      ]);
    });

    it('reports an unknown outcome for all if the response to their command is lost (S5)', async () => {
      await Promise.all(IDS.map((id) => start(id)));
      const commits = new GroupedCommits({
        instances: instancesWith({
          bulkWrite: async (...args: Parameters<typeof instances.bulkWrite>) => {
            await instances.bulkWrite(...args);
            throw new MongoNetworkError('connection closed');
          },
        }),
      });
      const [first = '', ...others] = IDS;
      const sentFirst = commits.commit(updateOf(first));
      await nextTurn();
      const [alone, ...group] = await Promise.allSettled([
        sentFirst,
        ...others.map((id) => commits.commit(updateOf(id))),
      ]);
      expect(alone).toMatchObject({ value: true });
      for (const outcome of group) {
        expect(outcome).toMatchObject({ reason: expect.any(StoreUnavailableError) as unknown });
      }
      // Each caller reads back, and finds that it won.
      expect(await statesOf()).toEqual(Object.fromEntries(IDS.map((id) => [id, `by ${id}`])));
    });

    it("reports an unknown outcome for all if the instances can't be read after one has lost", async () => {
      await Promise.all(['i0', 'i1', 'i2'].map((id) => start(id)));
      const commits = new GroupedCommits({
        instances: instancesWith({
          find: () => ({ toArray: () => Promise.reject(new MongoNetworkError('closed')) }),
        }),
      });
      const alone = commits.commit(updateOf('i0'));
      await nextTurn();
      const outcomes = await Promise.allSettled([
        alone,
        commits.commit(updateOf('i1')),
        commits.commit(updateOf('i2', { revision: 9 })),
      ]);
      expect(outcomes).toMatchObject([
        { value: true },
        { reason: expect.any(StoreUnavailableError) as unknown },
        { reason: expect.any(StoreUnavailableError) as unknown },
      ]);
    });

    it('stores the other commits if the server refuses one', async () => {
      await Promise.all(['i0', 'i1', 'i2'].map((id) => start(id)));
      const commits = new GroupedCommits({ instances });
      // No server changes an `_id`.
      const refused = updateOf('i1', { set: { _id: 'other', state: 'refused' } });
      const outcomes = await Promise.allSettled([
        commits.commit(updateOf('i0')),
        commits.commit(refused),
        commits.commit(updateOf('i2')),
      ]);
      expect(outcomes).toMatchObject([
        { value: true },
        { reason: expect.any(MongoServerError) as unknown },
        { value: true },
      ]);
      expect(await statesOf()).toEqual({ i0: 'by i0', i1: '{}', i2: 'by i2' });
    });
  });
});

/** By then, what was submitted has been sent. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
