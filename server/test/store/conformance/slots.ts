/** Contract cases: slots of limits that commits and inserts take, and that others wait for (rule S15). */
import { describe, expect, it } from 'vitest';
import type { ConflictRule } from '../../../src/store/records/instances.js';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, commitOf, instanceOf, NO_SIDE } from '../records.js';
import { beginsOf, NO_CHANGES, need, on, requestOf, slotCasesOf } from '../support/slot-cases.js';

const AUDIT = { time: 6000, actor: 'me', detail: null } as const;

export function describeSlots(test: StoreUnderTest): void {
  const { begin, change, free, grant, held, limit, start, take, takes, wait } = slotCasesOf(test);
  const startAll = async (...ids: readonly string[]) => {
    for (const id of ids) await start(id);
  };

  describe('a commit that takes slots', () => {
    it('takes them up to the concurrency, and then names the limit', async () => {
      await limit('db', { concurrency: 2 });
      await startAll('a', 'b', 'c');
      expect(await take('a/1', need('db'))).toEqual({ outcome: 'committed', waits: [] });
      expect(await takes('b/1', need('db'))).toBe(true);
      expect(await take('c/1', need('db'))).toEqual({
        outcome: 'refused',
        refused: [{ execution: 'c/1', on: on('db') }],
      });
      expect(await held('db')).toBe(2);
    });

    it('changes nothing if it is refused', async () => {
      await limit('api', { rate: { count: 1, perMs: 1000, burst: 2 }, concurrency: 9 });
      await limit('db', { concurrency: 1 });
      await startAll('a', 'b');
      await take('a/1', need('db'));
      await take('b/0', need('api'));
      const before = await test.store.getInstance('b');
      const refused = await change(
        'b',
        {
          take: [requestOf('b/4', need('api')), requestOf('b/1', need('db'))],
          wait: [{ ...requestOf('b/2', need('db')), since: 1, on: on('db') }],
          free: [requestOf('b/0', need('api'))],
        },
        {
          side: {
            history: [{ instanceId: 'b', sequence: 1, body: 'x' }],
            subscriptions: [{ id: 's', instanceId: 'b', nameKey: 'paid/7', effectiveAt: 1 }],
            activities: [activityOf('b/3', 'b', { needs: [need('db')] })],
          },
          state: '{"changed":true}',
          status: 'Complete',
          endTime: 7,
          outcome: 'Succeeded',
        },
      );
      expect(refused).toEqual({
        outcome: 'refused',
        refused: [{ execution: 'b/1', on: on('db') }],
      });
      expect(await test.store.getInstance('b')).toEqual(before);
      expect(await test.store.readHistory('b', 0, 9)).toEqual([]);
      expect(await test.store.getActivities(['b/3'])).toEqual([]);
      expect([await held('db'), await held('api')]).toEqual([1, 1]);
      expect(await test.store.findWaitedKeys(null, 9)).toEqual([]);
      // The second unit of the rate wasn't spent.
      expect(await takes('a/2', need('api'))).toBe(true);
    });

    it('loses against another owner before its slots are judged', async () => {
      await limit('db', { concurrency: 1 });
      await startAll('a', 'b');
      await take('a/1', need('db'));
      const record = (await test.store.getInstance('b'))!;
      const slots = { ...NO_CHANGES, take: [requestOf('b/1', need('db'))] };
      const stale = commitOf({ ...record, epoch: 9 }, { slots });
      expect(await test.store.commitInstance(stale)).toBe('lost');
    });

    it('has a separate budget for each key', async () => {
      await limit('db', { concurrency: 1 });
      await startAll('a', 'b', 'c', 'd');
      expect(await takes('a/1', need('db', 'x'))).toBe(true);
      expect(await takes('b/1', need('db', 'y'))).toBe(true);
      expect(await takes('c/1', need('db'))).toBe(true);
      expect(await takes('d/1', need('db', 'x'))).toBe(false);
    });

    it('counts units', async () => {
      await limit('db', { concurrency: 5 });
      await startAll('a', 'b', 'c', 'd');
      expect(await takes('a/1', need('db', '', 3))).toBe(true);
      expect(await takes('b/1', need('db', '', 3))).toBe(false);
      expect(await takes('c/1', need('db', '', 2))).toBe(true);
      expect(await takes('d/1', need('db'))).toBe(false);
      expect(await held('db')).toBe(5);
      await limit('small', { concurrency: 2 });
      expect(await takes('d/2', need('small', '', 3))).toBe(false);
    });

    it('takes all slots of an execution or none', async () => {
      await limit('api', { concurrency: 1 });
      await limit('db', { concurrency: 1 });
      await startAll('a', 'b', 'c');
      await take('a/1', need('db'));
      expect(await take('b/1', need('api'), need('db'))).toEqual({
        outcome: 'refused',
        refused: [{ execution: 'b/1', on: on('db') }],
      });
      expect(await held('api')).toBe(0);
      expect(await takes('c/1', need('api'))).toBe(true);
    });

    it('takes the slots of all executions or of none', async () => {
      await limit('db', { concurrency: 2 });
      await startAll('a', 'b');
      const requests = ['a/1', 'a/2', 'a/3'].map((execution) => requestOf(execution, need('db')));
      expect(await change('a', { take: requests })).toEqual({
        outcome: 'refused',
        refused: [{ execution: 'a/3', on: on('db') }],
      });
      expect(await held('db')).toBe(0);
      await change('a', { take: requests.slice(0, 2) });
      expect(await held('db')).toBe(2);
    });

    it('gives a slot that it frees to another execution', async () => {
      await limit('db', { concurrency: 1 });
      await startAll('a');
      await take('a/1', need('db'));
      const next = { free: [requestOf('a/1', need('db'))], take: [requestOf('a/2', need('db'))] };
      expect(await change('a', next)).toEqual({ outcome: 'committed', waits: [] });
      expect(await held('db')).toBe(1);
      await free('a/2', need('db'));
      expect(await held('db')).toBe(0);
    });

    it('keeps the slot of an execution that asks again', async () => {
      await limit('db', { concurrency: 1 });
      await startAll('a');
      expect(await takes('a/1', need('db'))).toBe(true);
      expect(await takes('a/1', need('db'))).toBe(true);
      expect(await held('db')).toBe(1);
    });

    it('names limits that do not exist', async () => {
      await limit('db', { concurrency: 1 });
      await startAll('a');
      expect(await take('a/1', need('db'), need('gone', 'k'))).toEqual({
        outcome: 'refused',
        refused: [{ execution: 'a/1', on: on('gone', 'k'), isUnknown: true }],
      });
      const item = activityOf('a/2', 'a', { needs: [need('gone', 'k')] });
      const side = { ...NO_SIDE, activities: [item] };
      expect(await change('a', {}, { side })).toEqual({
        outcome: 'refused',
        refused: [{ execution: 'a/2', on: on('gone', 'k'), isUnknown: true }],
      });
      expect(await test.store.getActivities(['a/2'])).toEqual([]);
      expect(await held('db')).toBe(0);
    });

    it('follows a limit that is changed', async () => {
      await limit('db', { concurrency: 1 });
      await startAll('a', 'b', 'c', 'd');
      await take('a/1', need('db'));
      await limit('db', { concurrency: 3 });
      expect(await takes('b/1', need('db'))).toBe(true);
      expect(await takes('c/1', need('db'))).toBe(true);
      await limit('db', { concurrency: 2 });
      await free('a/1', need('db'));
      expect(await takes('d/1', need('db'))).toBe(false);
      await free('b/1', need('db'));
      expect(await takes('d/1', need('db'))).toBe(true);
    });

    it('takes keys with odd characters', async () => {
      const keys = ['', ' ', 'a/b', 'é\u0000', '\ud800', '😀'.repeat(128), `'"\\%_`, 'null'];
      await limit('db\u0000', { concurrency: 1 });
      await startAll('a', 'b');
      for (const [n, key] of keys.entries()) {
        expect(await takes(`a/${n}`, need('db\u0000', key))).toBe(true);
        expect(await takes(`b/${n}`, need('db\u0000', key))).toBe(false);
        await wait(`b/${n}`, 100, need('db\u0000', key));
        expect(await free(`a/${n}`, need('db\u0000', key))).toEqual({
          outcome: 'committed',
          waits: [on('db\u0000', key)],
        });
        expect(beginsOf(await grant('db\u0000', key))).toEqual([`b/${n}`]);
      }
      const [use] = await test.store.countSlots(['db\u0000'], 5000);
      expect(use?.keys.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
      expect(await test.store.findWaitedKeys(null, 99)).toHaveLength(keys.length);
    });
  });

  describe('slots and others that wait', () => {
    it('passes nobody that waits for the key', async () => {
      await limit('db', { concurrency: 2 });
      await startAll('a', 'b', 'c');
      await wait('a/1', 100, need('db'));
      expect(await take('b/1', need('db'))).toEqual({
        outcome: 'refused',
        refused: [{ execution: 'b/1', on: on('db') }],
      });
      expect(await takes('b/1', need('db', 'other'))).toBe(true);
      // It takes what it waits for itself.
      expect(await takes('a/1', need('db'))).toBe(true);
    });

    it('passes those of a lower priority', async () => {
      await limit('db', { concurrency: 9 });
      await startAll('a');
      await start('urgent', { priority: 1 });
      await start('patient', { priority: 5 });
      await wait('a/1', 100, need('db'));
      expect(await takes('urgent/1', need('db'))).toBe(true);
      expect(await takes('patient/1', need('db'))).toBe(false);
    });

    it('passes those of suspended, ended and purged instances', async () => {
      await limit('db', { concurrency: 9 });
      await startAll('a', 'b', 'c', 'd');
      await wait('a/1', 100, need('db'));
      await wait('b/1', 100, need('db'));
      await wait('c/1', 100, need('db'));
      expect(await takes('d/1', need('db'))).toBe(false);
      await test.store.controlInstance('a', 'suspend', 3000);
      await test.store.controlInstance('b', 'terminate', 3000);
      await test.store.controlInstance('c', 'terminate', 3000);
      const ended = (await test.store.getInstance('c'))!;
      await test.store.removeInstances([ended]);
      expect(await takes('d/1', need('db'))).toBe(true);
      await test.store.controlInstance('a', 'resume', 3000);
      expect(await takes('d/2', need('db'))).toBe(false);
    });

    it('moves what waits with the priority of its instance', async () => {
      await limit('db', { concurrency: 9 });
      await startAll('a', 'b');
      await wait('a/1', 100, need('db'));
      expect(await takes('b/1', need('db'))).toBe(false);
      await test.store.setPriority('a', 5, { ...AUDIT, action: 'set-priority' });
      expect(await takes('b/1', need('db'))).toBe(true);
    });
  });

  describe('a slot that is freed', () => {
    it('is free with the commit that ends the execution, which names the keys that others wait for', async () => {
      await limit('db', { concurrency: 1 });
      await startAll('a', 'b', 'c');
      await take('a/1', need('db'));
      await take('c/1', need('db', 'k'));
      await wait('b/1', 100, need('db'));
      expect(await free('c/1', need('db', 'k'))).toEqual({ outcome: 'committed', waits: [] });
      expect(await free('a/1', need('db'))).toEqual({ outcome: 'committed', waits: [on('db')] });
      expect(await held('db')).toBe(0);
      expect(await free('a/1', need('db'))).toMatchObject({ outcome: 'committed' });
    });

    it('is free once its instance has ended, whoever ends it', async () => {
      await limit('db', { concurrency: 9 });
      await startAll('a', 'b', 'c');
      await take('a/1', need('db'));
      await take('b/1', need('db'));
      await take('c/1', need('db'));
      await test.store.controlInstance('a', 'terminate', 3000);
      expect(await held('db')).toBe(2);
      const end = { status: 'Complete', endTime: 7, outcome: 'Succeeded' } as const;
      await change('b', { free: [requestOf('b/1', need('db'))] }, end);
      expect(await held('db')).toBe(1);
      await test.store.controlInstance('c', 'suspend', 3000);
      expect(await held('db')).toBe(1);
    });

    it('is free while no commit of the ended instance has freed it, and after a purge', async () => {
      await limit('db', { concurrency: 1 });
      await startAll('a', 'b', 'c');
      await take('a/1', need('db'));
      await test.store.controlInstance('a', 'terminate', 3000);
      expect(await takes('b/1', need('db'))).toBe(true);
      const ended = (await test.store.getInstance('a'))!;
      expect((await test.store.removeInstances([ended])).removed).toBe(1);
      expect(await held('db')).toBe(1);
      await start('a');
      expect(await held('db')).toBe(1);
    });

    it('is no longer waited for', async () => {
      await limit('db', { concurrency: 1 });
      await startAll('a', 'b');
      await wait('a/1', 100, need('db'));
      await free('a/1', need('db'));
      expect(await test.store.findWaitedKeys(null, 9)).toEqual([]);
      expect(await takes('b/1', need('db'))).toBe(true);
    });
  });

  describe('an insert that takes slots', () => {
    const insert = (id: string, conflict?: ConflictRule) =>
      test.store.insertInstance({
        record: instanceOf(id, { reference: 'r', requestHash: 'h' }),
        side: NO_SIDE,
        slots: { ...NO_CHANGES, take: [requestOf(`${id}/1`, need('db'))] },
        ...(conflict !== undefined && { conflict }),
      });

    it('inserts with its slots, or not at all', async () => {
      await limit('db', { concurrency: 1 });
      expect(await insert('a')).toMatchObject({ outcome: 'inserted' });
      expect(await held('db')).toBe(1);
      expect(await insert('b')).toEqual({
        outcome: 'no-slots',
        refused: [{ execution: 'b/1', on: on('db') }],
      });
      expect(await test.store.getInstance('b')).toBeNull();
      expect(await insert('a')).toMatchObject({ outcome: 'exists' });
    });

    it('counts all executions that it begins', async () => {
      await limit('db', { concurrency: 1 });
      const both = ['a/1', 'a/2'].map((execution) => requestOf(execution, need('db')));
      const slots = { ...NO_CHANGES, take: both };
      const result = await test.store.insertInstance({
        record: instanceOf('a'),
        side: NO_SIDE,
        slots,
      });
      expect(result).toMatchObject({ outcome: 'no-slots', refused: [{ execution: 'a/2' }] });
      expect(await held('db')).toBe(0);
    });

    it('waits', async () => {
      await limit('db', { concurrency: 1 });
      await startAll('x');
      await take('x/1', need('db'));
      const slots = {
        ...NO_CHANGES,
        wait: [{ ...requestOf('a/1', need('db')), since: 100, on: on('db') }],
      };
      await test.store.insertInstance({ record: instanceOf('a'), side: NO_SIDE, slots });
      expect(await free('x/1', need('db'))).toMatchObject({ waits: [on('db')] });
      expect(beginsOf(await grant('db'))).toEqual(['a/1']);
      await begin('a/1');
      expect(await held('db')).toBe(1);
    });

    it('judges the reference first, and terminates nothing if its slots are refused', async () => {
      await limit('db', { concurrency: 1 });
      await insert('a');
      expect(await insert('b', { action: 'refuse' })).toMatchObject({ outcome: 'in-use' });
      await startAll('x');
      await free('a/1', need('db'));
      await take('x/1', need('db'));
      const replace: ConflictRule = {
        action: 'terminate',
        audit: { ...AUDIT, action: 'terminate' },
      };
      expect(await insert('c', replace)).toMatchObject({ outcome: 'no-slots' });
      expect(await test.store.getInstance('a')).toMatchObject({ status: 'Runnable' });
      await free('x/1', need('db'));
      await take('a/1', need('db'));
      // The slots of what it replaces are free.
      expect(await insert('c', replace)).toMatchObject({
        outcome: 'inserted',
        terminated: [{ id: 'a' }],
      });
      expect(await held('db')).toBe(1);
    });

    it('names unknown limits of its items', async () => {
      const side = {
        ...NO_SIDE,
        activities: [activityOf('a/1', 'a', { needs: [need('gone')] })],
      };
      expect(await test.store.insertInstance({ record: instanceOf('a'), side })).toEqual({
        outcome: 'no-slots',
        refused: [{ execution: 'a/1', on: on('gone'), isUnknown: true }],
      });
      expect(await test.store.getInstance('a')).toBeNull();
      expect(await test.store.getActivities(['a/1'])).toEqual([]);
    });
  });
}
