/** Contract cases: grants of slots to those that wait for them, and rates (rule S15). */
import { describe, expect, it } from 'vitest';
import { SLOTS_PER_GRANT } from '../../../src/store/records/slots.js';
import type { StoreUnderTest } from '../conformance.js';
import { beginsOf, need, on, requestOf, slotCasesOf } from '../support/slot-cases.js';

const NOTHING = { begin: [], offered: [], moved: [], retryAt: null, isCut: false };

export function describeSlotGrants(test: StoreUnderTest): void {
  const { begin, change, free, grant, held, limit, start, take, takes, wait } = slotCasesOf(test);

  describe('grantSlots', () => {
    it('grants free slots by priority, then by time, then by execution', async () => {
      await limit('db', { concurrency: 0 });
      for (const id of ['a', 'b', 'c']) await start(id);
      await start('urgent', { priority: 1 });
      await wait('c/1', 200, need('db'));
      await wait('b/2', 300, need('db'));
      await wait('b/1', 300, need('db'));
      await wait('a/1', 400, need('db'));
      await wait('urgent/1', 900, need('db'));
      expect(await grant('db')).toEqual(NOTHING);
      await limit('db', { concurrency: 2 });
      expect(await grant('db')).toEqual({
        ...NOTHING,
        begin: [
          { instanceId: 'urgent', execution: 'urgent/1', at: 5000 },
          { instanceId: 'c', execution: 'c/1', at: 5000 },
        ],
      });
      expect(await held('db')).toBe(2);
      await free('urgent/1', need('db'));
      await free('c/1', need('db'));
      expect(beginsOf(await grant('db'))).toEqual(['b/1', 'b/2']);
    });

    it('grants nothing for a key for which nobody waits', async () => {
      await limit('db', { concurrency: 2 });
      await start('a');
      await wait('a/1', 100, need('db', 'x'));
      expect(await grant('db', 'y')).toEqual(NOTHING);
    });

    it('returns those that have slots and have not begun, until they begin', async () => {
      await limit('db', { concurrency: 1 });
      await start('a');
      await start('b');
      await wait('a/1', 100, need('db'));
      await wait('b/1', 200, need('db'));
      expect(beginsOf(await grant('db'))).toEqual(['a/1']);
      expect(await grant('db', '', { now: 6000 })).toEqual({
        ...NOTHING,
        begin: [{ instanceId: 'a', execution: 'a/1', at: 5000 }],
      });
      expect(await test.store.findSlotPosition('a/1', 6000)).toBeNull();
      await begin('a/1');
      expect(beginsOf(await grant('db'))).toEqual([]);
      expect(await held('db')).toBe(1);
      expect(await free('a/1', need('db'))).toMatchObject({ waits: [on('db')] });
      expect(beginsOf(await grant('db'))).toEqual(['b/1']);
    });

    it('returns no longer those whose instance has ended', async () => {
      await limit('db', { concurrency: 1 });
      await start('a');
      await start('b');
      await wait('a/1', 100, need('db'));
      await wait('b/1', 200, need('db'));
      expect(beginsOf(await grant('db'))).toEqual(['a/1']);
      await test.store.controlInstance('a', 'terminate', 4000);
      expect(beginsOf(await grant('db'))).toEqual(['b/1']);
    });

    it('passes over suspended instances', async () => {
      await limit('db', { concurrency: 1 });
      await start('a');
      await start('b');
      await wait('a/1', 100, need('db'));
      await wait('b/1', 200, need('db'));
      await test.store.controlInstance('a', 'suspend', 3000);
      expect(beginsOf(await grant('db'))).toEqual(['b/1']);
      await test.store.controlInstance('a', 'resume', 3000);
      await free('b/1', need('db'));
      expect(beginsOf(await grant('db'))).toEqual(['a/1']);
    });

    it('lets nobody pass one that needs more units than are free', async () => {
      await limit('db', { concurrency: 4 });
      for (const id of ['a', 'b', 'c']) await start(id);
      await take('a/1', need('db', '', 2));
      await wait('b/1', 100, need('db', '', 3));
      await wait('c/1', 200, need('db'));
      expect(await grant('db')).toEqual(NOTHING);
      await free('a/1', need('db', '', 2));
      expect(beginsOf(await grant('db'))).toEqual(['b/1', 'c/1']);
    });

    it('lets an execution wait for its other limit once this one is free', async () => {
      await limit('api', { concurrency: 1 });
      await limit('db', { concurrency: 1 });
      for (const id of ['a', 'b', 'c', 'd']) await start(id);
      await take('a/1', need('api', 'k'));
      await take('b/1', need('db'));
      await wait('c/1', 100, need('api', 'k'), need('db'));
      await wait('d/1', 200, need('api', 'k'));
      await free('a/1', need('api', 'k'));
      // It holds neither, and delays nobody who needs only the other one.
      expect(beginsOf(await grant('api', 'k'))).toEqual(['d/1']);
      expect(await test.store.findSlotPosition('c/1', 5000)).toMatchObject({
        on: on('db'),
        since: 100,
      });
      await free('d/1', need('api', 'k'));
      expect(await free('b/1', need('db'))).toMatchObject({ waits: [on('db')] });
      expect(beginsOf(await grant('db'))).toEqual(['c/1']);
      expect([await held('api'), await held('db')]).toEqual([1, 1]);
    });

    it('says that more may be possible after many grants', async () => {
      await limit('db', { concurrency: 1000 });
      await start('a');
      const count = SLOTS_PER_GRANT + 20;
      const executions = Array.from({ length: count }, (_, n) => `a/${String(n).padStart(3, '0')}`);
      await change('a', {
        wait: executions.map((execution) => ({
          ...requestOf(execution, need('db')),
          since: 100,
          on: on('db'),
        })),
      });
      const first = await grant('db');
      expect([first.begin.length, first.isCut]).toEqual([SLOTS_PER_GRANT, true]);
      const second = await grant('db');
      expect(second.isCut).toBe(false);
      expect(second.begin.map(({ execution }) => execution)).toContain(executions.at(-1));
      expect(await held('db')).toBe(count);
      await change('a', { begun: executions });
      expect(await grant('db')).toEqual(NOTHING);
    });

    it('grants no slot twice to simultaneous callers', { timeout: 60_000 }, async () => {
      await limit('api', { concurrency: 5 });
      await limit('db', { concurrency: 4 });
      for (let n = 0; n < 12; n += 1) {
        await start(`i${n}`);
        if (n % 2 === 0) await wait(`i${n}/1`, n, need('api'), need('db'));
        else await wait(`i${n}/1`, n, need('db'));
      }
      const stores = [test.store, await test.open()] as const;
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          stores[n % 2]!.grantSlots({ ...on(n % 3 === 0 ? 'api' : 'db'), now: 5000, aheadMs: 0 }),
        ),
      );
      for (const name of ['api', 'db', 'api', 'db']) await grant(name);
      expect(await held('db')).toBe(4);
      expect(await held('api')).toBeLessThanOrEqual(4);
    });

    it('returns all that wait for an unknown limit', async () => {
      await limit('db', { concurrency: 1 });
      await start('a');
      await start('b');
      await take('a/1', need('db'));
      await wait('b/1', 100, need('db'));
      await test.store.removeResource('limit', 'db');
      expect(await grant('db')).toEqual({
        ...NOTHING,
        begin: [{ instanceId: 'b', execution: 'b/1', at: 0, unknown: 'db' }],
      });
      expect(await test.store.findWaitedKeys(null, 9)).toEqual([on('db')]);
      await free('b/1', need('db'));
      expect(await grant('db')).toEqual(NOTHING);
    });

    it('follows a limit that is raised', async () => {
      await limit('db', { concurrency: 1 });
      for (const id of ['a', 'b', 'c']) await start(id);
      await take('a/1', need('db'));
      await wait('b/1', 100, need('db'));
      await wait('c/1', 200, need('db'));
      expect(await grant('db')).toEqual(NOTHING);
      await limit('db', { concurrency: 2 });
      expect(beginsOf(await grant('db'))).toEqual(['b/1']);
    });
  });

  describe('a limit with a rate', () => {
    /** One unit each 100 ms. */
    const rate = { count: 10, perMs: 1000, burst: 2 };
    const takeAt = async (execution: string, now: number, units = 1): Promise<boolean> => {
      const outcome = await change(
        execution.split('/')[0]!,
        { take: [requestOf(execution, need('api', '', units))] },
        { lastChangeAt: now },
      );
      return typeof outcome === 'object' && outcome.outcome === 'committed';
    };

    it('lets a burst begin at once, and the others one after the other', async () => {
      await limit('api', { rate });
      await start('a');
      expect(await takeAt('a/1', 5000)).toBe(true);
      expect(await takeAt('a/2', 5000)).toBe(true);
      expect(await takeAt('a/3', 5000)).toBe(false);
      expect(await takeAt('a/3', 5099)).toBe(false);
      expect(await takeAt('a/3', 5100)).toBe(true);
      expect(await takeAt('a/4', 5150)).toBe(false);
      // What isn't used for long is no more than a burst.
      expect(await takeAt('a/5', 9000, 2)).toBe(true);
      expect(await takeAt('a/6', 9000)).toBe(false);
    });

    it('counts units that have begun, whether or not they have ended', async () => {
      await limit('api', { rate });
      await start('a');
      await takeAt('a/1', 5000, 2);
      await free('a/1', need('api', '', 2));
      expect(await held('api')).toBe(0);
      expect(await takeAt('a/2', 5000)).toBe(false);
      expect(await takes('a/2', need('api', 'other'))).toBe(true);
    });

    it('gives no more units than its burst at once', async () => {
      await limit('api', { rate });
      await start('a');
      expect(await takeAt('a/1', 50_000, 3)).toBe(false);
      await wait('a/1', 100, need('api', '', 3));
      expect(await grant('api', '', { now: 90_000 })).toEqual(NOTHING);
    });

    it('says when the next may begin', async () => {
      await limit('api', { rate });
      await start('a');
      for (let n = 1; n < 6; n += 1) await wait(`a/${n}`, n, need('api'));
      expect(await grant('api')).toEqual({
        ...NOTHING,
        begin: [
          { instanceId: 'a', execution: 'a/1', at: 5000 },
          { instanceId: 'a', execution: 'a/2', at: 5000 },
        ],
        retryAt: 5100,
      });
      await change('a', { begun: ['a/1', 'a/2'] });
      expect(await grant('api', '', { now: 5050 })).toEqual({ ...NOTHING, retryAt: 5100 });
      // Others aren't passed meanwhile, nor after that.
      expect(await takeAt('a/9', 5120)).toBe(false);
      expect(await grant('api', '', { now: 5120 })).toMatchObject({
        begin: [{ execution: 'a/3', at: 5120 }],
        retryAt: 5200,
      });
    });

    it('grants ahead of time, with the time of each', async () => {
      await limit('api', { rate });
      await start('a');
      for (let n = 1; n < 6; n += 1) await wait(`a/${n}`, n, need('api'));
      const granted = await grant('api', '', { aheadMs: 250 });
      expect(granted.begin.map(({ at, execution }) => [execution, at])).toEqual([
        ['a/1', 5000],
        ['a/2', 5000],
        ['a/3', 5100],
        ['a/4', 5200],
      ]);
      expect(granted.retryAt).toBe(5300);
      expect((await grant('api', '', { now: 5100 })).begin).toHaveLength(4);
    });

    it('holds together with a concurrency', async () => {
      await limit('api', { rate, concurrency: 1 });
      await start('a');
      for (let n = 1; n < 4; n += 1) await wait(`a/${n}`, n, need('api'));
      expect(await grant('api')).toMatchObject({ begin: [{ execution: 'a/1' }], retryAt: null });
      await free('a/1', need('api'));
      expect(await grant('api')).toMatchObject({ begin: [{ execution: 'a/2' }] });
      await free('a/2', need('api'));
      expect(await grant('api')).toEqual({ ...NOTHING, retryAt: 5100 });
    });

    it('is not lost when nothing is held, and is forgotten once it no longer matters', async () => {
      await limit('api', { rate });
      await start('a');
      await takeAt('a/1', 5000, 2);
      await free('a/1', need('api', '', 2));
      const purge = (before: number) =>
        test.store.purge({
          instancesEndedBefore: 0,
          untoldEndedBefore: 0,
          eventsPublishedBefore: 0,
          activitiesDoneBefore: before,
          limit: 100,
        });
      await purge(5150);
      expect(await takeAt('a/2', 5050)).toBe(false);
      await purge(5201);
      expect(await takeAt('a/2', 5050)).toBe(true);
    });
  });
}
