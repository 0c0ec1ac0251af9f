/** Goal: a search for a part of a text takes a bounded time, says how far it has come, and continues from there without a gap. */
import { expect, it } from 'vitest';
import {
  findInstances,
  type InstanceFindings,
} from '../../../src/runtime/operations/find-instances.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { Store } from '../../../src/store/store.js';
import { instanceOf, NO_SIDE } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

const COUNT = 60;
const SECTION = 5;

/** Instances that started at 1, 2, 3 …; each call looks at a few of them and takes a while. */
async function slowStore(clock: ManualClock): Promise<Store> {
  const store = createMemoryStore();
  for (let at = 1; at <= COUNT; at += 1) {
    const record = instanceOf(`i${String(at).padStart(3, '0')}`, {
      startTime: at,
      reference: at % 20 === 0 ? `order-4711-${at}` : `order-${at}`,
    });
    await store.insertInstance({ record, side: NO_SIDE });
  }
  return {
    ...store,
    findInstancesByText: (search) => store.findInstancesByText(search),
    getDefinition: (...request) => store.getDefinition(...request),
    listInstances: async ({ filter, after, limit }) => {
      clock.advance(100);
      const { mayContain = '' } = filter;
      const section = await store.listInstances({ filter: {}, after, limit: SECTION });
      const items = section.items.filter(({ reference }) => reference?.includes(mayContain));
      const last = section.items.at(-1);
      const isOver = section.items.length < SECTION || last === undefined;
      const searchedTo = isOver ? null : { time: last.startTime, id: last.id };
      return { items: items.slice(0, limit), searchedTo };
    },
  };
}

async function findAll(text: string, limit: number): Promise<readonly InstanceFindings[]> {
  const clock = new ManualClock();
  const context = { store: await slowStore(clock), clock };
  const all: InstanceFindings[] = [];
  let cursor: string | null = null;
  do {
    const begun = clock.now();
    const found: InstanceFindings = await findInstances(context, { text, limit, cursor }, 'all');
    expect(clock.now() - begun).toBeLessThanOrEqual(300);
    all.push(found);
    cursor = found.nextCursor;
  } while (cursor !== null);
  return all;
}

const idsOf = (pages: readonly InstanceFindings[]): readonly string[] =>
  pages.flatMap(({ items }) => items.map(({ instance }) => instance.id));

it('stops after a while, says how far it has come, and continues there', async () => {
  const pages = await findAll('4711', 20);
  expect(idsOf(pages)).toEqual(['i060', 'i040', 'i020']);
  expect(pages.map(({ partsFrom }) => partsFrom)).toEqual([46, 31, 16, 1, null]);
  expect(pages.map(({ items }) => items.length)).toEqual([1, 1, 1, 0, 0]);
});

it('shows each instance once, also those that the index has found', async () => {
  const pages = await findAll('order-4', 2);
  const ids = idsOf(pages);
  expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
  const wanted = [4, 20, 40, 60, ...Array.from({ length: 9 }, (_, at) => 41 + at)];
  expect(ids.toSorted()).toEqual(wanted.map((at) => `i${String(at).padStart(3, '0')}`).toSorted());
  // The index alone fills the first page.
  expect(pages[0]?.exact).toBe(false);
  expect(pages.at(-1)).toMatchObject({ exact: true, partsFrom: null });
});

it('rejects the cursor of another text', async () => {
  const clock = new ManualClock();
  const context = { store: await slowStore(clock), clock };
  const { nextCursor } = await findInstances(
    context,
    { text: '4711', limit: 1, cursor: null },
    'all',
  );
  await expect(
    findInstances(context, { text: '4712', limit: 1, cursor: nextCursor }, 'all'),
  ).rejects.toMatchObject({ code: 'invalid_request' });
});
