/**
 * Goal: a process that dies at any point while slots are taken leaves nothing behind: no slot is held that nobody has, none is given
 * twice, and no wait is lost (LB1 to LB8 of slot-keys.ts). What a slow process still writes has no effect.
 * Method: a store whose collections fail from the nth write on, as if its process had died; then another store decides. The number
 * of commands is counted.
 */
import { randomUUID } from 'node:crypto';
import { MongoClient, type Collection } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KeyedMutex } from '../../src/base/limits/keyed-mutex.js';
import { CountedInserts } from '../../src/store/counted-inserts.js';
import { CandidateFinder } from '../../src/store/mongo/candidate-finder.js';
import { collectionsOf, type Collections } from '../../src/store/mongo/collections.js';
import { DisabledDefinitions } from '../../src/store/mongo/disabled-definitions.js';
import { groupedWritesOf } from '../../src/store/mongo/grouped-writes.js';
import { openDescendantsIn } from '../../src/store/mongo/instances.js';
import { LazyWrites } from '../../src/store/mongo/lazy-writes.js';
import type { MongoContext } from '../../src/store/mongo/mongo-context.js';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import { MONGO_OPERATIONS } from '../../src/store/mongo/operation-table.js';
import type { InsertInstance, InstanceCommit } from '../../src/store/records/instances.js';
import type { SlotChanges } from '../../src/store/records/slots.js';
import { mongoForTests } from '../support/mongo-container.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from './records.js';
import { NO_CHANGES, need, on, putLimit, requestOf } from './support/slot-cases.js';

const mongo = await mongoForTests();

const WRITES = [
  'insertOne',
  'insertMany',
  'updateOne',
  'updateMany',
  'findOneAndUpdate',
  'deleteOne',
  'deleteMany',
  'bulkWrite',
];

/** More than any of the operations needs. */
const WRITES_MAX = 40;

class Died extends Error {}

/** How many writes are left to a process. Once it has died, nothing of it works. */
class Life {
  writes = 0;
  readonly #writesMax: number;

  constructor(writesMax: number) {
    this.#writesMax = writesMax;
  }

  write(): void {
    if (this.writes >= this.#writesMax) throw new Died();
    this.writes += 1;
  }

  get hasDied(): boolean {
    return this.writes >= this.#writesMax;
  }
}

function mortal(collections: Collections, life: Life): Collections {
  const entries = Object.entries<object>({ ...collections }).map(
    ([name, collection]): [string, object] => {
      const limited = new Proxy(collection, {
        get: (target, member) => {
          const value: unknown = Reflect.get(target, member);
          if (typeof value !== 'function') return value;
          if (!WRITES.includes(String(member))) return value.bind(target) as unknown;
          return async (...args: unknown[]) => {
            life.write();
            return (await value.apply(target, args)) as unknown;
          };
        },
      });
      return [name, limited];
    },
  );
  return Object.fromEntries(entries) as unknown as Collections;
}

function contextOf(collections: Collections): MongoContext {
  return {
    ...collections,
    candidates: new CandidateFinder(collections),
    lazyWrites: new LazyWrites(collections),
    countedInserts: new CountedInserts(openDescendantsIn(collections)),
    references: new KeyedMutex(),
    disabledDefinitions: new DisabledDefinitions(collections.disabled),
    groupedWrites: groupedWritesOf(collections),
    inputSweep: { after: null },
    claimSweep: { after: null },
    limitKeySweep: { after: null },
    slotWaitSweep: { after: null },
    readServerTime: () => Promise.resolve(),
  };
}

describe.skipIf(mongo === null)('slots on MongoDB', () => {
  const url = mongo?.url ?? 'mongodb://127.0.0.1';
  const client = new MongoClient(url);
  const databaseName = `slot-crashes-${randomUUID()}`;
  const collections = collectionsOf(client.db(databaseName));
  const commands: string[] = [];
  const store = createMongoStore({
    url,
    databaseName,
    operationTimeoutMs: 20_000,
    onCommand: (name) => void commands.push(name),
  });
  beforeAll(async () => {
    await client.connect();
    await store.start();
  });
  beforeEach(async () => {
    for (const collection of Object.values(collections)) {
      await (collection as unknown as Collection).deleteMany({});
    }
    await putLimit(store, 'api', { concurrency: 1 });
    await putLimit(store, 'db', { concurrency: 1 });
  });
  afterEach(() => {
    commands.length = 0;
  });
  afterAll(async () => {
    await store.stop();
    await client.db(databaseName).dropDatabase();
    await client.close();
  });

  const start = (id: string) => store.insertInstance({ record: instanceOf(id), side: NO_SIDE });
  const changeOf = async (id: string, changes: Partial<SlotChanges>): Promise<InstanceCommit> =>
    commitOf((await store.getInstance(id))!, { slots: { ...NO_CHANGES, ...changes } });
  const change = async (id: string, changes: Partial<SlotChanges>) =>
    store.commitInstance(await changeOf(id, changes));
  const both = [need('api'), need('db')] as const;
  const takeOf = (id: string) => ({ take: [requestOf(`${id}/1`, ...both)] });
  const waitOf = (id: string, since = 100) => ({
    wait: [{ ...requestOf(`${id}/1`, ...both), since, on: on('api') }],
  });
  const freeOf = (id: string) => ({ free: [requestOf(`${id}/1`, ...both)] });
  const held = async () =>
    (await store.countSlots(['api', 'db'], 90_000)).map(({ held: units }) => units);
  /** Another node takes the instance over, as it does with those of a dead one. */
  const takeOver = async (id: string) => {
    const { epoch } = (await store.getInstance(id))!;
    await store.claimInstance({ id, epoch, owner: 'other', suspected: true });
  };

  /** Runs the work in a process that dies before its nth write, for each n, until it survives. */
  async function dyingAtEach(
    work: (context: MongoContext) => Promise<unknown>,
    check: () => Promise<void>,
  ): Promise<number> {
    for (let n = 0; n < WRITES_MAX; n += 1) {
      const life = new Life(n);
      try {
        await work(contextOf(mortal(collections, life)));
      } catch (error) {
        if (!life.hasDied) throw error;
      }
      await check();
      if (!life.hasDied) return n;
    }
    throw new Error('The work writes without end');
  }

  /** Whatever is left of the limits can be used by others, and nothing more. */
  async function expectWhole(holder: string | null): Promise<void> {
    const id = `probe-${randomUUID()}`;
    await start(id);
    const outcome = await change(id, takeOf(id));
    const isFree = holder === null;
    expect(outcome).toMatchObject({ outcome: isFree ? 'committed' : 'refused' });
    expect(await held()).toEqual([1, 1]);
    if (isFree) await change(id, freeOf(id));
    else await change(holder, { free: [requestOf(`${holder}/1`, ...both)] });
    expect(await held()).toEqual([0, 0]);
    const purged = { instancesEndedBefore: 90_000, activitiesDoneBefore: 90_000, limit: 100 };
    await store.purge({ ...purged, untoldEndedBefore: 0, eventsPublishedBefore: 0 });
    expect(await store.findWaitedKeys(null, 9)).toEqual([]);
  }

  it('frees what a commit of a dead process was about to take', { timeout: 120_000 }, async () => {
    let id = '';
    const writes = await dyingAtEach(
      async (context) => {
        id = `i-${randomUUID()}`;
        await start(id);
        await MONGO_OPERATIONS.commitInstance(context, [await changeOf(id, takeOf(id))]);
      },
      async () => {
        const hasSlots = (await store.getInstance(id))!.revision > 1;
        await takeOver(id);
        await expectWhole(hasSlots ? id : null);
      },
    );
    expect(writes).toBeGreaterThan(2);
  });

  it('frees what an insert of a dead process was about to take', { timeout: 120_000 }, async () => {
    let id = '';
    for (const conflict of [undefined, { action: 'refuse' } as const]) {
      await dyingAtEach(
        (context) => {
          id = `i-${randomUUID()}`;
          const insert: InsertInstance = {
            record: instanceOf(id, { reference: id }),
            side: NO_SIDE,
            slots: { ...NO_CHANGES, ...takeOf(id) },
            ...(conflict !== undefined && { conflict }),
          };
          return MONGO_OPERATIONS.insertInstance(context, [insert]);
        },
        async () => {
          // Whoever counts finishes the start if it had effect.
          const probe = `late-${randomUUID()}`;
          await start(probe);
          const commit = await changeOf(probe, takeOf(probe));
          const outcome = await store.commitInstance({ ...commit, lastChangeAt: 50_000 });
          const exists = (await store.getInstance(id)) !== null;
          expect(outcome).toMatchObject({ outcome: exists ? 'refused' : 'committed' });
          if (!exists) await change(probe, freeOf(probe));
          await expectWhole(exists ? id : null);
        },
      );
    }
  });

  it('finishes or drops what a dead process was about to grant', { timeout: 120_000 }, async () => {
    let id = '';
    await dyingAtEach(
      async (context) => {
        id = `i-${randomUUID()}`;
        await start(id);
        await change(id, waitOf(id));
        await MONGO_OPERATIONS.grantSlots(context, [{ ...on('api'), now: 5000, aheadMs: 0 }]);
      },
      async () => {
        const granted = await store.grantSlots({ ...on('api'), now: 6000, aheadMs: 0 });
        expect(granted.begin).toMatchObject([{ instanceId: id, execution: `${id}/1` }]);
        expect(await held()).toEqual([1, 1]);
        await change(id, { begun: [`${id}/1`] });
        await expectWhole(id);
      },
    );
  });

  it('forgets the waits of a dead process, and keeps others', { timeout: 120_000 }, async () => {
    let id = '';
    await dyingAtEach(
      async (context) => {
        id = `i-${randomUUID()}`;
        await start(id);
        await MONGO_OPERATIONS.commitInstance(context, [await changeOf(id, waitOf(id))]);
      },
      async () => {
        const waits = (await store.getInstance(id))!.revision > 1;
        await takeOver(id);
        const granted = await store.grantSlots({ ...on('api'), now: 6000, aheadMs: 0 });
        expect(granted.begin.map(({ instanceId }) => instanceId)).toEqual(waits ? [id] : []);
        await expectWhole(waits ? id : null);
      },
    );
  });

  it('frees what a claim of a dead process was about to take', { timeout: 120_000 }, async () => {
    let id = '';
    const claim = { name: 'ship', now: 2000, claim: claimBy('w', 80_000), deferMs: 10 };
    await dyingAtEach(
      async (context) => {
        id = `i-${randomUUID()}`;
        const activity = activityOf(`${id}/1`, id, { needs: both });
        const side = { ...NO_SIDE, activities: [activity] };
        await store.insertInstance({ record: instanceOf(id), side });
        await MONGO_OPERATIONS.claimActivity(context, [claim]);
        context.lazyWrites.stop().catch(() => undefined);
      },
      async () => {
        const [item] = await store.getActivities([`${id}/1`]);
        // Its lease ends, and nobody asks for the item again.
        await start(`${id}-other`);
        const commit = await changeOf(`${id}-other`, takeOf(`${id}-other`));
        const early = await store.commitInstance({ ...commit, lastChangeAt: 50_000 });
        const isHeld = item?.tokenHash != null;
        expect(early).toMatchObject({ outcome: isHeld ? 'refused' : 'committed' });
        if (isHeld) {
          const late = await store.commitInstance({ ...commit, lastChangeAt: 80_000 });
          expect(late).toMatchObject({ outcome: 'committed' });
          // The item has lost its slots, whatever its holder's clock says.
          const extended = await store.extendActivity(`${id}/1`, 'token-w', 99_000, 70_000);
          expect(extended).toBeNull();
        }
        expect(await held()).toEqual([1, 1]);
        await change(`${id}-other`, freeOf(`${id}-other`));
        await store.controlInstance(id, 'terminate', 9000);
        await expectWhole(null);
      },
    );
  });

  it('removes keys that say nothing any more', async () => {
    await start('a');
    await change('a', takeOf('a'));
    expect(await collections.limitKeys.countDocuments()).toBe(2);
    const purge = () =>
      store.purge({
        instancesEndedBefore: 0,
        untoldEndedBefore: 0,
        eventsPublishedBefore: 0,
        activitiesDoneBefore: 90_000,
        limit: 100,
      });
    await purge();
    expect(await collections.limitKeys.countDocuments()).toBe(0);
    await start('b');
    expect(await change('b', takeOf('b'))).toMatchObject({ outcome: 'refused' });
  });

  it('needs seven commands for a commit that takes a free slot', async () => {
    await start('a');
    await start('b');
    await putLimit(store, 'db', { concurrency: 10 });
    await change('a', { take: [requestOf('a/1', need('db'))] });
    const commit = await changeOf('b', { take: [requestOf('b/1', need('db'))] });
    commands.length = 0;
    expect(await store.commitInstance(commit)).toEqual({ outcome: 'committed', waits: [] });
    expect(commands.toSorted()).toEqual([
      'find',
      'find',
      'find',
      'find',
      'find',
      'update',
      'update',
    ]);
  });
});
