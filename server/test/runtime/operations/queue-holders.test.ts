/** Goal: an explanation names the runs that a queued run waits for, however many runs have its reference. */
import { describe, expect, it } from 'vitest';
import { queueFacts } from '../../../src/runtime/operations/queue-holders.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import type { Store } from '../../../src/store/store.js';
import { instanceOf, NO_SIDE } from '../../store/records.js';

type Lists = Parameters<typeof queueFacts>[2]['store'];

const ENDED = { status: 'Complete', endTime: 2000, outcome: 'Succeeded' } as const;

function storeOf(...records: readonly InstanceRecord[]): Promise<Store> {
  const store = createMemoryStore();
  const inserts = records.map((record) => store.insertInstance({ record, side: NO_SIDE }));
  return Promise.all(inserts).then(() => store);
}

function named(id: string, startTime: number, changes: Partial<InstanceRecord> = {}) {
  return instanceOf(id, { reference: 'r', startTime, ...changes });
}

const ME = { id: 'me', definitionId: 'order', reference: 'r', concurrencyKey: null, parent: null };

const facts = (store: Lists, at = 5000) =>
  queueFacts(ME, { kind: 'queued', at, reference: true }, { limit: null, store });

describe('queueFacts', () => {
  it('names the open runs before it, in their order', async () => {
    const store = await storeOf(
      named('b', 2000, { status: 'Suspended' }),
      named('c', 3000),
      named('a', 1000),
      named('ended', 1500, ENDED),
      named('me', 5000),
      named('behind', 6000),
      named('later', 1000, { countsFrom: 4000 }),
      named('later-behind', 1000, { countsFrom: 9000 }),
      named('other', 1000, { reference: 's' }),
      named('elsewhere', 1000, { definitionId: 'other' }),
    );
    const holders = ['a', 'b', 'c', 'later'];
    expect(await facts(store)).toEqual({ kind: 'queue', holders, count: 4, isExact: true });
  });

  it('names none when all have ended', async () => {
    const store = await storeOf(named('ended', 1500, ENDED), named('me', 5000));
    expect(await facts(store)).toEqual({ kind: 'queue', holders: [], count: 0, isExact: true });
  });

  it('names up to ten runs, and counts up to a limit', async () => {
    const ids = Array.from({ length: 130 }, (_, n) => `i${String(n).padStart(3, '0')}`);
    const store = await storeOf(...ids.map((id, n) => named(id, 1000 + n)));
    const seen = await facts(store, 1000 + 12);
    expect(seen).toMatchObject({ holders: ids.slice(0, 10), count: 13, isExact: true });
    expect(await facts(store)).toMatchObject({ count: 100, isExact: false });
  });

  it('counts exactly if the list stops among ended runs', async () => {
    const store = await storeOf(named('a', 1000), named('me', 5000));
    const cut: Lists = {
      countPlaces: (...asked) => store.countPlaces(...asked),
      findPredecessor: (place) => store.findPredecessor(place),
      listInstances: async (page) => ({
        ...(await store.listInstances(page)),
        searchedTo: { time: 500, id: 'x' },
      }),
    };
    expect(await facts(cut)).toMatchObject({ holders: ['a'], count: 1, isExact: true });
    const none: typeof cut = {
      ...cut,
      listInstances: () =>
        Promise.resolve({ items: [], searchedTo: { time: 500, id: 'x' } } as const),
    };
    expect(await facts(none)).toMatchObject({ holders: [], count: 0, isExact: false });
  });

  it('names those that hold the places of its key, once those with its reference have ended', async () => {
    const place = { concurrencyKey: 'k', place: 'held' } as const;
    const store = await storeOf(
      named('ended', 1000, { ...ENDED, ...place }),
      named('parent', 1000, { ...place, reference: null }),
      named('other', 1000, { ...place, reference: null }),
      named('before', 2000, {
        concurrencyKey: 'k',
        place: 'waiting',
        countsFrom: 2000,
        priority: 1,
      }),
      named('me', 5000, { concurrencyKey: 'k', place: 'waiting', countsFrom: 5000 }),
    );
    const parent = { workflowId: 'parent', pointerId: 1, attempt: 1 };
    const own = { ...ME, concurrencyKey: 'k' };
    const state = { kind: 'queued', at: 5000 } as const;
    const asked = { limit: 2, store };
    const places = { key: 'k', held: 2, limit: 2, ahead: 1, ancestor: null };
    const facts = { kind: 'queue', holders: ['other', 'parent'], count: 2, isExact: true };
    expect(await queueFacts(own, state, asked)).toEqual({ ...facts, places });
    const below = await queueFacts({ ...own, parent }, { ...state, reference: true }, asked);
    expect(below).toMatchObject({ kind: 'queue', holders: ['before'] });
    await store.controlInstance('before', 'terminate', 6000);
    expect(await queueFacts({ ...own, parent }, { ...state, reference: true }, asked)).toEqual({
      ...facts,
      places: { ...places, ahead: 0, ancestor: 'parent' },
    });
  });
});
