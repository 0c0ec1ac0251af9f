/** Contract cases: items of activities that need slots (rule S15). */
import { describe, expect, it } from 'vitest';
import { FAR_FUTURE_MS } from '../../../src/store/store.js';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, claimBy, NO_SIDE } from '../records.js';
import { beginsOf, idOf, need, on, requestOf, slotCasesOf } from '../support/slot-cases.js';

const AUDIT = { time: 6000, actor: 'me', action: 'set-priority', detail: null } as const;

export function describeSlotActivities(test: StoreUnderTest): void {
  const { change, claim, free, grant, held, limit, offer, start, take, takes, wait } =
    slotCasesOf(test);
  const itemOf = async (id: string) => (await test.store.getActivities([id]))[0];
  const states = async (name = 'ship', now = 2000) => {
    const items = await test.store.listActivityItems(name, now, null, 99);
    return Object.fromEntries(items.map(({ id, limited }) => [id, limited]));
  };
  const complete = (activityId: string, worker: string, now = 3000) =>
    test.store.completeActivity({
      activityId,
      tokenHash: `token-${worker}`,
      result: { succeeded: true, data: '1', hash: 'h' },
      now,
      message: { id: `m-${activityId}`, body: '{}' },
    });

  describe('an item that needs slots', () => {
    it('is stored with its needs, and takes its slots with the claim', async () => {
      await limit('db', { concurrency: 1 });
      const needs = [need('db', 'k', 1)];
      expect(await offer('a', needs)).toEqual({ outcome: 'inserted' });
      expect(await itemOf('a/1')).toMatchObject({ needs });
      expect(await held('db', 2000)).toBe(0);
      expect(await claim('v')).toMatchObject({
        id: 'a/1',
        needs,
        attempt: 1,
        tokenHash: 'token-v',
      });
      expect(await held('db', 2000)).toBe(1);
      await start('b');
      expect(await takes('b/1', need('db', 'k'))).toBe(false);
    });

    it('waits from its insert on if its slots are taken', async () => {
      await limit('db', { concurrency: 1 });
      await start('x');
      await take('x/1', need('db'));
      expect(await offer('a', [need('db')])).toMatchObject({
        outcome: 'inserted',
        waits: [on('db')],
      });
      await start('b');
      const side = { ...NO_SIDE, activities: [activityOf('b/1', 'b', { needs: [need('db')] })] };
      expect(await change('b', {}, { side })).toEqual({ outcome: 'committed', waits: [on('db')] });
      expect(await itemOf('a/1')).toMatchObject({ availableAt: FAR_FUTURE_MS, tokenHash: null });
      expect(await states()).toEqual({ 'a/1': true, 'b/1': true });
      expect(await claim('v')).toBeNull();
      expect(await test.store.findAvailableActivities(['ship'], 2000)).toEqual([]);
      expect(await free('x/1', need('db'))).toMatchObject({ waits: [on('db')] });
      expect(await grant('db')).toMatchObject({ begin: [], offered: ['ship'] });
      expect(await states()).toEqual({ 'a/1': false, 'b/1': true });
      expect(idOf(await claim('v'))).toBe('a/1');
      expect(await claim('w')).toBeNull();
    });

    it('is passed over, so that later items with other keys are claimed', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db', 'x')], { createdAt: 1000 });
      await offer('b', [need('db', 'x')], { createdAt: 1001 });
      await offer('c', [need('db', 'x')], { createdAt: 1002 });
      await offer('d', [need('db', 'y')], { createdAt: 1003 });
      await offer('e', [], { createdAt: 1004 });
      expect(idOf(await claim('v'))).toBe('a/1');
      expect(await claim('w')).toMatchObject({ id: 'd/1', limitedBy: [on('db', 'x')] });
      expect(await claim('u')).toMatchObject({ id: 'e/1' });
      expect(await claim('t')).toBeNull();
      expect(await states()).toMatchObject({ 'b/1': true, 'c/1': true, 'd/1': false });
    });

    it('says by which keys all of a queue is limited', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db', 'x')]);
      await offer('b', [need('db', 'y')], { createdAt: 1001 });
      await start('s');
      await take('s/1', need('db', 'x'));
      await take('s/2', need('db', 'y'));
      expect(await claim('v')).toEqual({ limitedBy: [on('db', 'x'), on('db', 'y')] });
      expect(await claim('v')).toBeNull();
    });

    it('frees its slots when it is completed', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      await claim('v');
      expect(await complete('a/1', 'v')).not.toHaveProperty('waits', [on('db')]);
      expect(await held('db', 2000)).toBe(0);
      await offer('b', [need('db')]);
      await claim('v');
      await offer('c', [need('db')]);
      expect(await complete('b/1', 'v')).toMatchObject({ outcome: 'accepted', waits: [on('db')] });
      expect(await grant('db')).toMatchObject({ offered: ['ship'] });
      expect(idOf(await claim('w'))).toBe('c/1');
      // The commit that applies the result.
      const { instances } = await test.store.statistics();
      expect(instances.Runnable).toBe(3);
      await change(
        'b',
        { free: [requestOf('b/1', need('db'))] },
        { settleActivities: ['b/1'], inSeq: (await test.store.getInstance('b'))!.inSeq },
      );
      expect(await held('db', 2000)).toBe(1);
    });

    it('says nothing of slots when an item without needs is completed or released', async () => {
      await offer('a', []);
      await offer('b', [], { createdAt: 1001 });
      await claim('v');
      expect(await complete('a/1', 'v')).not.toHaveProperty('waits');
      await claim('w');
      expect(await test.store.releaseActivity('b/1', 'token-w')).toEqual({
        name: 'ship',
        waits: [],
      });
    });

    it('frees its slots when it is released, and keeps its place', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')], { createdAt: 1000 });
      await claim('v');
      await offer('b', [need('db')], { createdAt: 1001 });
      expect(await test.store.releaseActivity('a/1', 'token-v')).toEqual({
        name: 'ship',
        waits: [on('db')],
      });
      expect(await held('db', 2000)).toBe(0);
      expect(idOf(await claim('w'))).toBe('a/1');
      expect(await test.store.releaseActivity('a/1', 'token-v')).toBeNull();
    });

    it('frees its slots when its lease ends', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      await claim('v', { leaseMs: 1000 });
      await offer('b', [need('db')], { name: 'pack', createdAt: 1001 });
      expect(await held('db', 2999)).toBe(1);
      expect(await held('db', 3000)).toBe(0);
      expect(await test.store.grantSlots({ ...on('db'), now: 2999, aheadMs: 0 })).toMatchObject({
        offered: [],
      });
      expect(await test.store.grantSlots({ ...on('db'), now: 3000, aheadMs: 0 })).toMatchObject({
        offered: ['pack'],
      });
      expect(idOf(await claim('w', { name: 'pack', now: 3000 }))).toBe('b/1');
      // The first one waits for it now.
      expect(await claim('v', { now: 3000 })).toEqual({ limitedBy: [on('db')] });
    });

    it('takes its slots again with its next claim', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      await claim('v', { leaseMs: 1000 });
      expect(await claim('w', { now: 3000 })).toMatchObject({ id: 'a/1', attempt: 2 });
      expect(await held('db', 3000)).toBe(1);
    });

    it('is not extended once its lease has ended', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      await offer('b', [], { createdAt: 1001 });
      await claim('v', { leaseMs: 1000 });
      await claim('w', { leaseMs: 1000 });
      const extend = (id: string, worker: string, now: number) =>
        test.store.extendActivity(id, `token-${worker}`, 9000, now);
      expect(await extend('a/1', 'v', 2999)).toMatchObject({ name: 'ship' });
      expect(await extend('a/1', 'v', 9000)).toBeNull();
      expect(await held('db', 9000)).toBe(0);
      expect(await extend('b/1', 'w', 9000)).toMatchObject({ name: 'ship' });
    });

    it('frees its slots when it is cancelled', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      await claim('v');
      await offer('b', [need('db')], { createdAt: 1001 });
      const cancel = { removeActivities: ['a/1'] };
      const freed = { free: [requestOf('a/1', need('db'))] };
      expect(await change('a', freed, cancel)).toEqual({ outcome: 'committed', waits: [on('db')] });
      expect(await held('db', 2000)).toBe(0);
      await grant('db', '', { now: 2000 });
      expect(idOf(await claim('w'))).toBe('b/1');
    });

    it('delays nobody once it is withdrawn or its instance has ended', async () => {
      await limit('db', { concurrency: 1 });
      await start('x');
      await take('x/1', need('db'));
      await offer('a', [need('db')], { createdAt: 1000 });
      await offer('b', [need('db')], { createdAt: 1001 });
      await offer('c', [need('db')], { createdAt: 1002 });
      await test.store.withdrawActivities(['a/1']);
      await test.store.controlInstance('b', 'terminate', 3000);
      await free('x/1', need('db'));
      expect(await grant('db')).toMatchObject({ offered: ['ship'] });
      expect(await claim('v', { now: 5000 })).toMatchObject({ id: 'c/1' });
    });

    it('keeps its slots when its instance is suspended', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      await claim('v');
      await test.store.controlInstance('a', 'suspend', 3000);
      expect(await held('db', 3000)).toBe(1);
    });

    it('waits behind others that wait, in order of priority and age', async () => {
      await limit('db', { concurrency: 1 });
      await start('x');
      await take('x/1', need('db'));
      await offer('old', [need('db')], { createdAt: 1000, priority: 4 });
      await offer('b', [need('db')], { createdAt: 1002 });
      await offer('a', [need('db')], { createdAt: 1001 });
      await wait('x/2', 1003, need('db'));
      await free('x/1', need('db'));
      expect(await grant('db')).toMatchObject({ begin: [], offered: ['ship'] });
      expect(idOf(await claim('v'))).toBe('a/1');
      await complete('a/1', 'v');
      await test.store.setPriority('old', 1, AUDIT);
      expect(await grant('db')).toMatchObject({ begin: [], offered: ['ship'] });
      expect(idOf(await claim('v'))).toBe('old/1');
      await complete('old/1', 'v');
      await grant('db');
      expect(idOf(await claim('v'))).toBe('b/1');
      await complete('b/1', 'v');
      expect(beginsOf(await grant('db'))).toEqual(['x/2']);
    });

    it('is offered by each name', async () => {
      await limit('db', { concurrency: 2 });
      await start('x');
      await take('x/1', need('db', '', 2));
      for (let n = 0; n < 3; n += 1) {
        await offer(`s${n}`, [need('db')], { createdAt: 1000 + n });
        await offer(`p${n}`, [need('db')], { createdAt: 1000 + n, name: 'pack' });
      }
      await free('x/1', need('db', '', 2));
      expect(await grant('db')).toEqual({
        begin: [],
        offered: ['pack', 'ship'],
        retryAt: null,
        moved: [],
        isCut: false,
      });
      expect(await states()).toEqual({ 's0/1': false, 's1/1': false, 's2/1': true });
      expect(await states('pack')).toEqual({ 'p0/1': false, 'p1/1': false, 'p2/1': true });
      expect(idOf(await claim('v'))).toBe('s0/1');
      expect(idOf(await claim('w', { name: 'pack' }))).toBe('p0/1');
      // Nobody is overtaken: it waits again.
      expect(await claim('u')).toEqual({ limitedBy: [on('db')] });
    });

    it('is offered as a rate allows', async () => {
      await limit('api', { rate: { count: 10, perMs: 1000, burst: 1 } });
      await offer('a', [need('api')], { createdAt: 1000 });
      await offer('b', [need('api')], { createdAt: 1001 });
      expect(idOf(await claim('v'))).toBe('a/1');
      expect(await claim('w')).toEqual({ limitedBy: [on('api')] });
      expect(await grant('api', '', { now: 2050 })).toMatchObject({ offered: [], retryAt: 2100 });
      expect(await grant('api', '', { now: 2100 })).toMatchObject({ offered: ['ship'] });
      expect(idOf(await claim('w', { now: 2100 }))).toBe('b/1');
    });

    it('waits for all of its limits', async () => {
      await limit('api', { concurrency: 1 });
      await limit('db', { concurrency: 1 });
      await start('x');
      await take('x/1', need('api'));
      await take('x/2', need('db'));
      await offer('a', [need('api'), need('db')]);
      await free('x/1', need('api'));
      expect(await grant('api')).toMatchObject({ offered: ['ship'] });
      expect(await claim('v')).toEqual({ limitedBy: [on('db')] });
      expect(await held('api')).toBe(0);
      await free('x/2', need('db'));
      expect(await grant('db')).toMatchObject({ offered: ['ship'] });
      expect(idOf(await claim('v'))).toBe('a/1');
      expect([await held('api'), await held('db')]).toEqual([1, 1]);
    });

    it('waits for a limit that was removed', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      await test.store.removeResource('limit', 'db');
      expect(await claim('v')).toEqual({ limitedBy: [on('db')] });
      expect(await grant('db')).toMatchObject({ begin: [{ execution: 'a/1', unknown: 'db' }] });
    });

    it('is in the queue again when its instance is resumed', async () => {
      await limit('db', { concurrency: 1 });
      await start('x');
      await take('x/1', need('db'));
      await offer('a', [need('db')]);
      await test.store.controlInstance('a', 'suspend', 3000);
      await free('x/1', need('db'));
      expect(await grant('db')).toMatchObject({ offered: [] });
      await test.store.controlInstance('a', 'resume', 3000);
      expect(idOf(await claim('v'))).toBe('a/1');
      expect(await test.store.findWaitedKeys(null, 9)).toEqual([]);
    });

    it('is not loaded if its parameters are too long', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')], { parameters: JSON.stringify('x'.repeat(100)) });
      const request = { name: 'ship', now: 2000, claim: claimBy('v', 9000), deferMs: 500 };
      expect(await test.store.claimActivity({ ...request, lengthMax: 50 })).toEqual({
        parametersLength: 102,
      });
      expect(await held('db', 2000)).toBe(0);
    });

    it('keeps its position and its holder if the same item is inserted again', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      await claim('v');
      const side = { ...NO_SIDE, activities: [activityOf('a/1', 'a', { needs: [need('db')] })] };
      expect(await change('a', {}, { side })).toEqual({ outcome: 'committed', waits: [] });
      expect(await itemOf('a/1')).toMatchObject({ tokenHash: 'token-v' });
      expect(await held('db', 2000)).toBe(1);
    });

    it('is not kept once its lease has ended', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      await offer('b', [need('db')], { name: 'pack', createdAt: 1001 });
      await offer('c', [], { createdAt: 1002 });
      await claim('v', { leaseMs: 1000 });
      await claim('w', { leaseMs: 1000 });
      await grant('db', '', { now: 3000 });
      expect(idOf(await claim('u', { name: 'pack', now: 3000 }))).toBe('b/1');
      const claims = [
        { activityId: 'a/1', tokenHash: 'token-v' },
        { activityId: 'b/1', tokenHash: 'token-u' },
        { activityId: 'c/1', tokenHash: 'token-w' },
      ];
      await test.store.keepClaims(claims, 3000);
      expect(await held('db', 3000)).toBe(1);
      expect(await itemOf('a/1')).toMatchObject({ availableAt: 3000 });
      expect(await itemOf('b/1')).toMatchObject({ availableAt: FAR_FUTURE_MS });
      // It holds no slots.
      expect(await itemOf('c/1')).toMatchObject({ availableAt: FAR_FUTURE_MS });
    });

    it('is not extended once others have got its slots, whatever time its caller says', async () => {
      await limit('db', { concurrency: 2 });
      await offer('a', [need('db')]);
      await offer('b', [need('db', '', 2)], { name: 'pack', createdAt: 1001 });
      await claim('v', { leaseMs: 1000 });
      await grant('db', '', { now: 3000 });
      expect(idOf(await claim('u', { name: 'pack', now: 3000 }))).toBe('b/1');
      expect(await test.store.extendActivity('a/1', 'token-v', 9000, 2500)).toBeNull();
      await test.store.keepClaims([{ activityId: 'a/1', tokenHash: 'token-v' }], 2500);
      expect(await held('db', 3000)).toBe(2);
      // Its result is still accepted: no other worker has got the item.
      expect(await complete('a/1', 'v')).toMatchObject({ outcome: 'accepted' });
      expect(await held('db', 3000)).toBe(2);
    });

    it('has no slots once it is taken over', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      await claim('v', { leaseMs: 1000 });
      await offer('b', [need('db')], { createdAt: 1001 });
      expect(await test.store.takeOverActivity('a/1', claimBy('ada'))).toMatchObject({ id: 'a/1' });
      expect(await held('db', 2000)).toBe(0);
      expect(await complete('a/1', 'ada')).toMatchObject({ waits: [on('db')] });
    });

    it('is taken over without slots', async () => {
      await limit('db', { concurrency: 1 });
      await start('x');
      await take('x/1', need('db'));
      await offer('a', [need('db')]);
      expect(await test.store.takeOverActivity('a/1', claimBy('v'))).toMatchObject({ id: 'a/1' });
      expect(await states()).toEqual({ 'a/1': false });
      expect(await test.store.findWaitedKeys(null, 9)).toEqual([]);
    });
  });
}
