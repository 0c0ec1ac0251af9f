/** Contract cases: items that a worker gets with the commit or insert that adds them, and their slots (rule S15). */
import { describe, expect, it } from 'vitest';
import type { NewActivityRecord } from '../../../src/store/records/activities.js';
import { FAR_FUTURE_MS } from '../../../src/store/store.js';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';
import { idOf, need, on, slotCasesOf } from '../support/slot-cases.js';

const LEASE_END = 9000;

export function describeSlotClaims(test: StoreUnderTest): void {
  const { change, claim, grant, held, limit, offer, start, take, takes } = slotCasesOf(test);
  const itemOf = async (id: string) => (await test.store.getActivities([id]))[0];
  const given = (id: string, worker: string, changes: Partial<NewActivityRecord> = {}) =>
    activityOf(id, id.slice(0, 1), {
      needs: [need('db')],
      claim: claimBy(worker, LEASE_END),
      ...changes,
    });
  const add = (id: string, ...activities: readonly NewActivityRecord[]) =>
    change(id, {}, { side: { ...NO_SIDE, activities: [...activities] } });

  describe('an item that is added with a claim', () => {
    it('takes its slots with the commit, and keeps them until its lease ends', async () => {
      await limit('db', { concurrency: 1 });
      await start('a');
      await start('b');
      expect(await add('a', given('a/1', 'v'))).toMatchObject({ outcome: 'committed' });
      expect(await itemOf('a/1')).toMatchObject({ attempt: 1, tokenHash: 'token-v' });
      expect(await held('db', LEASE_END - 1)).toBe(1);
      expect(await takes('b/1', need('db'))).toBe(false);
      expect(await held('db', LEASE_END)).toBe(0);
      expect(idOf(await claim('w', { now: LEASE_END }))).toBe('a/1');
    });

    it('takes its slots with the insert of its instance', async () => {
      await limit('db', { concurrency: 1 });
      expect(await offer('a', [need('db')], { claim: claimBy('v', LEASE_END) })).toMatchObject({
        outcome: 'inserted',
      });
      expect(await held('db', 2000)).toBe(1);
      const refused = await offer('b', [need('db')], { claim: claimBy('w', LEASE_END) });
      expect(refused).toEqual({
        outcome: 'no-slots',
        refused: [{ execution: 'b/1', on: on('db') }],
      });
      expect(await test.store.getInstance('b')).toBeNull();
      expect(await itemOf('b/1')).toBeUndefined();
    });

    it('refuses the commit if its slots are taken, and then waits without the claim', async () => {
      await limit('db', { concurrency: 1 });
      await start('x');
      await take('x/1', need('db'));
      await start('a');
      const before = await test.store.getInstance('a');
      expect(await add('a', given('a/1', 'v'))).toEqual({
        outcome: 'refused',
        refused: [{ execution: 'a/1', on: on('db') }],
      });
      expect(await test.store.getInstance('a')).toEqual(before);
      expect(await itemOf('a/1')).toBeUndefined();
      const unclaimed = activityOf('a/1', 'a', { needs: [need('db')] });
      expect(await add('a', unclaimed)).toMatchObject({ waits: [on('db')] });
      expect(await itemOf('a/1')).toMatchObject({ availableAt: FAR_FUTURE_MS, tokenHash: null });
    });

    it('counts for the others of the same commit', async () => {
      await limit('db', { concurrency: 2 });
      await start('a');
      const three = ['a/1', 'a/2', 'a/3'].map((id) => given(id, id));
      expect(await add('a', ...three)).toEqual({
        outcome: 'refused',
        refused: [{ execution: 'a/3', on: on('db') }],
      });
      expect(await held('db', 2000)).toBe(0);
      expect(await add('a', ...three.slice(0, 2))).toMatchObject({ outcome: 'committed' });
      expect(await held('db', 2000)).toBe(2);
    });

    it('passes nobody that waits for the key', async () => {
      await limit('db', { concurrency: 1 });
      await start('x');
      await take('x/1', need('db'));
      await offer('b', [need('db')]);
      await change('x', { free: [{ execution: 'x/1', needs: [need('db')] }] });
      await start('a');
      const later = given('a/1', 'v', { createdAt: 1001 });
      expect(await add('a', later)).toMatchObject({ outcome: 'refused' });
      expect(await grant('db')).toMatchObject({ offered: ['ship'] });
      expect(idOf(await claim('w'))).toBe('b/1');
    });

    it('spends the rate', async () => {
      await limit('db', { rate: { count: 1, perMs: 60_000, burst: 1 } });
      await start('a');
      await start('b');
      expect(await add('a', given('a/1', 'v'))).toMatchObject({ outcome: 'committed' });
      expect(await add('b', given('b/1', 'w'))).toMatchObject({ outcome: 'refused' });
    });

    it('takes no slots with a commit that is lost', async () => {
      await limit('db', { concurrency: 1 });
      await start('a');
      const record = (await test.store.getInstance('a'))!;
      await add('a');
      const side = { ...NO_SIDE, activities: [given('a/1', 'v')] };
      expect(await test.store.commitInstance(commitOf(record, { side }))).toBe('lost');
      expect(await itemOf('a/1')).toBeUndefined();
      await offer('b', [need('db')]);
      expect(idOf(await claim('w'))).toBe('b/1');
    });

    it('gives its slots to an item that exists and that nobody has', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')]);
      expect(await add('a', given('a/1', 'v'))).toMatchObject({ outcome: 'committed' });
      expect(await itemOf('a/1')).toMatchObject({ attempt: 1, tokenHash: 'token-v' });
      expect(await held('db', 2000)).toBe(1);
      // The same commit once more.
      expect(await add('a', given('a/1', 'v'))).toMatchObject({ outcome: 'committed' });
      expect(await held('db', 2000)).toBe(1);
      await start('b');
      expect(await takes('b/1', need('db'))).toBe(false);
      expect(await grant('db', '', { now: 2000 })).toMatchObject({ begin: [], offered: [] });
    });

    it('names a limit that does not exist', async () => {
      await start('a');
      expect(await add('a', given('a/1', 'v', { needs: [need('gone')] }))).toEqual({
        outcome: 'refused',
        refused: [{ execution: 'a/1', on: on('gone'), isUnknown: true }],
      });
      const record = instanceOf('b', {});
      const side = { ...NO_SIDE, activities: [given('b/1', 'v', { needs: [need('gone')] })] };
      expect(await test.store.insertInstance({ record, side })).toMatchObject({
        outcome: 'no-slots',
      });
    });
  });
}
