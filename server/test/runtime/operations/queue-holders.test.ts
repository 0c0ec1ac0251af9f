/** Goal: an explanation names the runs that a queued run waits for, however many runs have its reference. */
import { describe, expect, it } from 'vitest';
import { queueFacts } from '../../../src/runtime/operations/queue-holders.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import type { Store } from '../../../src/store/store.js';
import { instanceOf, NO_SIDE } from '../../store/records.js';

const ENDED = { status: 'Complete', endTime: 2000, outcome: 'Succeeded' } as const;

function storeOf(...records: readonly InstanceRecord[]): Promise<Store> {
  const store = createMemoryStore();
  const inserts = records.map((record) => store.insertInstance({ record, side: NO_SIDE }));
  return Promise.all(inserts).then(() => store);
}

function named(id: string, startTime: number, changes: Partial<InstanceRecord> = {}) {
  return instanceOf(id, { reference: 'r', startTime, ...changes });
}

const facts = (store: Parameters<typeof queueFacts>[2], at = 5000) =>
  queueFacts({ id: 'me', definitionId: 'order', reference: 'r' }, { kind: 'queued', at }, store);

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
    const cut: Parameters<typeof queueFacts>[2] = {
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
});
