/** Contract cases: waits for slots that the simulation has found to be forgotten, or counted wrongly. */
import { describe, expect, it } from 'vitest';
import type { StoreUnderTest } from '../conformance.js';
import { instanceOf, NO_SIDE } from '../records.js';
import { need, NO_CHANGES, on, requestOf, slotCasesOf } from '../support/slot-cases.js';

export function describeSlotWaits(test: StoreUnderTest): void {
  const { claim, free, grant, limit, offer, start, take, wait } = slotCasesOf(test);

  describe('a wait for slots', () => {
    it('is returned when it moves to another key, so that somebody looks at that key', async () => {
      await limit('api', { rate: { count: 1, perMs: 1000, burst: 1 } });
      await limit('db', { concurrency: 1 });
      await start('a');
      await start('b');
      await take('a/1', need('api'));
      await wait('b/1', 1000, need('db'), need('api'));
      const second = await grant('db', '', { now: 1500 });
      expect(second.begin).toEqual([]);
      expect(second.moved).toEqual([on('api')]);
    });

    it('gets its slots behind items that nobody claims', async () => {
      await limit('db', { concurrency: 1 });
      await start('a');
      await start('c');
      await take('a/1', need('db'));
      await offer('b', [need('db')], { createdAt: 1000 });
      await offer('b2', [need('db')], { createdAt: 1001 });
      await wait('c/1', 2000, need('db'));
      await free('a/1', need('db'));
      expect((await grant('db')).offered).toEqual(['ship']);
      expect((await grant('db')).begin).toMatchObject([{ execution: 'c/1' }]);
    });
  });

  it('counts what an insert takes from the time of the insert', async () => {
    await limit('api', { rate: { count: 1, perMs: 1000, burst: 1 } });
    const record = instanceOf('a', { startTime: 1000, lastChangeAt: 1025 });
    const slots = { ...NO_CHANGES, take: [requestOf('a/1', need('api'))] };
    await test.store.insertInstance({ record, side: NO_SIDE, slots });
    await start('b');
    await wait('b/1', 1025, need('api'));
    expect(await grant('api', '', { now: 2000 })).toMatchObject({ begin: [], retryAt: 2025 });
  });

  it('counts no item of a suspended instance whose lease has ended, and revives none', async () => {
    await limit('db', { concurrency: 1 });
    await offer('a', [need('db')], { createdAt: 1000 });
    await claim('one', { leaseMs: 500 });
    await test.store.controlInstance('a', 'suspend', 2100);
    await claim('two', { now: 3000 });
    expect(await test.store.countSlots(['db'], 3001)).toMatchObject([{ held: 0 }]);
    expect(await test.store.extendActivity('a/1', 'token-one', 9000, 3001)).toBeNull();
  });
}
