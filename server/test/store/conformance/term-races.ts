/** Contract cases: no term outlives its instance, whoever changes tags and index fields while others remove it. */
import { describe, expect, it } from 'vitest';
import type { IndexCondition } from '../../../src/store/records/index-conditions.js';
import type { Store } from '../../../src/store/store.js';
import type { StoreUnderTest } from '../conformance.js';
import { instanceOf, NO_SIDE } from '../records.js';

const ROUNDS = 20;
/** Removed by one purge. */
const INSTANCES = 5;
const PURGE = {
  instancesEndedBefore: 9000,
  untoldEndedBefore: 9000,
  // An instance that changes while it is being removed is removed later, by a retention of its own.
  ownRetentionBefore: 9000,
  untoldOwnRetentionBefore: 9000,
  eventsPublishedBefore: 0,
  activitiesDoneBefore: 0,
  limit: 100,
};
const AUDIT = { time: 1, actor: 'ada', action: 'set-tags', detail: null } as const;

export function describeTermRaces(test: StoreUnderTest): void {
  describe('index terms', () => {
    it('disappears with its instance, although other calls change it at the same moment', async () => {
      const other = await test.open();
      const nodes = [test.store, other];
      const ended = { status: 'Complete', outcome: 'Succeeded', endTime: 2000 } as const;
      for (let round = 0; round < ROUNDS; round += 1) {
        const ids = Array.from({ length: INSTANCES }, (_, n) => `i${round}-${n}`);
        for (const id of ids) {
          const record = instanceOf(id, { ...ended, tags: { team: 'a' }, index: { n: round } });
          await test.store.insertInstance({ record, side: NO_SIDE });
        }
        await Promise.all([
          ...nodes.map((store) => store.purge(PURGE)),
          ...ids.flatMap((id, n) => [
            nodes[n % 2]!.patchTags(id, { team: null, [`tag ${round}`]: 'b' }, AUDIT),
            reindex(nodes[(n + 1) % 2]!, id, round + 1000),
          ]),
        ]);
      }
      expect(await test.strayTerms()).toBe(0);
      // What a change saved from the purge has its terms, and no others.
      const left = await test.store.listInstances({ filter: {}, after: null, limit: 500 });
      for (const [name, value, of] of [
        ['team', 'a', 'tag'],
        ...Array.from({ length: ROUNDS }, (_, n) => [`tag ${n}`, 'b', 'tag'] as const),
      ] as const) {
        const where: IndexCondition[] = [{ of, name, operator: '=', values: [value] }];
        const found = await test.store.listInstances({
          filter: { where },
          after: null,
          limit: 500,
        });
        const expected = left.items.filter(({ tags }) => tags[name] === value);
        expect(found.items.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      }
      for (const store of nodes) await store.purge(PURGE);
      expect(await test.strayTerms()).toBe(0);
      expect(await test.store.countInstances({ filter: {}, after: null, max: 9 })).toMatchObject({
        count: 0,
      });
    });
  });
}

/** As the background pass does: by compare-and-set. */
async function reindex(store: Store, id: string, n: number): Promise<void> {
  const record = await store.getInstance(id);
  if (record !== null) await store.replaceIndex(record, { before: record.index, after: { n } });
}
