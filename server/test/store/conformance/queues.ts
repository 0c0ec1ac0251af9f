/** Contract cases: starts that wait for the open instances with their reference (rule S10). */
import { describe, expect, it } from 'vitest';
import {
  positionOf,
  type ConflictRule,
  type InstanceRecord,
} from '../../../src/store/records/instances.js';
import type { Store } from '../../../src/store/store.js';
import { compareText } from '../../../src/store/text-order.js';
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
  const place = (id: string, at: number, reference = 'r') =>
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
      expect(await place('b', 2000)).toBe('a');
      expect(await place('a', 1000)).toBeNull();
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

  describe('a start into a queue', () => {
    const SOON = 2000;

    /** As the server does: as one that waits if others are before it, and else at once. */
    async function enqueue(store: Store, id: string): Promise<InstanceRecord> {
      let record = instanceOf(id, { reference: 'r', startTime: SOON });
      for (;;) {
        const conflict = record.queued ? LATER : FIRST;
        const result = await store.insertInstance({ record, side: NO_SIDE, conflict });
        if (result.outcome === 'inserted') return record;
        if (result.outcome === 'free') record = { ...record, queued: false };
        else if (result.outcome !== 'in-use') throw new Error(result.outcome);
        else {
          const startTime = Math.max(record.startTime, positionOf(result.record).at + 1);
          record = { ...record, queued: true, startTime };
        }
      }
    }

    /** Ends each one when nothing is before it; returns the order. */
    async function endAll(last: InstanceRecord): Promise<readonly string[]> {
      const place = { definitionId: 'order', reference: 'r', at: last.startTime, id: last.id };
      const order: string[] = [];
      const next = async (at: number, id: string): Promise<void> => {
        const found = await test.store.findPredecessor({ ...place, at, id });
        if (found === null) return;
        const { startTime } = (await test.store.getInstance(found))!;
        await next(startTime, found);
        order.push(found);
        await test.store.controlInstance(found, 'terminate', 9000);
      };
      await next(place.at, place.id);
      return [...order, last.id];
    }

    it('has its place, however many come at once', async () => {
      const ids = Array.from({ length: 20 }, (_, n) => `i${n}`);
      const stores = [test.store, await test.open()] as const;
      const inserted = await Promise.all(ids.map((id, n) => enqueue(stores[n % 2]!, id)));
      expect(inserted.filter(({ queued }) => !queued)).toHaveLength(1);
      const sorted = inserted.toSorted(
        (a, b) => a.startTime - b.startTime || compareText(a.id, b.id),
      );
      expect(sorted[0]).toMatchObject({ queued: false, startTime: SOON });
      expect(await endAll(sorted.at(-1)!)).toEqual(sorted.map(({ id }) => id));
    });

    it('finds none before it, or waits, when the other one ends at the same time', async () => {
      const other = await test.open();
      for (let round = 0; round < 10; round += 1) {
        const [before, id] = [`before ${round}`, `after ${round}`];
        await start(before, null, { startTime: 1000 });
        const [, record] = await Promise.all([
          other.controlInstance(before, 'terminate', 3000),
          enqueue(test.store, id),
        ]);
        expect(await test.store.getInstance(id)).toMatchObject({ queued: record.queued });
        expect(await place(id, record.startTime)).toBeNull();
        await test.store.controlInstance(id, 'terminate', 3000);
      }
    });

    it('is refused while the definition is disabled', async () => {
      await test.store.insertDefinition(
        { id: 'order', description: null, body: '{}', createdAt: 1 },
        null,
      );
      await test.store.setDefinitionDisabled('order', true);
      expect(await start('a', FIRST)).toEqual({ outcome: 'disabled' });
      expect(await start('a', LATER)).toEqual({ outcome: 'disabled' });
    });

    it('is limited like other descendants', async () => {
      await start('root', null, { reference: null });
      await start('child', null, { reference: null, rootId: 'root', parentId: 'root' });
      const record = instanceOf('a', { reference: 'r', rootId: 'root', parentId: 'root' });
      const insert = { record, side: NO_SIDE, openDescendantsMax: 1 };
      const result = await test.store.insertInstance({ ...insert, conflict: FIRST });
      expect(result).toEqual({ outcome: 'full' });
    });

    it('tells odd references apart', async () => {
      const references = ['é\u0000', 'é', '\ud800', ''];
      for (const [n, reference] of references.entries()) {
        const inserted = await start(`i${n}`, FIRST, { reference });
        expect(inserted).toMatchObject({ outcome: 'inserted' });
        expect(await place('z', 1001, reference)).toBe(`i${n}`);
      }
    });
  });

  describe('findPredecessor', () => {
    it('ignores other definitions, other references and what has ended', async () => {
      await start('a', null, { reference: null });
      await start('b', null, { reference: 'R' });
      await start('c', null, { definitionId: 'Order' });
      await start('d', null, { status: 'Complete', endTime: 5, outcome: 'Succeeded' });
      await start('e', null, {
        countsFrom: 1001,
        status: 'Terminated',
        endTime: 5,
        outcome: 'Failed',
      });
      expect(await place('z', 5000)).toBeNull();
      const elsewhere = { definitionId: 'Order', reference: 'r', id: 'z', at: 5000 };
      expect(await test.store.findPredecessor(elsewhere)).toBe('c');
    });

    it('orders equal times by id, whether they count from their start or later', async () => {
      await start('b', null, { startTime: 2000 });
      await start('Z', null, { startTime: 1000, countsFrom: 2000 });
      await start('a', null, { startTime: 1000, countsFrom: 2000 });
      await start('é', null, { startTime: 2000 });
      const order: string[] = [];
      for (let id: string | null = 'ü'; (id = await place(id, 2000)) !== null;) order.push(id);
      expect(order).toEqual(['é', 'b', 'a', 'Z']);
    });

    it('counts an instance that a repair has opened again, at its place', async () => {
      await start('a', null, {
        startTime: 1000,
        status: 'Complete',
        endTime: 5,
        outcome: 'Succeeded',
      });
      await start('b', FIRST, { startTime: 2000 });
      expect(await place('b', 2000)).toBeNull();
      const record = (await test.store.getInstance('a'))!;
      await test.store.commitInstance(commitOf(record, { endTime: null, outcome: null }));
      expect(await place('b', 2000)).toBe('a');
      expect(await start('c', LATER, { startTime: 2001 })).toMatchObject({ outcome: 'inserted' });
      expect(await place('c', 2001)).toBe('b');
      await test.store.controlInstance('b', 'terminate', 3000);
      expect(await place('c', 2001)).toBe('a');
    });

    it('sees an instance that has been suspended and resumed', async () => {
      await start('a', null, { startTime: 1000 });
      for (const action of ['suspend', 'resume'] as const) {
        await test.store.controlInstance('a', action, 2000);
        expect(await place('b', 2000)).toBe('a');
      }
    });

    it('counts none that starts later for a start before that time', async () => {
      await start('later', null, { startTime: 1000, countsFrom: 5000 });
      expect(await start('a', LATER, { startTime: 4999 })).toEqual({ outcome: 'free' });
      expect(await start('a', FIRST, { startTime: 4999 })).toMatchObject({ outcome: 'inserted' });
      expect(await place('later', 5000)).toBe('a');
      const second = await start('b', LATER, { startTime: 5000 });
      expect(second).toMatchObject({ outcome: 'in-use', record: { id: 'later' } });
      expect(await start('b', LATER, { startTime: 5001 })).toMatchObject({ outcome: 'inserted' });
      expect(await place('b', 5001)).toBe('later');
    });

    it('returns the last open instance before a place', async () => {
      await start('a', null, { startTime: 1000 });
      await start('b', null, { startTime: 2000 });
      await start('c', null, { startTime: 2000 });
      await start('d', null, { startTime: 3000, status: 'Suspended' });
      expect(await place('e', 4000)).toBe('d');
      expect(await place('d', 3000)).toBe('c');
      expect(await place('c', 2000)).toBe('b');
      expect(await place('b', 2000)).toBe('a');
      await test.store.controlInstance('d', 'terminate', 5000);
      expect(await place('e', 4000)).toBe('c');
      expect(await place('e', 4000, 'none')).toBeNull();
    });

    it('counts one that has entered the queue for starts whose clock is behind', async () => {
      await start('later', null, { startTime: 1000, countsFrom: 5000, place: 'later' });
      expect(await start('x', LATER, { startTime: 4999 })).toEqual({ outcome: 'free' });
      const entered = (await test.store.getInstance('later'))!;
      await test.store.commitInstance(commitOf(entered, { queued: true }));
      const behind = { outcome: 'in-use', record: { id: 'later', countsFrom: 5000 } };
      expect(await start('x', FIRST, { startTime: 4999 })).toMatchObject(behind);
      const begins = (await test.store.getInstance('later'))!;
      const begun = { queued: false, takesPlace: true } as const;
      await test.store.commitInstance(commitOf(begins, begun));
      expect(await start('x', FIRST, { startTime: 4999 })).toMatchObject(behind);
      expect(await test.store.getInstance('later')).toMatchObject({ place: 'held' });
    });

    it('counts an instance that starts later from that time on', async () => {
      await start('later', null, { startTime: 1000, countsFrom: 5000 });
      await start('now', null, { startTime: 3000 });
      expect(await place('x', 4000)).toBe('now');
      expect(await place('x', 6000)).toBe('later');
      expect(await place('later', 5000)).toBe('now');
      await test.store.controlInstance('now', 'terminate', 5000);
      expect(await start('y', LATER, { startTime: 4000 })).toEqual({ outcome: 'free' });
      const behind = await start('y', FIRST, { startTime: 5000 });
      expect(behind).toMatchObject({
        outcome: 'in-use',
        record: { id: 'later', countsFrom: 5000 },
      });
    });
  });

  describe('a queued instance', () => {
    it('stays so in a commit that says nothing, and in one that is lost', async () => {
      await start('a', null, { queued: true });
      const record = (await test.store.getInstance('a'))!;
      await test.store.commitInstance(commitOf(record));
      const late = commitOf({ ...record, revision: 77 }, { queued: false });
      expect(await test.store.commitInstance(late)).toBe('lost');
      const kept = (await test.store.getInstance('a'))!;
      expect(kept.queued).toBe(true);
      await test.store.commitInstance(commitOf(kept, { queued: false }));
      const begun = (await test.store.getInstance('a'))!;
      expect(begun.queued).toBe(false);
      await test.store.commitInstance(commitOf(begun, { queued: true }));
      const again = await test.store.claimInstance({
        id: 'a',
        epoch: begun.epoch,
        owner: 'node',
        suspected: true,
      });
      expect(again).toMatchObject({ queued: true, countsFrom: null });
    });

    it('is written with the commits of many others', async () => {
      const ids = Array.from({ length: 12 }, (_, n) => `i${n}`);
      for (const [n, id] of ids.entries()) await start(id, null, { queued: n % 2 === 0 });
      const records = await Promise.all(ids.map((id) => test.store.getInstance(id)));
      await Promise.all(
        records.map((record, n) => {
          const queued = n % 3 === 0 ? {} : { queued: n % 3 === 1 };
          return test.store.commitInstance(commitOf(record!, queued));
        }),
      );
      const after = await Promise.all(ids.map((id) => test.store.getInstance(id)));
      const expected = ids.map((_, n) => (n % 3 === 0 ? n % 2 === 0 : n % 3 === 1));
      expect(after.map((record) => record?.queued)).toEqual(expected);
    });

    it('is listed while it is open and waits', async () => {
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
