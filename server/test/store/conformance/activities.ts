/** Contract cases: the queue of activities. */
import { describe, expect, it } from 'vitest';
import { FAR_FUTURE_MS } from '../../../src/store/store.js';
import type { ActivityResult, NewActivityRecord } from '../../../src/store/records/activities.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import type { StoreUnderTest } from '../conformance.js';
import { claimOf, activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';

const OK: ActivityResult = { succeeded: true, data: '{"a":1}', hash: 'hash-ok' };
const EXTENDED = { name: 'ship', withdrawn: false };
const OTHER: ActivityResult = { succeeded: false, data: '"no"', hash: 'hash-no' };

export function describeActivities(test: StoreUnderTest): void {
  const get = async (id: string) => (await test.store.getInstance(id))!;
  const offer = (
    id: string,
    activities: readonly NewActivityRecord[],
    changes: Partial<InstanceRecord> = {},
  ) =>
    test.store.insertInstance({
      record: instanceOf(id, changes),
      side: { ...NO_SIDE, activities },
    });
  const claim = (worker: string, now: number, lease = FAR_FUTURE_MS, name = 'ship') =>
    claimOf(test.store, { name, now, claim: claimBy(worker, lease), deferMs: 1000 });
  const complete = (activityId: string, worker: string, result = OK, now = 5000) =>
    test.store.completeActivity({
      activityId,
      tokenHash: `token-${worker}`,
      result,
      now,
      message: { id: `result/${activityId}`, body: result.data },
    });
  const extend = (id: string, token: string, until: number) =>
    test.store.extendActivity(id, token, until, 2000);
  const unsettled = async (doneBefore = FAR_FUTURE_MS) =>
    (await test.store.findUnsettledActivities(doneBefore, 10)).map(({ id }) => id);

  describe('claimActivity', () => {
    it('hands out an item once, with its claim', async () => {
      await offer('i', [activityOf('i/1/0', 'i', { parameters: '{"p":1}', createdAt: 900 })]);
      expect(await claim('w', 899)).toBeNull();
      expect(await claim('w', 900, 7000)).toEqual({
        id: 'i/1/0',
        instanceId: 'i',
        name: 'ship',
        parameters: '{"p":1}',
        priority: 3,
        createdAt: 900,
        availableAt: 7000,
        attempt: 1,
        tokenHash: 'token-w',
        workerId: 'w',
        done: false,
        withdrawn: false,
      });
      expect(await claim('v', 900)).toBeNull();
      expect(await claim('v', 900, 7000, 'Ship')).toBeNull();
    });

    it('hands out the item that has been available longest first', async () => {
      await offer('i', [
        activityOf('i/1/0', 'i', { createdAt: 300 }),
        activityOf('i/2/0', 'i', { createdAt: 100 }),
        activityOf('i/3/0', 'i', { createdAt: 200 }),
      ]);
      const order = [];
      for (const worker of ['a', 'b', 'c']) order.push((await claim(worker, 1000))?.id);
      expect(order).toEqual(['i/2/0', 'i/3/0', 'i/1/0']);
    });

    it('hands out no item that is longer than the claim may take, and tells its length', async () => {
      const parameters = JSON.stringify('x'.repeat(9998));
      await offer('s', [activityOf('s/1/0', 's', { createdAt: 100, parameters })], {
        status: 'Suspended',
      });
      await offer('i', [
        activityOf('i/1/0', 'i', { createdAt: 200, parameters }),
        activityOf('i/2/0', 'i', { createdAt: 300 }),
      ]);
      const upTo = (lengthMax: number) =>
        test.store.claimActivity({
          name: 'ship',
          now: 2000,
          claim: claimBy('w'),
          deferMs: 1000,
          lengthMax,
        });
      expect(await upTo(9999)).toEqual({ parametersLength: 10_000 });
      expect(await test.store.getActivities(['i/1/0'])).toEqual([
        expect.objectContaining({ attempt: 0, tokenHash: null, availableAt: 200 }),
      ]);
      expect(await upTo(10_000)).toMatchObject({ id: 'i/1/0', parameters, attempt: 1 });
      expect(await upTo(9999)).toMatchObject({ id: 'i/2/0' });
      expect(await upTo(0)).toBeNull();
    });

    it('skips an item that is longer than the claim allows, and returns its length', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000, 3000);
      expect(await claim('v', 2999)).toBeNull();
      expect(await claim('v', 3000)).toMatchObject({ id: 'i/1/0', attempt: 2, workerId: 'v' });
    });

    it.each(['Suspended', 'Complete', 'Terminated'] as const)(
      'skips items of an instance that is %s',
      async (status) => {
        await offer('s', [activityOf('s/1/0', 's', { createdAt: 1 })], { status });
        await offer('i', [activityOf('i/1/0', 'i', { createdAt: 2 })]);
        expect((await claim('w', 2000))?.id).toBe('i/1/0');
        expect(await claim('w', 2000)).toBeNull();
        expect(await claim('w', 4000)).toBeNull();
      },
    );

    it('defers skipped items for a while', async () => {
      await offer('s', [activityOf('s/1/0', 's')], { status: 'Suspended' });
      expect(await test.store.findAvailableActivities(['ship'], 2000)).toEqual(['ship']);
      expect(await claim('w', 2000)).toBeNull();
      expect(await test.store.findAvailableActivities(['ship'], 2999)).toEqual([]);
      expect(await test.store.findAvailableActivities(['ship'], 3000)).toEqual(['ship']);
    });

    it.each(['resume', 'compensate'] as const)(
      'hands out deferred items again at once after %s, in their old order',
      async (action) => {
        await offer('s', [activityOf('s/1/0', 's', { createdAt: 10 })], { status: 'Suspended' });
        await claim('w', 2000);
        await offer('i', [activityOf('i/1/0', 'i', { createdAt: 20 })]);
        await test.store.controlInstance('s', action, 2000);
        expect((await claim('w', 2000))?.id).toBe('s/1/0');
        expect((await claim('w', 2000))?.id).toBe('i/1/0');
      },
    );

    it('keeps the extended lease of a holder when a resume makes deferred items available', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000, 3000);
      await test.store.controlInstance('i', 'suspend', 1);
      expect(await claim('v', 3000)).toBeNull();
      expect(await extend('i/1/0', 'token-w', 9000)).toEqual(EXTENDED);
      await test.store.controlInstance('i', 'resume', 1);
      expect(await claim('v', 8999)).toBeNull();
      expect((await claim('v', 9000))?.workerId).toBe('v');
    });

    it('finds work behind many items of suspended instances', async () => {
      for (const id of ['s1', 's2', 's3', 's4']) {
        const items = [1, 2, 3, 4, 5].map((n) => activityOf(`${id}/${n}/0`, id, { createdAt: n }));
        await offer(id, items, { status: 'Suspended' });
      }
      await offer('i', [activityOf('i/1/0', 'i', { createdAt: 500 })]);
      expect((await claim('w', 2000))?.id).toBe('i/1/0');
    });

    it('hands out nothing after a suspension', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await test.store.controlInstance('i', 'suspend', 1);
      expect(await claim('w', 2000)).toBeNull();
      await test.store.controlInstance('i', 'resume', 1);
      expect((await claim('w', 2000))?.id).toBe('i/1/0');
    });
  });

  describe('findAvailableActivities', () => {
    it('lists the names that have an available item', async () => {
      await offer('i', [
        activityOf('i/1/0', 'i', { name: 'a' }),
        activityOf('i/2/0', 'i', { name: 'b', createdAt: 9000 }),
        activityOf('i/3/0', 'i', { name: 'c' }),
        activityOf('i/4/0', 'i', { name: 'd' }),
      ]);
      await claim('w', 2000, 3000, 'c');
      const names = ['a', 'b', 'c', 'x'];
      expect([...(await test.store.findAvailableActivities(names, 2000))].sort()).toEqual(['a']);
      expect([...(await test.store.findAvailableActivities(names, 9000))].sort()).toEqual([
        'a',
        'b',
        'c',
      ]);
      expect(await test.store.findAvailableActivities([], 9000)).toEqual([]);
    });
  });

  describe('completeActivity', () => {
    it('accepts a result and posts its message', async () => {
      await offer('i', [activityOf('i/1/0', 'i')], { owner: 'node', wakeAt: 900 });
      const item = (await claim('w', 2000, 3000))!;
      expect(await complete('i/1/0', 'w')).toEqual({
        outcome: 'accepted',
        activity: { ...item, done: true },
        message: { id: 'result/i/1/0', body: '{"a":1}' },
        posted: { instanceId: 'i', inSeq: 1, epoch: 1, owner: 'node', rested: true },
      });
      expect(await get('i')).toMatchObject({
        inbox: [{ id: 'result/i/1/0', body: '{"a":1}' }],
        inSeq: 1,
        wakeAt: 0,
      });
    });

    it('recognizes a repeated call, and rejects a different one', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000);
      await complete('i/1/0', 'w');
      expect(await complete('i/1/0', 'w')).toEqual({ outcome: 'repeated' });
      expect(await complete('i/1/0', 'w', OTHER)).toEqual({ outcome: 'stale' });
      expect(await complete('i/1/0', 'v')).toEqual({ outcome: 'stale' });
      expect(await get('i')).toMatchObject({ inSeq: 1, inbox: [{ body: '{"a":1}' }] });
    });

    it('recognizes a repeated call after its result was applied', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000);
      await complete('i/1/0', 'w');
      const commit = commitOf(await get('i'), { settleActivities: ['i/1/0'] });
      await test.store.commitInstance(commit);
      expect(await complete('i/1/0', 'w')).toEqual({ outcome: 'repeated' });
      expect(await get('i')).toMatchObject({ inSeq: 1, inbox: [] });
    });

    it.each([
      ['an unknown item', 'x', 'w'],
      ['the token of another holder', 'i/1/0', 'v'],
      ['an item that nobody holds', 'i/2/0', 'w'],
    ])('rejects %s', async (_title, activityId, worker) => {
      await offer('i', [
        activityOf('i/1/0', 'i'),
        activityOf('i/2/0', 'i', { createdAt: FAR_FUTURE_MS }),
      ]);
      await claim('w', 2000);
      expect(await complete(activityId, worker)).toEqual({ outcome: 'stale' });
      expect((await get('i')).inbox).toEqual([]);
    });

    it('accepts a late result until another worker takes the item', async () => {
      await offer('i', [activityOf('i/1/0', 'i'), activityOf('i/2/0', 'i')]);
      await claim('w', 2000, 2500);
      await claim('w', 2000, 2500);
      expect((await complete('i/1/0', 'w', OK, 9000)).outcome).toBe('accepted');
      await claim('v', 3000);
      expect((await complete('i/2/0', 'w', OK, 9000)).outcome).toBe('stale');
      expect((await complete('i/2/0', 'v', OK, 9000)).outcome).toBe('accepted');
    });

    it('accepts a result while the instance is suspended, and keeps the message', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000);
      await test.store.controlInstance('i', 'suspend', 1);
      expect(await complete('i/1/0', 'w')).toMatchObject({
        outcome: 'accepted',
        posted: { inSeq: 2 },
      });
      expect((await get('i')).inbox).toHaveLength(1);
    });

    it('accepts a result for an instance that has ended, without a message', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000);
      await test.store.controlInstance('i', 'terminate', 1);
      expect(await complete('i/1/0', 'w')).toMatchObject({ outcome: 'accepted', posted: null });
      expect((await get('i')).inbox).toEqual([]);
      expect(await unsettled()).toEqual([]);
    });
  });

  describe('extending and releasing an activity', () => {
    it('extends a lease only for its holder', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000, 3000);
      expect(await extend('i/1/0', 'token-w', 5000)).toEqual(EXTENDED);
      expect(await claim('v', 4999)).toBeNull();
      expect(await extend('i/1/0', 'token-v', 9000)).toBeNull();
      expect(await extend('x', 'token-w', 9000)).toBeNull();
      expect((await claim('v', 5000))?.workerId).toBe('v');
      expect(await extend('i/1/0', 'token-w', 9000)).toBeNull();
    });

    it('makes claims permanent, but only those that still hold', async () => {
      await offer(
        'i',
        [1, 2, 3, 4].map((n) => activityOf(`i/${n}/0`, 'i', { createdAt: n })),
      );
      for (const worker of ['w', 'w2', 'w3']) await claim(worker, 2000, 3000);
      await complete('i/2/0', 'w2');
      const claims = [
        { activityId: 'i/1/0', tokenHash: 'token-w' },
        { activityId: 'i/2/0', tokenHash: 'token-w2' },
        { activityId: 'i/3/0', tokenHash: 'token-other' },
        { activityId: 'i/4/0', tokenHash: 'token-w' },
        { activityId: 'x', tokenHash: 'token-w' },
      ];
      await test.store.keepClaims(claims, 3500);
      const items = await test.store.getActivities([1, 2, 3, 4].map((n) => `i/${n}/0`));
      expect(Object.fromEntries(items.map(({ availableAt, id }) => [id, availableAt]))).toEqual({
        'i/1/0': FAR_FUTURE_MS,
        'i/2/0': 3000,
        'i/3/0': 3000,
        'i/4/0': 4,
      });
    });

    it('returns a released item to its old position', async () => {
      await offer('i', [
        activityOf('i/1/0', 'i', { createdAt: 100 }),
        activityOf('i/2/0', 'i', { createdAt: 200 }),
      ]);
      await claim('w', 2000);
      expect(await test.store.releaseActivity('i/1/0', 'token-v')).toBeNull();
      expect(await test.store.releaseActivity('i/1/0', 'token-w')).toMatchObject({ name: 'ship' });
      expect(await test.store.releaseActivity('i/1/0', 'token-w')).toBeNull();
      expect(await complete('i/1/0', 'w')).toEqual({ outcome: 'stale' });
      expect(await claim('v', 2000)).toMatchObject({ id: 'i/1/0', attempt: 2 });
    });

    it("doesn't count the attempt if no worker received the item", async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000);
      expect(await test.store.releaseActivity('i/1/0', 'token-v', false)).toBeNull();
      expect(await test.store.releaseActivity('i/1/0', 'token-w', false)).toMatchObject({
        name: 'ship',
      });
      expect(await claim('v', 2000)).toMatchObject({ id: 'i/1/0', attempt: 1 });
      expect(await test.store.releaseActivity('i/1/0', 'token-v')).toMatchObject({ name: 'ship' });
      expect(await claim('w', 2000)).toMatchObject({ id: 'i/1/0', attempt: 2 });
    });

    it('changes nothing once the item is done', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000);
      await complete('i/1/0', 'w');
      expect(await extend('i/1/0', 'token-w', 9000)).toBeNull();
      expect(await test.store.releaseActivity('i/1/0', 'token-w')).toBeNull();
      expect(await claim('v', FAR_FUTURE_MS)).toBeNull();
    });
  });

  describe('getActivities', () => {
    it('returns existing items unchanged', async () => {
      await offer('i', [activityOf('i/1', 'i'), activityOf('i/2', 'i')]);
      const held = await claim('w', 2000, 9000);
      const found = await test.store.getActivities(['i/1', 'i/2', 'nope']);
      expect(found.map(({ id }) => id).sort()).toEqual(['i/1', 'i/2']);
      expect(found.find(({ id }) => id === held!.id)).toEqual(held);
      expect(await test.store.getActivities([])).toEqual([]);
    });
  });

  describe('findUnsettledActivities', () => {
    it('returns done items that no commit has applied, with their result, oldest first', async () => {
      await offer('i', [
        activityOf('i/1/0', 'i'),
        activityOf('i/2/0', 'i'),
        activityOf('i/3/0', 'i'),
      ]);
      for (const worker of ['a', 'b', 'c']) await claim(worker, 2000);
      await complete('i/2/0', 'b', OTHER, 5000);
      await complete('i/1/0', 'a', OK, 5001);
      const found = await test.store.findUnsettledActivities(6000, 10);
      expect(found.map(({ id }) => id)).toEqual(['i/2/0', 'i/1/0']);
      expect(found[0]).toMatchObject({ done: true, tokenHash: 'token-b', result: OTHER });
      expect(await unsettled(5001)).toEqual(['i/2/0']);
      expect(await unsettled(5000)).toEqual([]);
      expect(await test.store.findUnsettledActivities(6000, 1)).toHaveLength(1);
      const next = await test.store.findUnsettledActivities(6000, 1, found[0]);
      expect(next).toEqual([found[1]]);
      expect(await test.store.findUnsettledActivities(6000, 1, found[1])).toEqual([]);
    });

    it('omits items that a commit has settled', async () => {
      await offer('i', [activityOf('i/1/0', 'i'), activityOf('i/2/0', 'i')]);
      await claim('a', 2000);
      await claim('b', 2000);
      await complete('i/1/0', 'a');
      await complete('i/2/0', 'b');
      const commit = commitOf(await get('i'), {
        settleActivities: ['i/1/0'],
        removeActivities: ['i/2/0'],
      });
      await test.store.commitInstance(commit);
      await expect.poll(() => unsettled()).toEqual(['i/2/0']);
    });

    it.each(['commit', 'terminate'] as const)(
      'omits the items of an instance ended by %s',
      async (how) => {
        await offer('i', [activityOf('i/1/0', 'i')]);
        await claim('w', 2000);
        await complete('i/1/0', 'w');
        expect(await unsettled()).toEqual(['i/1/0']);
        if (how === 'terminate') await test.store.controlInstance('i', 'terminate', 9);
        else {
          const commit = commitOf(await get('i'), { status: 'Complete', endTime: 9 });
          await test.store.commitInstance(commit);
        }
        await expect.poll(() => unsettled()).toEqual([]);
      },
    );
  });
}
