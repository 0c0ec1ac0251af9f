/** Contract cases: how many instances of a definition run at a time (rule S14). */
import { describe, expect, it } from 'vitest';
import type { ConflictRule, InstanceRecord } from '../../../src/store/records/instances.js';
import type { PlaceRule } from '../../../src/store/records/places.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, instanceOf, NO_SIDE } from '../records.js';

const TWO: PlaceRule = { limit: 2, maxQueued: null };
const PLACES = { definitionId: 'order', key: 'k' };

export function describePlaces(test: StoreUnderTest): void {
  const recordOf = (id: string, changes: Partial<InstanceRecord> = {}): InstanceRecord => {
    const startTime = changes.startTime ?? 1000;
    const own = { concurrencyKey: 'k', place: 'held', countsFrom: startTime } as const;
    return instanceOf(id, { ...own, startTime, ...changes });
  };
  const start = (
    id: string,
    changes: Partial<InstanceRecord> = {},
    places: PlaceRule | null = TWO,
    conflict?: ConflictRule,
  ) =>
    test.store.insertInstance({
      record: recordOf(id, changes),
      side: NO_SIDE,
      ...(places !== null && { places }),
      ...(conflict !== undefined && { conflict }),
    });
  const wait = (id: string, changes: Partial<InstanceRecord> = {}, places = TWO) =>
    start(id, { place: 'waiting', queued: true, ...changes }, places);
  const grant = (limit: number, asking: string | null = null, key = 'k') =>
    test.store.grantPlaces({ definitionId: 'order', key, limit, asking, now: 5000 });
  const placeOf = async (id: string) => (await test.store.getInstance(id))?.place;
  const begin = async (id: string) => {
    const record = (await test.store.getInstance(id))!;
    await test.store.commitInstance(commitOf(record, { queued: false, takesPlace: true }));
  };
  const end = (id: string) => test.store.controlInstance(id, 'terminate', 9000);

  describe('an insert with a place', () => {
    it('inserts up to the limit, and then names those that hold the places', async () => {
      expect(await start('a')).toMatchObject({ outcome: 'inserted' });
      expect(await start('b')).toMatchObject({ outcome: 'inserted' });
      expect(await start('c')).toEqual({ outcome: 'no-place', holders: ['a', 'b'] });
      expect(await test.store.getInstance('c')).toBeNull();
      expect(await start('a')).toMatchObject({ outcome: 'exists' });
      expect(await placeOf('a')).toBe('held');
      expect(await test.store.getInstance('b')).toMatchObject({ concurrencyKey: 'k' });
    });

    it('counts only open instances of its definition and key', async () => {
      await start('ended', { status: 'Complete', endTime: 5, outcome: 'Succeeded' });
      await start('other-key', { concurrencyKey: 'l' });
      await start('other-definition', { definitionId: 'other' });
      await start('without', { concurrencyKey: null, place: null }, null);
      await start('later', { place: 'later' }, null);
      await start('a', { status: 'Suspended' });
      expect(await start('b')).toMatchObject({ outcome: 'inserted' });
      expect(await start('c')).toEqual({ outcome: 'no-place', holders: ['a', 'b'] });
      await end('a');
      expect(await start('c')).toMatchObject({ outcome: 'inserted' });
    });

    it('does not pass those that wait, except suspended ones', async () => {
      await wait('w');
      expect(await start('a')).toEqual({ outcome: 'no-place', holders: [] });
      await test.store.controlInstance('w', 'suspend', 2000);
      expect(await start('a')).toMatchObject({ outcome: 'inserted' });
    });

    it('refuses to let more wait than may', async () => {
      const rule = { limit: 1, maxQueued: 2 };
      expect(await wait('a', {}, rule)).toMatchObject({ outcome: 'inserted' });
      await start('later', { place: 'later', queued: true }, null);
      expect(await wait('b', {}, rule)).toMatchObject({ outcome: 'inserted' });
      expect(await wait('c', {}, rule)).toEqual({ outcome: 'queue-full' });
      expect(await wait('d', { concurrencyKey: 'l' }, rule)).toMatchObject({ outcome: 'inserted' });
      expect(await wait('e', {}, { limit: 1, maxQueued: 0 })).toEqual({ outcome: 'queue-full' });
    });

    it('lets as many of 40 simultaneous callers start as there are places', async () => {
      const ids = Array.from({ length: 40 }, (_, n) => `i${n}`);
      const stores = [test.store, await test.open()] as const;
      const results = await Promise.all(
        ids.map((id, n) =>
          stores[n % 2]!.insertInstance({
            record: recordOf(id, { reference: `r${n % 8}` }),
            side: NO_SIDE,
            places: { limit: 3, maxQueued: null },
            // Some have a second rule.
            ...(n % 3 === 0 && { conflict: { action: 'refuse' as const } }),
          }),
        ),
      );
      const outcomes = results.map(({ outcome }) => outcome);
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(3);
      const { held } = await test.store.countPlaces(PLACES, 'i0');
      expect(held).toBe(3);
    });

    it('judges the reference before the places', async () => {
      await start('a', { reference: 'r' });
      const refused = await start('b', { reference: 'r' }, TWO, { action: 'refuse' });
      expect(refused).toMatchObject({ outcome: 'in-use', record: { id: 'a' } });
      await start('b');
      expect(await start('c', { reference: 'x' }, TWO, { action: 'refuse' })).toMatchObject({
        outcome: 'no-place',
      });
      expect(await test.store.getInstance('c')).toBeNull();
    });

    it('counts the place of an instance that it replaces as free', async () => {
      const audit = { time: 2000, actor: 'me', action: 'terminate', detail: null } as const;
      const replace: ConflictRule = { action: 'terminate', audit };
      const one = { limit: 1, maxQueued: null };
      await start('a', { reference: 'r' }, one);
      const other = await start('x', { reference: 's' }, one, replace);
      expect(other).toMatchObject({ outcome: 'no-place' });
      expect(await test.store.getInstance('a')).toMatchObject({ status: 'Runnable' });
      const replaced = await start('b', { reference: 'r' }, one, replace);
      expect(replaced).toMatchObject({ outcome: 'inserted', terminated: [{ id: 'a' }] });
      expect(await placeOf('b')).toBe('held');
    });
  });

  describe('grantPlaces', () => {
    it('grants free places by priority, then by time, then by id', async () => {
      await wait('b', { startTime: 2000 });
      await wait('a', { startTime: 2000 });
      await wait('urgent', { startTime: 3000, priority: 1 });
      await wait('first', { startTime: 1000 });
      expect(await grant(1)).toEqual({ ids: ['urgent'], isCut: false });
      expect((await grant(2)).ids.toSorted()).toEqual(['first', 'urgent']);
      await begin('urgent');
      await begin('first');
      expect(await grant(3)).toEqual({ ids: ['a'], isCut: false });
      await test.store.setPriority('b', 5, {
        time: 6000,
        actor: 'me',
        action: 'set-priority',
        detail: null,
      });
      await wait('c', { startTime: 4000 });
      await end('a');
      expect(await grant(3)).toEqual({ ids: ['c'], isCut: false });
    });

    it('returns those that hold a place and have not begun, until they begin', async () => {
      await wait('a');
      expect(await grant(2)).toEqual({ ids: ['a'], isCut: false });
      expect(await grant(2)).toEqual({ ids: ['a'], isCut: false });
      await begin('a');
      expect(await grant(2)).toEqual({ ids: [], isCut: false });
      expect(await placeOf('a')).toBe('held');
    });

    it('grants nothing above the limit', async () => {
      await start('a');
      await start('b');
      await wait('w');
      expect(await grant(2)).toEqual({ ids: [], isCut: false });
      expect(await grant(1)).toEqual({ ids: [], isCut: false });
      await end('a');
      expect(await grant(1)).toEqual({ ids: [], isCut: false });
      expect(await grant(2)).toEqual({ ids: ['w'], isCut: false });
    });

    it('lets an instance wait from its request on, behind those that count from an earlier time', async () => {
      await start('later', { place: 'later', queued: true, countsFrom: 7000 }, null);
      await wait('w', { startTime: 3000 });
      expect(await grant(1)).toEqual({ ids: ['w'], isCut: false });
      await begin('w');
      expect(await grant(1, 'later')).toEqual({ ids: [], isCut: false });
      expect(await placeOf('later')).toBe('waiting');
      await end('w');
      expect(await grant(1, 'later')).toEqual({ ids: ['later'], isCut: false });
    });

    it('passes over suspended and ended instances', async () => {
      await wait('a');
      await wait('b');
      await wait('c');
      await test.store.controlInstance('a', 'suspend', 2000);
      await end('b');
      expect(await grant(2)).toEqual({ ids: ['c'], isCut: false });
      expect(await grant(2, 'b')).toEqual({ ids: ['c'], isCut: false });
      await test.store.controlInstance('a', 'resume', 3000);
      expect((await grant(2)).ids.toSorted()).toEqual(['a', 'c']);
    });

    it('grants no place twice to simultaneous callers', async () => {
      for (let n = 0; n < 12; n += 1) await wait(`w${n}`);
      const stores = [test.store, await test.open()] as const;
      const request = { definitionId: 'order', key: 'k', limit: 4, asking: null, now: 5000 };
      await Promise.all(Array.from({ length: 20 }, (_, n) => stores[n % 2]!.grantPlaces(request)));
      expect(await test.store.countPlaces(PLACES, 'w0')).toMatchObject({ held: 4 });
    });

    it('says that more may be free after many grants', async () => {
      for (let n = 0; n < 120; n += 1) await wait(`w${String(n).padStart(3, '0')}`);
      const first = await grant(1000);
      expect([first.ids.length, first.isCut]).toEqual([100, true]);
      expect((await grant(1000)).isCut).toBe(false);
      expect(await test.store.countPlaces(PLACES, 'w000')).toMatchObject({ held: 120 });
    });
  });

  describe('places for display', () => {
    it('counts those that hold a place and those before an instance', async () => {
      for (let n = 0; n < 12; n += 1) await start(`h${String(n).padStart(2, '0')}`, {}, null);
      await wait('b', { startTime: 2000 });
      await wait('a', { startTime: 3000 });
      await wait('urgent', { startTime: 4000, priority: 1 });
      const counted = await test.store.countPlaces(PLACES, 'a');
      expect(counted).toMatchObject({ held: 12, ahead: 2 });
      expect(counted.holders).toHaveLength(10);
      expect(await test.store.countPlaces(PLACES, 'urgent')).toMatchObject({ ahead: 0 });
      // It doesn't wait yet.
      await start('later', { place: 'later', queued: true, countsFrom: 2500 }, null);
      expect(await test.store.countPlaces(PLACES, 'later')).toMatchObject({ ahead: 2 });
      expect(await test.store.countPlaces(PLACES, 'unknown')).toMatchObject({ ahead: 0 });
    });

    it('finds the keys for which instances wait', async () => {
      await start('held', { concurrencyKey: 'held' });
      await wait('a', { concurrencyKey: 'a' });
      await wait('b', { concurrencyKey: 'b' });
      await wait('b2', { concurrencyKey: 'b' });
      await wait('all', { concurrencyKey: '' });
      await wait('ended', { concurrencyKey: 'c' });
      await end('ended');
      await wait('x', { definitionId: 'other', concurrencyKey: 'd' });
      expect(await test.store.findWaitingKeys('order', null, 9)).toEqual(['', 'a', 'b']);
      expect(await test.store.findWaitingKeys('order', null, 2)).toEqual(['', 'a']);
      expect(await test.store.findWaitingKeys('order', '', 9)).toEqual(['a', 'b']);
      expect(await test.store.findWaitingKeys('order', 'b', 9)).toEqual([]);
    });
  });
}
