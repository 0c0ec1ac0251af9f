/** Contract cases: the priority of instances, by which their activities are handed out. */
import { describe, expect, it } from 'vitest';
import type { Priority } from '../../../src/engine/model/start-options.js';
import type { AuditEntry } from '../../../src/store/records/control.js';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';

const AUDIT: AuditEntry = { time: 5, actor: 'ada', action: 'set-priority', detail: '1' };

export function describePriorities(test: StoreUnderTest): void {
  /** An instance with one item of its priority, offered at that time. */
  const insert = (id: string, priority: Priority, createdAt = 1000) =>
    test.store.insertInstance({
      record: instanceOf(id, { priority }),
      side: { ...NO_SIDE, activities: [activityOf(`${id}/1`, id, { priority, createdAt })] },
    });
  const claim = async (worker: string, now = 2000): Promise<string | null> => {
    const request = { name: 'ship', now, claim: claimBy(worker, 9000), deferMs: 500 };
    const item = await test.store.claimActivity(request);
    return item !== null && 'id' in item ? item.id : null;
  };
  const claimAll = async (): Promise<readonly (string | null)[]> => {
    const ids: (string | null)[] = [];
    do ids.push(await claim(`w${ids.length}`));
    while (ids.at(-1) !== null);
    return ids.slice(0, -1);
  };

  describe('priorities', () => {
    it('stores the priority of an instance and of its items', async () => {
      await insert('i', 5);
      expect(await test.store.getInstance('i')).toMatchObject({ priority: 5 });
      expect(await test.store.getSummaries(['i'])).toMatchObject([{ priority: 5 }]);
      expect(await test.store.getActivities(['i/1'])).toMatchObject([{ priority: 5 }]);
      const listed = await test.store.listActivityItems('ship', 2000, null, 9);
      expect(listed).toMatchObject([{ id: 'i/1', priority: 5 }]);
    });

    it('hands out items by priority, then age', async () => {
      await insert('old', 5, 100);
      await insert('b', 3, 400);
      await insert('a', 3, 300);
      await insert('late', 1, 1900);
      await insert('m', 2, 1000);
      expect(await claimAll()).toEqual(['late/1', 'm/1', 'a/1', 'b/1', 'old/1']);
    });

    it('hands out items of all priorities to callers that ask at the same time', async () => {
      for (const priority of [1, 2, 3, 4, 5] as const) await insert(`i${priority}`, priority);
      const ids = await Promise.all([1, 2, 3].map((n) => claim(`w${n}`)));
      expect(ids.toSorted()).toEqual(['i1/1', 'i2/1', 'i3/1']);
    });

    it('passes over items of a high priority that are held, deferred or not yet available', async () => {
      await insert('held', 1);
      await insert('suspended', 1, 1500);
      await insert('future', 2, 2001);
      await insert('next', 4);
      await test.store.controlInstance('suspended', 'suspend', 1);
      expect(await claimAll()).toEqual(['held/1', 'next/1']);
    });

    it('finds available work of any priority', async () => {
      await insert('i', 5);
      expect(await test.store.findAvailableActivities(['ship', 'none'], 2000)).toEqual(['ship']);
    });

    it('lists items of all priorities by availability, in pages', async () => {
      for (const [id, priority, at] of [
        ['a', 5, 100],
        ['b', 1, 200],
        ['c', 3, 300],
        ['d', 1, 400],
      ] as const) {
        await insert(id, priority, at);
      }
      const first = await test.store.listActivityItems('ship', 2000, null, 2);
      expect(first.map(({ id }) => id)).toEqual(['a/1', 'b/1']);
      const { availableAt, id } = first[1]!;
      const rest = await test.store.listActivityItems('ship', 2000, { availableAt, id }, 9);
      expect(rest.map((each) => each.id)).toEqual(['c/1', 'd/1']);
    });

    it('moves the items of an instance whose priority changes, and records who did it', async () => {
      await insert('a', 3, 100);
      await insert('b', 3, 200);
      const { inSeq, revision } = (await test.store.getInstance('b'))!;
      const changed = await test.store.setPriority('b', 1, AUDIT);
      expect(changed).toMatchObject({ outcome: 'done', record: { id: 'b', priority: 1 } });
      // The owner has to read it before its next commit.
      expect(await test.store.getInstance('b')).toMatchObject({ inSeq: inSeq + 1, revision });
      expect(await test.store.listAudit('b')).toEqual([AUDIT]);
      expect(await claimAll()).toEqual(['b/1', 'a/1']);
    });

    it('keeps the claim of a held item whose priority changes', async () => {
      await insert('a', 3);
      await claim('w');
      await test.store.setPriority('a', 1, AUDIT);
      expect(await test.store.getActivities(['a/1'])).toMatchObject([
        { priority: 1, tokenHash: 'token-w', attempt: 1 },
      ]);
    });

    it('keeps the priority in commits', async () => {
      await insert('a', 3);
      await test.store.setPriority('a', 2, AUDIT);
      const record = (await test.store.getInstance('a'))!;
      expect(await test.store.commitInstance(commitOf(record))).toBe('committed');
      expect(await test.store.getInstance('a')).toMatchObject({ priority: 2 });
    });

    it('changes a suspended instance, but none that has ended', async () => {
      await insert('a', 3);
      await test.store.controlInstance('a', 'suspend', 1);
      expect(await test.store.setPriority('a', 2, AUDIT)).toMatchObject({ outcome: 'done' });
      await test.store.controlInstance('a', 'terminate', 2);
      expect(await test.store.setPriority('a', 1, AUDIT)).toMatchObject({
        outcome: 'refused',
        record: { id: 'a', priority: 2 },
      });
      expect(await test.store.listAudit('a')).toHaveLength(1);
    });

    it('reports that there is no such instance', async () => {
      expect(await test.store.setPriority('none', 1, AUDIT)).toEqual({ outcome: 'missing' });
    });

    it('moves items that commits offer at the same time', async () => {
      await insert('a', 3, 100);
      for (let round = 0; round < 20; round += 1) {
        const record = (await test.store.getInstance('a'))!;
        const priority = round % 2 === 0 ? 1 : 5;
        const offered = activityOf(`a/${round + 2}`, 'a', { priority: record.priority });
        const side = { ...NO_SIDE, activities: [offered] };
        const [committed] = await Promise.all([
          test.store.commitInstance(commitOf(record, { side })),
          test.store.setPriority('a', priority, AUDIT),
        ]);
        const [item] = await test.store.getActivities([offered.id]);
        if (committed === 'committed') expect(item).toMatchObject({ priority });
      }
    });
  });
}
