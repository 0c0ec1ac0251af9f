/** Contract cases: the use of limits and the waits for them, for display and for recovery. */
import { describe, expect, it } from 'vitest';
import { HOLDERS_MAX } from '../../../src/store/records/places.js';
import { LIMIT_KEYS_MAX } from '../../../src/store/records/slots.js';
import type { StoreUnderTest } from '../conformance.js';
import { need, on, slotCasesOf } from '../support/slot-cases.js';

export function describeSlotUse(test: StoreUnderTest): void {
  const { claim, grant, limit, offer, start, take, wait } = slotCasesOf(test);

  describe('countSlots', () => {
    it('counts what is held and who waits, by key', async () => {
      await limit('db', { concurrency: 2 });
      await start('a');
      await start('b');
      await take('a/1', need('db', 'x', 2));
      await take('a/2', need('db', 'y'));
      await wait('b/1', 300, need('db', 'x'));
      await wait('b/2', 200, need('db', 'x', 2));
      expect(await test.store.countSlots(['db', 'none'], 5000)).toEqual([
        {
          held: 3,
          waiting: 2,
          keys: [
            { key: 'x', held: 2, waiting: 2, oldestWaitSince: 200 },
            { key: 'y', held: 1, waiting: 0, oldestWaitSince: null },
          ],
        },
        { held: 0, waiting: 0, keys: [] },
      ]);
    });

    it('counts items that nobody has asked for as waiting once no slot is free', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')], { createdAt: 1000 });
      await offer('b', [need('db')], { createdAt: 1001 });
      const waiting = async () => (await test.store.countSlots(['db'], 2000))[0]?.waiting;
      expect(await waiting()).toBe(0);
      await claim('v');
      expect(await waiting()).toBe(1);
      await claim('w');
      expect(await waiting()).toBe(1);
    });

    it('counts nothing of ended instances', async () => {
      await limit('db', { concurrency: 1 });
      await start('a');
      await start('b');
      await take('a/1', need('db'));
      await wait('b/1', 300, need('db'));
      await test.store.controlInstance('a', 'terminate', 3000);
      await test.store.controlInstance('b', 'terminate', 3000);
      const [use] = await test.store.countSlots(['db'], 5000);
      expect([use?.held, use?.waiting]).toEqual([0, 0]);
    });

    it('lists the keys with the most waiting', async () => {
      await limit('db', { concurrency: 1 });
      await start('a');
      const last = LIMIT_KEYS_MAX + 4;
      for (let n = 0; n <= last; n += 1) {
        await take(`a/h${n}`, need('db', `k${String(n).padStart(3, '0')}`));
      }
      await wait('a/1', 100, need('db', `k${last}`));
      const [use] = await test.store.countSlots(['db'], 5000);
      expect(use).toMatchObject({ held: last + 1, waiting: 1 });
      expect(use?.keys).toHaveLength(LIMIT_KEYS_MAX);
      expect(use?.keys.slice(0, 2)).toMatchObject([
        { key: `k${last}`, waiting: 1 },
        { key: 'k000' },
      ]);
    });
  });

  describe('findSlotPosition', () => {
    it('says who holds the slots and how many wait before', async () => {
      await limit('db', { concurrency: 12 });
      for (let n = 0; n < 12; n += 1) {
        const id = `h${String(n).padStart(2, '0')}`;
        await start(id);
        await take(`${id}/1`, need('db'));
      }
      await start('a');
      await start('urgent', { priority: 1 });
      await wait('a/1', 300, need('db'));
      await wait('a/2', 200, need('db'));
      await wait('urgent/1', 400, need('db'));
      const position = await test.store.findSlotPosition('a/1', 5000);
      expect(position).toMatchObject({ on: on('db'), since: 300, held: 12, ahead: 2, nextAt: 0 });
      expect(position?.holders).toEqual(
        Array.from({ length: HOLDERS_MAX }, (_, n) => `h${String(n).padStart(2, '0')}`),
      );
      expect(await test.store.findSlotPosition('h00/1', 5000)).toBeNull();
      expect(await test.store.findSlotPosition('unknown', 5000)).toBeNull();
    });

    it('says when the rate allows the next', async () => {
      await limit('api', { rate: { count: 1, perMs: 1000, burst: 1 } });
      await start('a');
      await take('a/1', need('api'));
      await wait('a/2', 300, need('api'));
      // The commit was at 2000.
      expect(await test.store.findSlotPosition('a/2', 2500)).toMatchObject({ nextAt: 3000 });
    });

    it('knows items that wait, and those that nobody has asked for', async () => {
      await limit('db', { concurrency: 1 });
      await offer('a', [need('db')], { createdAt: 1000 });
      await offer('b', [need('db')], { createdAt: 1001 });
      expect(await test.store.findSlotPosition('b/1', 2000)).toBeNull();
      await claim('v');
      const position = { on: on('db'), since: 1001, held: 1, holders: ['a'], ahead: 0 };
      expect(await test.store.findSlotPosition('b/1', 2000)).toMatchObject(position);
      await claim('w');
      expect(await test.store.findSlotPosition('b/1', 2000)).toMatchObject(position);
      expect(await test.store.findSlotPosition('a/1', 2000)).toBeNull();
    });
  });

  describe('findWaitedKeys', () => {
    it('lists keys for which others wait or have not begun, page by page', async () => {
      await limit('api', { concurrency: 1 });
      await limit('db', { concurrency: 1 });
      await start('a');
      await start('ended');
      await take('a/0', need('db', 'held'));
      await wait('a/1', 100, need('db', 'x'));
      await wait('a/2', 100, need('db', 'x'));
      await wait('a/3', 100, need('db'));
      await wait('a/4', 100, need('api', 'z'));
      await wait('a/5', 100, need('db', 'granted'));
      await grant('db', 'granted');
      await wait('ended/1', 100, need('db', 'ended'));
      await test.store.controlInstance('ended', 'terminate', 3000);
      const all = [on('api', 'z'), on('db'), on('db', 'granted'), on('db', 'x')];
      expect(await test.store.findWaitedKeys(null, 9)).toEqual(all);
      expect(await test.store.findWaitedKeys(null, 2)).toEqual(all.slice(0, 2));
      expect(await test.store.findWaitedKeys(all[1]!, 9)).toEqual(all.slice(2));
      expect(await test.store.findWaitedKeys(all[3]!, 9)).toEqual([]);
    });

    it('lists the keys of suspended instances', async () => {
      await limit('db', { concurrency: 1 });
      await start('a');
      await wait('a/1', 100, need('db'));
      await test.store.controlInstance('a', 'suspend', 3000);
      expect(await test.store.findWaitedKeys(null, 9)).toEqual([on('db')]);
    });
  });
}
