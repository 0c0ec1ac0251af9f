/** Contract cases: lists of instances, their filters and their orders. */
import { describe, expect, it } from 'vitest';
import type {
  InstanceFilter,
  InstancePosition,
} from '../../../src/store/records/instance-lists.js';
import { SEARCHED_MAX } from '../../../src/store/search-plan.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf } from '../records.js';
import { callsOn } from './instance-calls.js';

export function describeInstanceLists(test: StoreUnderTest): void {
  const { insert, get } = callsOn(test);

  describe('getSummaries', () => {
    it('returns the instances that exist, without state or inbox', async () => {
      const ids = Array.from({ length: 120 }, (_, at) => `i${at}`);
      for (const id of ids) await insert(id, { reference: 'r' });
      const found = await test.store.getSummaries(['unknown', ...ids]);
      expect(found.map(({ id }) => id).sort()).toEqual([...ids].sort());
      const { items } = await test.store.listInstances({ filter: {}, after: null, limit: 5 });
      expect(found.find(({ id }) => id === items[0]?.id)).toEqual(items[0]);
    });

    it('returns nothing for no ids', async () => {
      expect(await test.store.getSummaries([])).toEqual([]);
    });
  });

  describe('listInstances', () => {
    const list = async (
      filter: InstanceFilter,
      after: InstancePosition | null = null,
      limit = 50,
    ) => (await test.store.listInstances({ filter, after, limit })).items.map(({ id }) => id);

    it('returns summaries without state or inbox', async () => {
      await insert('i', { reference: 'r', owner: 'node', requestHash: 'h' });
      const { items } = await test.store.listInstances({ filter: {}, after: null, limit: 5 });
      const expected: Record<string, unknown> = { ...(await get('i')) };
      delete expected['state'];
      delete expected['inbox'];
      expect(items[0]).toEqual(expected);
    });

    it('sorts newest first, and keeps its position if start times are equal', async () => {
      const times = [3, 1, 2, 2, 2, 3, 1];
      for (const [index, startTime] of times.entries()) await insert(`i${index}`, { startTime });
      const everything = await list({});
      expect(everything).toEqual(['i5', 'i0', 'i4', 'i3', 'i2', 'i6', 'i1']);
      for (const limit of [1, 2, 3]) {
        const paged: string[] = [];
        let after: InstancePosition | null = null;
        for (;;) {
          const { items: page } = await test.store.listInstances({ filter: {}, after, limit });
          paged.push(...page.map(({ id }) => id));
          const last = page.at(-1);
          after = last === undefined ? null : { time: last.startTime, id: last.id };
          if (page.length < limit || after === null) break;
        }
        expect(paged).toEqual(everything);
      }
    });

    it('filters by each field and by several', async () => {
      await insert('a', { startTime: 1, reference: 'r1' });
      await insert('b', { startTime: 2, status: 'Suspended' });
      await insert('c', { startTime: 3, definitionId: 'other', version: 2, reference: 'r1' });
      await insert('d', { startTime: 4, version: 2 });
      await insert('e', { startTime: 5, definitionId: 'other', status: 'Complete', endTime: 6 });
      expect(await list({ status: 'Runnable' })).toEqual(['d', 'c', 'a']);
      expect(await list({ definitionId: 'order' })).toEqual(['d', 'b', 'a']);
      expect(await list({ definitionId: 'order', version: 2 })).toEqual(['d']);
      expect(await list({ version: 2 })).toEqual(['d', 'c']);
      const ofOrder = { definitionId: 'order', version: 1 };
      expect(await list(ofOrder)).toEqual(['b', 'a']);
      expect(await list(ofOrder, { time: 2, id: 'b' })).toEqual(['a']);
      expect(await list({ ...ofOrder, status: 'Suspended' })).toEqual(['b']);
      expect(await list({ ...ofOrder, startedFrom: 2 })).toEqual(['b']);
      expect(await list({ ...ofOrder, unchangedSince: 9999 })).toEqual(['a', 'b']);
      expect(await list({ ...ofOrder, version: 3 })).toEqual([]);
      const count = { filter: ofOrder, after: null, max: 9 };
      expect(await test.store.countInstances(count)).toEqual({ count: 2, searchedTo: null });
      expect(await list({ reference: 'r1' })).toEqual(['c', 'a']);
      expect(await list({ reference: 'r1', definitionId: 'other' })).toEqual(['c']);
      expect(await list({ reference: 'R1' })).toEqual([]);
      expect(await list({ startedFrom: 2, startedTo: 4 })).toEqual(['c', 'b']);
      expect(await list({ definitionId: 'other', status: 'Complete' })).toEqual(['e']);
      expect(await list({ status: 'Runnable', startedTo: 4 }, { time: 3, id: 'c' })).toEqual(['a']);
      expect(await list({ status: 'Runnable' }, null, 2)).toEqual(['d', 'c']);
    });

    it('filters by prefixes of definition ids', async () => {
      const definitionIds = [
        'a',
        'ab',
        'a%',
        'a_',
        'aB',
        'b',
        'é',
        'éa',
        '\u{10ffff}',
        '\u{10ffff}z',
      ];
      for (const [index, definitionId] of definitionIds.entries()) {
        await insert(definitionId, { definitionId, startTime: index, reference: 'r' });
      }
      const within = async (...definitionPrefixes: readonly string[]) => {
        const counted = { filter: { definitionPrefixes }, after: null, max: 99 };
        const found = await list({ definitionPrefixes });
        expect((await test.store.countInstances(counted)).count).toBe(found.length);
        return found.toReversed();
      };
      expect(await within()).toEqual([]);
      expect(await within('a')).toEqual(['a', 'ab', 'a%', 'a_', 'aB']);
      expect(await within('a_', 'b')).toEqual(['a_', 'b']);
      expect(await within('ab', 'aB', 'A')).toEqual(['ab', 'aB']);
      expect(await within('é')).toEqual(['é', 'éa']);
      expect(await within('\u{10ffff}')).toEqual(['\u{10ffff}', '\u{10ffff}z']);
      const combined = { definitionPrefixes: ['a'], reference: 'r', startedFrom: 1 } as const;
      expect(await list({ ...combined, definitionId: 'ab' })).toEqual(['ab']);
      expect(await list({ ...combined, definitionId: 'b' })).toEqual([]);
      expect(await list(combined, null, 2)).toEqual(['aB', 'a_']);
      expect(await list(combined, { time: 3, id: 'a_' }, 2)).toEqual(['a%', 'ab']);
    });

    it('finds the oldest of many versions in one call', async () => {
      // More than one call walks.
      const runs = SEARCHED_MAX + 100;
      await Promise.all(
        Array.from({ length: runs }, (_, n) =>
          insert(`i${n}`, { version: n < 3 ? 1 : 2 + (n % 20), startTime: n }),
        ),
      );
      const filter = { definitionId: 'order', version: 1 };
      for (const more of [{}, { status: 'Runnable' }, { parentId: null, startedTo: 2 }] as const) {
        const page = { filter: { ...filter, ...more }, after: null, limit: 10 };
        const { items, searchedTo } = await test.store.listInstances(page);
        const expected = 'startedTo' in more ? ['i1', 'i0'] : ['i2', 'i1', 'i0'];
        expect([items.map(({ id }) => id), searchedTo]).toEqual([expected, null]);
        const count = { filter: page.filter, after: null, max: 10 };
        expect(await test.store.countInstances(count)).toEqual({
          count: expected.length,
          searchedTo: null,
        });
      }
    });

    it('filters by outcome and by parent', async () => {
      const child = { parentId: 'a', startTime: 5 };
      await insert('a', { startTime: 1 });
      await insert('b', { startTime: 2, status: 'Complete', endTime: 3, outcome: 'Succeeded' });
      await insert('c', { ...child, status: 'Complete', endTime: 6, outcome: 'Compensated' });
      await insert('d', { ...child, definitionId: 'other', startTime: 6 });
      await insert('e', { ...child, parentId: 'd', startTime: 7 });
      expect(await get('c')).toMatchObject({ outcome: 'Compensated', parentId: 'a' });
      expect(await list({})).toEqual(['e', 'd', 'c', 'b', 'a']);
      expect(await list({ parentId: null })).toEqual(['b', 'a']);
      expect(await list({ parentId: null }, { time: 2, id: 'b' })).toEqual(['a']);
      expect(await list({ parentId: null, status: 'Runnable' })).toEqual(['a']);
      expect(await list({ parentId: 'a' })).toEqual(['d', 'c']);
      expect(await list({ parentId: 'a' }, { time: 6, id: 'd' })).toEqual(['c']);
      expect(await list({ parentId: 'a', definitionId: 'other' })).toEqual(['d']);
      expect(await list({ parentId: 'nobody' })).toEqual([]);
      expect(await list({ outcome: 'Succeeded' })).toEqual(['b']);
      expect(await list({ outcome: 'Succeeded', status: 'Complete' })).toEqual(['b']);
      expect(await list({ outcome: 'Succeeded', status: 'Runnable' })).toEqual([]);
      expect(await list({ outcome: 'Succeeded', definitionId: 'order' })).toEqual(['b']);
      expect(await list({ outcome: 'Compensated', definitionId: 'order' })).toEqual(['c']);
      expect(await list({ outcome: 'Compensated', parentId: null })).toEqual([]);
      expect(await list({ outcome: 'Compensated', parentId: 'a' })).toEqual(['c']);
      await test.store.controlInstance('a', 'terminate', 9);
      await test.store.controlInstance('d', 'suspend', 9);
      await test.store.commitInstance(
        commitOf(await get('e'), { status: 'Terminated', endTime: 9, outcome: 'Failed' }),
      );
      expect(await list({ outcome: 'Terminated' })).toEqual(['a']);
      expect(await list({ outcome: 'Failed' })).toEqual(['e']);
      // An end that was superseded is not an end.
      await test.store.commitInstance(commitOf(await get('e'), { status: 'Suspended' }));
      expect(await list({ outcome: 'Failed' })).toEqual([]);
      expect(await get('e')).toMatchObject({ outcome: null, parentId: 'd' });
    });

    it('finds instances with an error, newest error first', async () => {
      await insert('fine');
      await insert('a', { errorAt: 20, startTime: 5 });
      await insert('b', { errorAt: 30, startTime: 4, status: 'Terminated', endTime: 30 });
      await insert('c', { errorAt: 20, startTime: 3, status: 'Suspended' });
      await insert('d', { errorAt: 10 });
      expect(await list({ failedFrom: 0 })).toEqual(['b', 'c', 'a', 'd']);
      expect(await list({ failedFrom: 20 })).toEqual(['b', 'c', 'a']);
      expect(await list({ failedFrom: 0, status: 'Suspended' })).toEqual(['c']);
      expect(await list({ failedFrom: 0 }, { time: 20, id: 'c' }, 1)).toEqual(['a']);
      await test.store.commitInstance(commitOf(await get('c'), { errorAt: null }));
      await test.store.commitInstance(commitOf(await get('fine'), { errorAt: 40 }));
      expect(await list({ failedFrom: 15 })).toEqual(['fine', 'b', 'a']);
      expect(await get('c')).toMatchObject({ errorAt: null });
    });

    it("finds open instances that haven't changed, longest unchanged first", async () => {
      await insert('a', { lastChangeAt: 20 });
      await insert('b', { lastChangeAt: 10, status: 'Suspended' });
      await insert('c', { lastChangeAt: 20, definitionId: 'other' });
      await insert('done', { lastChangeAt: 5, status: 'Complete', endTime: 5 });
      await insert('new', { lastChangeAt: 90 });
      expect(await list({ unchangedSince: 90 })).toEqual(['b', 'a', 'c']);
      expect(await list({ unchangedSince: 90, definitionId: 'order' })).toEqual(['b', 'a']);
      expect(await list({ unchangedSince: 90 }, { time: 20, id: 'a' })).toEqual(['c']);
      await test.store.commitInstance(commitOf(await get('a'), { lastChangeAt: 95 }));
      await test.store.controlInstance('b', 'resume', 30);
      await test.store.controlInstance('c', 'terminate', 31);
      expect(await list({ unchangedSince: 95 })).toEqual(['b', 'new']);
      await test.store.commitInstance(
        commitOf(await get('b'), { status: 'Complete', endTime: 40, lastChangeAt: 40 }),
      );
      expect(await list({ unchangedSince: 95 })).toEqual(['new']);
      expect(await get('c')).toMatchObject({ lastChangeAt: 31 });
    });
  });
}
