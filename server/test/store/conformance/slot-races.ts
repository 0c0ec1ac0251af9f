/** Contract cases: simultaneous commits and claims that want the same slots, through two stores (rule S15). */
import { describe, expect, it } from 'vitest';
import type { StoreUnderTest } from '../conformance.js';
import { claimBy, commitOf } from '../records.js';
import { idOf, NO_CHANGES, need, on, requestOf, slotCasesOf } from '../support/slot-cases.js';

export function describeSlotRaces(test: StoreUnderTest): void {
  const { free, held, limit, offer, start, takes, wait } = slotCasesOf(test);
  const startAll = async (...ids: readonly string[]) => {
    for (const id of ids) await start(id);
  };

  describe('one of many simultaneous commits', () => {
    it('takes no more than the limit', { timeout: 60_000 }, async () => {
      await limit('api', { concurrency: 4 });
      await limit('db', { concurrency: 3 });
      const ids = Array.from({ length: 40 }, (_, n) => `i${n}`);
      await startAll(...ids);
      const stores = [test.store, await test.open()] as const;
      const records = await Promise.all(ids.map((id) => test.store.getInstance(id)));
      const outcomes = await Promise.all(
        records.map((record, n) => {
          const execution = `i${n}/1`;
          const request =
            n % 2 === 0
              ? requestOf(execution, need('api'), need('db'))
              : requestOf(execution, need('db'));
          const slots = { ...NO_CHANGES, take: [request] };
          return stores[n % 2]!.commitInstance(commitOf(record!, { slots }));
        }),
      );
      const taken = outcomes.filter(
        (each) => typeof each === 'object' && each.outcome === 'committed',
      );
      expect(taken).toHaveLength(3);
      expect(await held('db')).toBe(3);
    });

    it('leaves no slot free while somebody waits', { timeout: 60_000 }, async () => {
      await limit('db', { concurrency: 3 });
      const ids = Array.from({ length: 24 }, (_, n) => `i${n}`);
      await startAll(...ids);
      const stores = [test.store, await test.open()] as const;
      /** What a node does: it takes a slot or waits for one, works, and frees it. */
      const begun = new Set<string>();
      let most = 0;
      let holding = 0;
      const work = async (execution: string, n: number): Promise<void> => {
        if (begun.has(execution)) return;
        begun.add(execution);
        holding += 1;
        most = Math.max(most, holding);
        await new Promise((resolve) => setImmediate(resolve));
        holding -= 1;
        const outcome = await free(execution, need('db'));
        const waits = typeof outcome === 'object' && 'waits' in outcome ? outcome.waits : [];
        if (waits.length > 0) await grantAll(n);
      };
      const grantAll = async (n: number): Promise<void> => {
        const granted = await stores[n % 2]!.grantSlots({ ...on('db'), now: 5000, aheadMs: 0 });
        await Promise.all(granted.begin.map(({ execution }) => work(execution, n + 1)));
      };
      await Promise.all(
        ids.map(async (id, n) => {
          if (await takes(`${id}/1`, need('db'))) return work(`${id}/1`, n);
          await wait(`${id}/1`, n, need('db'));
          return grantAll(n);
        }),
      );
      expect(begun.size).toBe(24);
      expect(most).toBeLessThanOrEqual(3);
      expect(await held('db')).toBe(0);
      expect(await test.store.findWaitedKeys(null, 9)).toEqual([]);
    });
  });

  describe('one of many simultaneous claims of items that need slots', () => {
    it('takes no more than the limit', { timeout: 60_000 }, async () => {
      await limit('db', { concurrency: 3 });
      for (let n = 0; n < 20; n += 1) {
        await offer(`i${n}`, [need('db', n % 2 === 0 ? 'x' : 'y')], { createdAt: 1000 + n });
      }
      const stores = [test.store, await test.open()] as const;
      const claimed = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          stores[n % 2]!.claimActivity({
            name: 'ship',
            now: 2000,
            claim: claimBy(`w${n}`, 90_000),
            deferMs: 500,
          }),
        ),
      );
      const ids = claimed.map(idOf).filter((id) => id !== null);
      expect(new Set(ids).size).toBe(ids.length);
      const [use] = await test.store.countSlots(['db'], 2000);
      expect(use?.keys.map(({ held: units, key }) => [key, units]).toSorted()).toEqual([
        ['x', 3],
        ['y', 3],
      ]);
      expect(ids).toHaveLength(6);
    });
  });
}
