/** Contract cases: starts that wait for the open instances with their reference (rule S10). */
import { describe, expect, it } from 'vitest';
import type { ConflictRule, InstanceRecord } from '../../../src/store/records/instances.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, instanceOf, NO_SIDE } from '../records.js';

const FIRST: ConflictRule = { action: 'queue', queued: false };
const LATER: ConflictRule = { action: 'queue', queued: true };

export function describeQueues(test: StoreUnderTest): void {
  const start = (
    id: string,
    conflict: ConflictRule | null,
    changes: Partial<InstanceRecord> = {},
  ) => {
    const record = instanceOf(id, { reference: 'r', ...changes });
    const rule = conflict === null ? {} : { conflict };
    return test.store.insertInstance({ record, side: NO_SIDE, ...rule });
  };
  const before = (id: string, at: number, reference = 'r') =>
    test.store.findPredecessor({ definitionId: 'order', reference, id, at });

  describe('an insert into a queue', () => {
    it('starts at once if no instance with the reference is open', async () => {
      await start('ended', null, { status: 'Complete', endTime: 5, outcome: 'Succeeded' });
      await start('other', null, { reference: 's' });
      await start('elsewhere', null, { definitionId: 'other' });
      expect(await start('a', LATER, { startTime: 2000 })).toEqual({ outcome: 'free' });
      expect(await test.store.getInstance('a')).toBeNull();
      expect(await start('a', FIRST, { startTime: 2000 })).toMatchObject({ outcome: 'inserted' });
    });

    it('waits after the last one', async () => {
      await start('a', null, { startTime: 1000 });
      const refused = await start('b', FIRST, { startTime: 2000 });
      expect(refused).toMatchObject({ outcome: 'in-use', record: { id: 'a' } });
      const queued = { startTime: 2000, queued: true } as const;
      expect(await start('b', LATER, queued)).toMatchObject({ outcome: 'inserted' });
      expect(await test.store.getInstance('b')).toMatchObject({ queued: true });
      expect(await before('b', 2000)).toBe('a');
      expect(await before('a', 1000)).toBeNull();
    });

    it('is after every instance that was inserted before it, whatever the clocks say', async () => {
      await start('a', null, { startTime: 3000 });
      const refused = await start('b', LATER, { startTime: 2000 });
      expect(refused).toMatchObject({ outcome: 'in-use', record: { id: 'a', startTime: 3000 } });
      const same = await start('Z', LATER, { startTime: 3000 });
      expect(same).toMatchObject({ outcome: 'in-use' });
      expect(await start('b', LATER, { startTime: 3001 })).toMatchObject({ outcome: 'inserted' });
    });

    it('returns an instance with its id first', async () => {
      await start('a', null);
      expect(await start('a', FIRST)).toMatchObject({ outcome: 'exists' });
      expect(await start('a', LATER)).toMatchObject({ outcome: 'exists' });
    });

    it('lets one of 50 simultaneous callers start at once', async () => {
      const ids = Array.from({ length: 50 }, (_, n) => `i${n}`);
      const stores = [test.store, await test.open()] as const;
      const results = await Promise.all(
        ids.map((id, n) =>
          stores[n % 2]!.insertInstance({
            record: instanceOf(id, { reference: 'r', startTime: 2000 }),
            side: NO_SIDE,
            conflict: FIRST,
          }),
        ),
      );
      const outcomes = results.map(({ outcome }) => outcome);
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'in-use')).toHaveLength(49);
    });
  });

  describe('findPredecessor', () => {
    it('returns the last open instance before a place', async () => {
      await start('a', null, { startTime: 1000 });
      await start('b', null, { startTime: 2000 });
      await start('c', null, { startTime: 2000 });
      await start('d', null, { startTime: 3000, status: 'Suspended' });
      expect(await before('e', 4000)).toBe('d');
      expect(await before('d', 3000)).toBe('c');
      expect(await before('c', 2000)).toBe('b');
      expect(await before('b', 2000)).toBe('a');
      await test.store.controlInstance('d', 'terminate', 5000);
      expect(await before('e', 4000)).toBe('c');
      expect(await before('e', 4000, 'none')).toBeNull();
    });

    it('counts an instance that starts later from that time on', async () => {
      await start('later', null, { startTime: 1000, countsFrom: 5000 });
      await start('now', null, { startTime: 3000 });
      expect(await before('x', 4000)).toBe('now');
      expect(await before('x', 6000)).toBe('later');
      expect(await before('later', 5000)).toBe('now');
      await test.store.controlInstance('now', 'terminate', 5000);
      expect(await start('y', LATER, { startTime: 4000 })).toEqual({ outcome: 'free' });
      const behind = await start('y', FIRST, { startTime: 5000 });
      expect(behind).toMatchObject({
        outcome: 'in-use',
        record: { id: 'later', countsFrom: 5000 },
      });
    });
  });

  describe('queued instances', () => {
    it('are listed while they are open and wait', async () => {
      for (const [id, queued] of [
        ['a', false],
        ['b', true],
        ['c', true],
        ['d', true],
      ] as const) {
        await start(id, null, { queued, startTime: 1000 });
      }
      const listed = async () => {
        const page = { filter: { queued: true }, after: null, limit: 9 } as const;
        return (await test.store.listInstances(page)).items.map(({ id }) => id);
      };
      expect(await listed()).toEqual(['d', 'c', 'b']);
      const record = (await test.store.getInstance('b'))!;
      await test.store.commitInstance(commitOf(record, { queued: false }));
      await test.store.controlInstance('c', 'terminate', 2000);
      expect(await listed()).toEqual(['d']);
      const counted = {
        filter: { queued: true, definitionId: 'order' },
        after: null,
        max: 9,
      } as const;
      expect(await test.store.countInstances(counted)).toMatchObject({ count: 1 });
      expect(await test.store.getInstance('b')).toMatchObject({ queued: false });
      const [kept] = await test.store.getSummaries(['d']);
      await test.store.commitInstance(commitOf(kept!));
      expect(await test.store.getInstance('d')).toMatchObject({ queued: true });
    });
  });
}
