/** Contract cases: the turns of fairness keys among those that wait for slots of a limit, or for a place. */
import { describe, expect, it } from 'vitest';
import type { Fairness, Priority } from '../../../src/engine/model/start-options.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, instanceOf, NO_SIDE } from '../records.js';
import { beginsOf, idOf, need, slotCasesOf } from '../support/slot-cases.js';

const AUDIT = { time: 5, actor: 'ada', action: 'set-priority', detail: null } as const;

const fairnessOf = (key: string, weight = 1): Fairness | null =>
  key === '' ? null : { key, weight };
/** Of an id such as `a-3` or `a-3/1`. */
const keyOf = (id: string): string => id.split('-')[0]!;

export function describeFairLines(test: StoreUnderTest): void {
  const slots = slotCasesOf(test);
  /** Effects `<key>-<n>/1` that wait for a slot of `db`. */
  const wait = async (
    key: string,
    count: number,
    more: { from?: number; since?: number; weight?: number; priority?: Priority } = {},
  ) => {
    const { from = 0, priority = 3, since = 1000, weight = 1 } = more;
    for (let n = from; n < from + count; n += 1) {
      const id = `${key}-${n}`;
      await slots.start(id, { fairness: fairnessOf(key === 'none' ? '' : key, weight), priority });
      await slots.wait(`${id}/1`, since + n, need('db'));
    }
  };
  /** Those that get the only slot one after another. */
  const serve = async (count: number): Promise<readonly string[]> => {
    const served: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const [execution] = beginsOf(await slots.grant('db'));
      if (execution === undefined) break;
      served.push(execution);
      await slots.begin(execution);
      await slots.free(execution, need('db'));
    }
    return served;
  };
  const sorted = (keys: string) => keys.split('').toSorted().join('');
  const keysOf = (executions: readonly string[]) => executions.map(keyOf).join('');
  /** The only slot is given back. */
  const complete = async (id: string) => {
    await test.store.completeActivity({
      activityId: id,
      tokenHash: 'token-w',
      result: { succeeded: true, data: '1', hash: 'h' },
      now: 3000,
      message: { id: `m-${id}`, body: '{}' },
    });
    return slots.grant('db');
  };

  describe('the line of a limit', () => {
    it('lets equal keys take turns, and keeps the order of each', async () => {
      await slots.limit('db', { concurrency: 1 });
      await wait('a', 6);
      await wait('b', 3, { since: 2000 });
      const served = await serve(9);
      expect(keysOf(served)).toBe('ababab' + 'aaa');
      expect(served.filter((each) => keyOf(each) === 'a')[5]).toBe('a-5/1');
    });

    it('serves keys in proportion to their weights, and by priority first', async () => {
      await slots.limit('db', { concurrency: 1 });
      await wait('a', 9, { weight: 1 });
      await wait('b', 9, { weight: 3 });
      await wait('c', 2, { priority: 1, since: 5000 });
      const served = await serve(10);
      expect(keysOf(served.slice(0, 2))).toBe('cc');
      expect(served.filter((each) => keyOf(each) === 'a')).toHaveLength(2);
    });

    it('starts a key that comes late at the present, and treats those without a key as one', async () => {
      await slots.limit('db', { concurrency: 1 });
      await wait('none', 8);
      expect(keysOf(await serve(2))).toBe('nonenone');
      await wait('b', 4, { since: 3000 });
      const served = (await serve(6)).map(keyOf);
      expect(served.filter((key) => key === 'b')).toHaveLength(3);
    });

    it('passes over suspended instances without charging their key', async () => {
      await slots.limit('db', { concurrency: 1 });
      await wait('a', 6);
      await wait('b', 2, { since: 2000 });
      for (const id of ['b-0', 'b-1']) await test.store.controlInstance(id, 'suspend', 2000);
      expect(keysOf(await serve(3))).toBe('aaa');
      for (const id of ['b-0', 'b-1']) await test.store.controlInstance(id, 'resume', 2000);
      expect(
        keysOf(await serve(4))
          .split('')
          .toSorted()
          .join(''),
      ).toBe('aabb');
    });

    it('gives several free slots in turns', async () => {
      await slots.limit('db', { concurrency: 4 });
      await wait('a', 6);
      await wait('b', 6, { since: 2000 });
      const begun = beginsOf(await slots.grant('db')).map(keyOf);
      expect(begun.toSorted()).toEqual(['a', 'a', 'b', 'b']);
    });

    it('lets nobody pass an execution whose turn it is, and that needs more than is free', async () => {
      await slots.limit('db', { concurrency: 2 });
      await slots.start('h');
      expect(await slots.takes('h/1', need('db'))).toBe(true);
      await wait('a', 1);
      await slots.start('big', { fairness: fairnessOf('big') });
      await slots.wait('big/1', 500, need('db', '', 2));
      await slots.start('next', { fairness: fairnessOf('a') });
      expect(await slots.takes('next/1', need('db'))).toBe(false);
      const first = beginsOf(await slots.grant('db'));
      // One of them is first: if it is the big one, the other waits with it.
      if (first.length === 0) {
        await slots.free('h/1', need('db'));
        expect(beginsOf(await slots.grant('db'))).toEqual(['big/1']);
      } else expect(first).toEqual(['a-0/1']);
    });

    it('lets one that waits for another key go on there in its turn', async () => {
      await slots.limit('api', { concurrency: 1 });
      await slots.limit('db', { concurrency: 1 });
      await slots.start('h');
      expect(await slots.takes('h/1', need('db'))).toBe(true);
      await wait('a', 2);
      await slots.start('b-0', { fairness: fairnessOf('b') });
      await slots.wait('b-0/1', 3000, need('api'), need('db'));
      expect((await slots.grant('api')).moved).toEqual([{ limit: 'db', key: '' }]);
      await slots.free('h/1', need('db'));
      const served = keysOf(await serve(2));
      expect(sorted(served)).toBe('ab');
    });

    it('follows a changed priority', async () => {
      await slots.limit('db', { concurrency: 1 });
      await wait('a', 3);
      await wait('b', 3, { since: 2000, priority: 1 });
      for (const id of ['a-1', 'a-2']) await test.store.setPriority(id, 1, AUDIT);
      const served = keysOf(await serve(6));
      expect(sorted(served.slice(0, 4))).toBe('aabb');
      expect(served.slice(4)).toBe('ba');
    });

    it('offers items in turns, and charges those that are claimed', async () => {
      await slots.limit('db', { concurrency: 1 });
      for (let n = 0; n < 6; n += 1) {
        await slots.offer(`a-${n}`, [need('db')], {
          createdAt: 100 + n,
          fairness: fairnessOf('a')!,
        });
      }
      for (let n = 0; n < 6; n += 1) {
        await slots.offer(`b-${n}`, [need('db')], {
          createdAt: 200 + n,
          fairness: fairnessOf('b')!,
        });
      }
      const served: string[] = [];
      for (let n = 0; n < 8; n += 1) {
        const claimed = await slots.claim('w', { leaseMs: 100_000 });
        const id = idOf(claimed);
        expect(id).not.toBeNull();
        served.push(id!);
        await complete(id!);
      }
      expect(served.filter((id) => keyOf(id) === 'a')).toHaveLength(4);
      expect(served.filter((id) => keyOf(id) === 'b')).toEqual([
        'b-0/1',
        'b-1/1',
        'b-2/1',
        'b-3/1',
      ]);
    });

    it('lets items and other executions take turns', async () => {
      await slots.limit('db', { concurrency: 1 });
      await wait('a', 5);
      for (let n = 0; n < 5; n += 1) {
        await slots.offer(`b-${n}`, [need('db')], {
          createdAt: 1500 + n,
          fairness: fairnessOf('b')!,
        });
      }
      const served: string[] = [];
      for (let n = 0; n < 20 && served.length < 8; n += 1) {
        // A worker waits, so it takes what is offered.
        const id = idOf(await slots.claim('w', { leaseMs: 100_000, now: 5000 }));
        if (id !== null) {
          served.push(id);
          await complete(id);
          continue;
        }
        for (const execution of beginsOf(await slots.grant('db'))) {
          served.push(execution);
          await slots.begin(execution);
          await slots.free(execution, need('db'));
        }
      }
      const keys = served.map(keyOf);
      expect(keys.filter((key) => key === 'a')).toHaveLength(4);
      expect(keys.filter((key) => key === 'b')).toHaveLength(4);
    });

    it('lets keys take turns among grants of several nodes', async () => {
      const other = await test.open();
      await slots.limit('db', { concurrency: 1 });
      await wait('a', 12);
      await wait('b', 12, { since: 2000 });
      const request = { limit: 'db', key: '', now: 5000, aheadMs: 0 };
      const served: string[] = [];
      for (let n = 0; n < 20; n += 1) {
        const grants = await Promise.all([
          test.store.grantSlots(request),
          other.grantSlots(request),
        ]);
        const begun = new Set(grants.flatMap(beginsOf));
        expect(begun.size).toBe(1);
        const [execution = ''] = begun;
        served.push(keyOf(execution));
        await slots.begin(execution);
        await slots.free(execution, need('db'));
      }
      expect(served.filter((key) => key === 'a')).toHaveLength(10);
    });
  });

  describe('the line of places', () => {
    const queue = (id: string, key: string, more: { at?: number; priority?: Priority } = {}) => {
      const { at = 1000, priority = 3 } = more;
      const place = {
        concurrencyKey: 'k',
        place: 'waiting',
        countsFrom: at,
        queued: true,
      } as const;
      const record = instanceOf(id, {
        ...place,
        fairness: fairnessOf(key),
        priority,
        startTime: at,
      });
      const places = { limit: 1, maxQueued: null };
      return test.store.insertInstance({ record, side: NO_SIDE, places });
    };
    const grant = (limit: number, asking: string | null = null) =>
      test.store.grantPlaces({ definitionId: 'order', key: 'k', limit, asking, now: 5000 });
    /** Those that get the only place one after another. */
    const run = async (count: number): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) {
        const [id] = (await grant(1)).ids;
        if (id === undefined) break;
        ids.push(id);
        const record = (await test.store.getInstance(id))!;
        await test.store.commitInstance(commitOf(record, { queued: false, takesPlace: true }));
        await test.store.controlInstance(id, 'terminate', 9000);
      }
      return ids;
    };

    it('lets equal keys take turns, by priority first, and keeps the order of each', async () => {
      for (let n = 0; n < 4; n += 1) await queue(`a-${n}`, 'a', { at: 1000 + n });
      for (let n = 0; n < 4; n += 1) await queue(`b-${n}`, 'b', { at: 2000 + n });
      await queue('c-0', '', { at: 3000, priority: 1 });
      expect(await run(9)).toEqual(['c-0', 'a-0', 'b-0', 'a-1', 'b-1', 'a-2', 'b-2', 'a-3', 'b-3']);
    });

    it('grants several places in turns', async () => {
      for (let n = 0; n < 5; n += 1) await queue(`a-${n}`, 'a', { at: 1000 + n });
      for (let n = 0; n < 5; n += 1) await queue(`b-${n}`, 'b', { at: 2000 + n });
      const { ids } = await grant(6);
      expect(ids.toSorted()).toEqual(['a-0', 'a-1', 'a-2', 'b-0', 'b-1', 'b-2']);
    });

    it('starts a key that comes late at the present, also one that asks later', async () => {
      for (let n = 0; n < 9; n += 1) await queue(`a-${n}`, 'a', { at: 1000 + n });
      expect(await run(4)).toHaveLength(4);
      const later = { concurrencyKey: 'k', place: 'later', countsFrom: 9000 } as const;
      const record = instanceOf('b-0', { ...later, fairness: fairnessOf('b'), queued: true });
      await test.store.insertInstance({ record, side: NO_SIDE });
      await grant(1, 'b-0');
      const ids = await run(2);
      expect(ids.map(keyOf).toSorted()).toEqual(['a', 'b']);
    });

    it('passes over suspended instances, and follows a changed priority', async () => {
      for (let n = 0; n < 3; n += 1) await queue(`a-${n}`, 'a', { at: 1000 + n });
      for (let n = 0; n < 3; n += 1) await queue(`b-${n}`, 'b', { at: 2000 + n });
      await test.store.controlInstance('b-0', 'suspend', 3000);
      await test.store.setPriority('a-2', 1, AUDIT);
      await test.store.setPriority('b-2', 1, AUDIT);
      const ids = await run(5);
      expect(ids.slice(0, 2).toSorted()).toEqual(['a-2', 'b-2']);
      expect(ids.slice(2)).toEqual(['a-0', 'b-1', 'a-1']);
    });
  });
}
