/** Contract cases: instances, their compare-and-set, and how nodes find and claim them. */
import { describe, expect, it } from 'vitest';
import type { InstanceCommit, InstanceRecord } from '../../../src/store/records/instances.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, instanceOf, NO_SIDE } from '../records.js';
import { callsOn } from './instance-calls.js';

export function describeInstances(test: StoreUnderTest): void {
  const { insert, get, post } = callsOn(test);

  describe('insertInstance', () => {
    it('keeps every field', async () => {
      const record = instanceOf('i', {
        reference: 'order 7',
        lastChangeAt: 1234,
        errorAt: 1200,
        failingSince: 1100,
        failure: { key: 'k', stepId: 's', type: 'T', message: 'm' },
        wakeAt: 77,
        owner: 'node',
        epoch: 3,
        inSeq: 2,
        inbox: [
          { id: 'z', body: '1' },
          { id: 'a', body: '2' },
        ],
        revision: 9,
        underWay: true,
        crashes: 4,
        state: '{"a":1}',
        schemaVersion: 2,
        requestHash: 'hash',
        restartOf: 'first',
        restartedAs: 'third',
        retentionMs: 1500,
      });
      expect(await test.store.insertInstance({ record, side: NO_SIDE })).toEqual({
        outcome: 'inserted',
      });
      expect(await test.store.getInstance('i')).toEqual(record);
      expect(await test.store.getInstance('I')).toBeNull();
    });

    it('returns an existing record, and changes nothing', async () => {
      await insert('i', { state: 'first', requestHash: 'hash' });
      const again = await insert('i', { state: 'second' });
      expect(again).toEqual({
        outcome: 'exists',
        record: instanceOf('i', { state: 'first', requestHash: 'hash' }),
      });
      expect((await get('i')).state).toBe('first');
    });
  });

  describe('insertInstance of a child', () => {
    it('limits the open descendants of a root', async () => {
      const root = { rootId: 'top', parentId: 'top' };
      const start = (id: string, changes: Partial<InstanceRecord> = root, max = 3) =>
        test.store.insertInstance({
          record: instanceOf(id, changes),
          side: NO_SIDE,
          openDescendantsMax: max,
        });
      await insert('top');
      expect(await start('a')).toEqual({ outcome: 'inserted' });
      expect(await start('b', { ...root, status: 'Suspended' })).toEqual({ outcome: 'inserted' });
      // Ended instances, and those of other roots, do not count.
      const ended = { ...root, status: 'Complete', endTime: 5, outcome: 'Succeeded' } as const;
      expect(await start('ended', ended)).toEqual({ outcome: 'inserted' });
      expect(await start('other', { rootId: 'b', parentId: 'b' })).toEqual({ outcome: 'inserted' });
      expect(await start('c', { ...root, parentId: 'a' })).toEqual({ outcome: 'inserted' });
      expect(await start('d')).toEqual({ outcome: 'full' });
      expect(await test.store.getInstance('d')).toBeNull();
      // An existing instance was started: a repetition is not a start.
      expect(await start('a')).toMatchObject({ outcome: 'exists', record: { id: 'a', ...root } });
      // Roots are not limited, and neither are insertions that name no limit.
      expect(await start('root', {}, 0)).toEqual({ outcome: 'inserted' });
      await insert('unlimited', root);
      await test.store.controlInstance('a', 'terminate', 9);
      await test.store.commitInstance(
        commitOf(await get('b'), { status: 'Complete', endTime: 9, outcome: 'Succeeded' }),
      );
      expect(await get('b')).toMatchObject(root);
      expect(await start('d')).toEqual({ outcome: 'inserted' });
      expect(await start('e')).toEqual({ outcome: 'full' });
    });

    it('counts open descendants correctly if many are inserted at once', async () => {
      await insert('top');
      const max = 70;
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, async (_, n) => {
          const record = instanceOf(`d${n}`, { rootId: 'top', parentId: 'top' });
          const insertion = { record, side: NO_SIDE, openDescendantsMax: max };
          return (await test.store.insertInstance(insertion)).outcome;
        }),
      );
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(max);
      expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(30);
      const filter = { parentId: 'top' };
      const { items: children } = await test.store.listInstances({
        filter,
        after: null,
        limit: 200,
      });
      expect(children).toHaveLength(max);
    });
  });

  describe('commitInstance', () => {
    it('moves an instance to another version, with the retention of that version', async () => {
      const kept = { version: 1, retentionMs: 5000 };
      await insert('i', kept);
      const commit = async (changes: Partial<InstanceCommit>) => {
        const record = await get('i');
        expect(await test.store.commitInstance(commitOf(record, changes))).toBe('committed');
        return get('i');
      };
      expect(await commit({})).toMatchObject(kept);
      const moved = { version: 2, retentionMs: 7000 };
      expect(await commit(moved)).toMatchObject(moved);
      const back = { version: 1, retentionMs: null };
      expect(await commit(back)).toMatchObject(back);
      expect(await commit({})).toMatchObject(back);
    });

    it('writes the new values, empties the inbox and increments the revision', async () => {
      await insert('i', { owner: 'node', crashes: 3, revision: 5, startTime: 9 });
      await post('i', 'm1', 'm2');
      const outcome = await test.store.commitInstance(
        commitOf(await get('i'), {
          status: 'Complete',
          endTime: 50,
          outcome: 'Compensated',
          lastChangeAt: 51,
          errorAt: 49,
          failingSince: 7,
          failure: { key: 'k', stepId: 's', type: 'T', message: 'm' },
          wakeAt: 60,
          underWay: true,
          state: 'new',
          schemaVersion: 2,
        }),
      );
      expect(outcome).toBe('committed');
      expect(await get('i')).toEqual(
        instanceOf('i', {
          status: 'Complete',
          startTime: 9,
          endTime: 50,
          outcome: 'Compensated',
          lastChangeAt: 51,
          errorAt: 49,
          failingSince: 7,
          failure: { key: 'k', stepId: 's', type: 'T', message: 'm' },
          wakeAt: 60,
          underWay: true,
          owner: 'node',
          inSeq: 2,
          revision: 6,
          state: 'new',
          schemaVersion: 2,
        }),
      );
    });

    it('keeps the crash count and the inbox only on request', async () => {
      await insert('i', { crashes: 3, underWay: true });
      await post('i', 'm');
      await test.store.commitInstance(commitOf(await get('i'), { crashes: 2, keepInbox: true }));
      expect(await get('i')).toMatchObject({ crashes: 2, underWay: false, inbox: [{ id: 'm' }] });
      await test.store.commitInstance(commitOf(await get('i')));
      expect(await get('i')).toMatchObject({ crashes: 0, inbox: [] });
    });

    it('does not change the owner', async () => {
      await insert('i', { owner: 'node' });
      await test.store.commitInstance(commitOf(await get('i')));
      expect((await get('i')).owner).toBe('node');
    });

    it.each([
      ['an old epoch', { epoch: 0 }],
      ['a newer epoch', { epoch: 2 }],
      ['an old inSeq', { inSeq: 0 }],
      ['an unknown id', { id: 'x' }],
      ['an old revision', { revision: 0 }],
    ])('changes nothing with %s', async (_title, wrong) => {
      await insert('i');
      await post('i', 'm');
      const before = await get('i');
      const commit = commitOf(before, { state: 'lost', wakeAt: 5, ...wrong });
      expect(await test.store.commitInstance(commit)).toBe('lost');
      expect(await get('i')).toEqual(before);
    });
  });

  describe('claimInstance', () => {
    const claim = (id: string, epoch: number, suspected = false) =>
      test.store.claimInstance({ id, epoch, owner: 'thief', suspected });

    it("doesn't claim an instance whose format is newer than the claiming node supports", async () => {
      await insert('i', { owner: 'node', schemaVersion: 3 });
      const before = await get('i');
      const claimAs = (schemaVersionMax: number) =>
        test.store.claimInstance({
          id: 'i',
          epoch: 1,
          owner: 'thief',
          suspected: true,
          schemaVersionMax,
        });
      expect(await claimAs(2)).toBeNull();
      expect(await get('i')).toEqual(before);
      expect(await claimAs(3)).toMatchObject({ owner: 'thief', epoch: 2, schemaVersion: 3 });
    });

    it('sets the owner, increments the epoch and returns the whole record', async () => {
      await insert('i', { owner: 'node', epoch: 4, wakeAt: 3, state: 'kept' });
      await post('i', 'm');
      const claimed = await claim('i', 4);
      expect(claimed).toEqual(
        instanceOf('i', {
          owner: 'thief',
          epoch: 5,
          inSeq: 1,
          inbox: [{ id: 'm', body: 'body m' }],
          wakeAt: 0,
          state: 'kept',
        }),
      );
      expect(await get('i')).toEqual(claimed);
    });

    it('rejects later commits of the previous owner', async () => {
      await insert('i', { owner: 'node' });
      const before = await get('i');
      await claim('i', 1);
      expect(await test.store.commitInstance(commitOf(before))).toBe('lost');
      expect(await claim('i', 1)).toBeNull();
      expect(await claim('x', 1)).toBeNull();
    });

    it("makes the instance due on request, so that it's found again", async () => {
      await insert('i', { wakeAt: 500 });
      await insert('j', { wakeAt: null });
      const claimDue = (id: string, due: boolean) =>
        test.store.claimInstance({ id, epoch: 1, owner: 'thief', suspected: false, due });
      expect((await claimDue('i', false))?.wakeAt).toBe(500);
      expect((await claimDue('j', true))?.wakeAt).toBe(0);
      expect((await test.store.findDueInstances(1, 5)).map(({ id }) => id)).toEqual(['j']);
    });

    it('claims an instance that must rest only while nobody has begun to work on its messages', async () => {
      for (const id of ['new', 'read', 'begun']) await insert(id, { owner: 'node' });
      await insert('busy', { owner: 'node', underWay: true });
      for (const id of ['new', 'read', 'begun', 'busy']) await post(id, 'm');
      await test.store.commitInstance(commitOf(await get('read')));
      await test.store.commitInstance(commitOf(await get('begun'), { underWay: true }));
      const claimResting = async (id: string) =>
        (await test.store.claimInstance({
          id,
          epoch: 1,
          owner: 'thief',
          suspected: false,
          resting: true,
        })) !== null;
      expect(await claimResting('busy')).toBe(false);
      expect(await claimResting('begun')).toBe(false);
      expect(await claimResting('read')).toBe(false);
      expect(await claimResting('new')).toBe(true);
      expect((await get('begun')).owner).toBe('node');
    });

    it('counts crashes of dead nodes until a commit', async () => {
      await insert('i');
      expect((await claim('i', 1, true))?.crashes).toBe(1);
      expect((await claim('i', 2, true))?.crashes).toBe(2);
      expect((await claim('i', 3))?.crashes).toBe(2);
      await test.store.commitInstance(commitOf(await get('i')));
      expect((await get('i')).crashes).toBe(0);
    });
  });

  describe('setCrashes', () => {
    it('sets the count unless the instance has since been claimed', async () => {
      await insert('i', { epoch: 4, crashes: 2 });
      expect(await test.store.setCrashes('i', 4, 1)).toBe(true);
      expect(await get('i')).toEqual(instanceOf('i', { epoch: 4, crashes: 1 }));
      expect(await test.store.setCrashes('i', 3, 9)).toBe(false);
      expect(await test.store.setCrashes('x', 1, 9)).toBe(false);
      expect((await get('i')).crashes).toBe(1);
    });
  });

  describe('due instances', () => {
    it('sorts by wakeAt, earliest first, whatever the status', async () => {
      await insert('late', { wakeAt: 300 });
      await insert('b', { wakeAt: 100, owner: 'node', epoch: 7, schemaVersion: 9 });
      await insert('a', { wakeAt: 100, status: 'Terminated', endTime: 1 });
      await insert('now', { wakeAt: 0, status: 'Suspended' });
      await insert('never');
      const { schemaVersion } = await get('now');
      const claim = {
        owner: null,
        epoch: 1,
        underWay: false,
        crashes: 0,
        lastChangeAt: 1000,
        schemaVersion,
      };
      expect(await test.store.findDueInstances(100, 10)).toEqual([
        { id: 'now', wakeAt: 0, ...claim },
        { id: 'a', wakeAt: 100, ...claim },
        { id: 'b', wakeAt: 100, ...claim, owner: 'node', epoch: 7, schemaVersion: 9 },
      ]);
      expect((await test.store.findDueInstances(1000, 2)).map(({ id }) => id)).toEqual([
        'now',
        'a',
      ]);
    });

    it('returns due instances in pages', async () => {
      for (const [id, wakeAt] of Object.entries({ d: 7, a: 5, c: 5, b: 5, e: 9 })) {
        await insert(id, { wakeAt });
      }
      const page = async (after?: { readonly wakeAt: number; readonly id: string }) =>
        (await test.store.findDueInstances(8, 2, after)).map(({ id }) => id);
      expect(await page()).toEqual(['a', 'b']);
      expect(await page({ wakeAt: 5, id: 'b' })).toEqual(['c', 'd']);
      expect(await page({ wakeAt: 7, id: 'd' })).toEqual([]);
    });
  });

  describe('the instances of a dead node', () => {
    it('finds instances by owner if an effect is in progress', async () => {
      await insert('b', { owner: 'one', underWay: true, epoch: 3, crashes: 2, wakeAt: 9 });
      await insert('a', { owner: 'one', underWay: true, lastChangeAt: 5 });
      await insert('c', { owner: 'two', underWay: true });
      await insert('d', { owner: 'one', wakeAt: 5 });
      const ids = async (...args: Parameters<typeof test.store.findInstancesUnderWay>) =>
        (await test.store.findInstancesUnderWay(...args)).map(({ id }) => id);
      const [first, second] = await test.store.findInstancesUnderWay('one', null, 10);
      const { schemaVersion } = await get('a');
      const claim = { owner: 'one', underWay: true, schemaVersion };
      expect(first).toEqual({
        ...claim,
        id: 'a',
        epoch: 1,
        wakeAt: null,
        crashes: 0,
        lastChangeAt: 5,
      });
      expect(second).toEqual({
        ...claim,
        id: 'b',
        epoch: 3,
        wakeAt: 9,
        crashes: 2,
        lastChangeAt: 1000,
      });
      expect(await ids('one', null, 1)).toEqual(['a']);
      expect(await ids('one', 'a', 10)).toEqual(['b']);
      expect(await ids('three', null, 10)).toEqual([]);
    });

    it("finds instances by owner if they're runnable and changed recently", async () => {
      await insert('a', { owner: 'one', lastChangeAt: 7 });
      await insert('b', { owner: 'one', lastChangeAt: 5 });
      await insert('c', { owner: 'two', lastChangeAt: 6 });
      await insert('d', { owner: 'one', lastChangeAt: 6, status: 'Suspended' });
      await insert('e', { owner: 'one', lastChangeAt: 6, status: 'Complete', endTime: 6 });
      await insert('f', { owner: 'one', lastChangeAt: 4 });
      await insert('g', { owner: 'one', lastChangeAt: 5, wakeAt: 3 });
      const ids = async (time: number, id = '', limit = 10) =>
        (await test.store.findChangedInstances('one', { time, id }, limit)).map((i) => i.id);
      expect(await ids(5)).toEqual(['b', 'g', 'a']);
      expect(await ids(5, '', 2)).toEqual(['b', 'g']);
      expect(await ids(5, 'b')).toEqual(['g', 'a']);
      expect(await ids(8)).toEqual([]);
      await test.store.commitInstance(commitOf(await get('f'), { lastChangeAt: 9 }));
      expect(await ids(8)).toEqual(['f']);
    });
  });
}
