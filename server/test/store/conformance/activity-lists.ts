/** Contract cases: the queues of activities for operators. */
import { describe, expect, it } from 'vitest';
import { FAR_FUTURE_MS } from '../../../src/store/store.js';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, claimBy, instanceOf, NO_SIDE } from '../records.js';

export function describeActivityLists(test: StoreUnderTest): void {
  const insert = (id: string, activities: readonly ReturnType<typeof activityOf>[]) =>
    test.store.insertInstance({
      record: instanceOf(id, { reference: `order of ${id}` }),
      side: { ...NO_SIDE, activities },
    });
  const claim = (worker: string, lease?: number) =>
    test.store.claimActivity({
      name: 'ship',
      now: 2000,
      claim: claimBy(worker, lease),
      deferMs: 500,
    });
  const item = (id: string, changes: object) => ({
    id,
    instanceId: 'i',
    priority: 3,
    fairnessKey: null,
    createdAt: 1000,
    availableAt: 1000,
    attempt: 0,
    workerId: null,
    claimed: false,
    deferred: false,
    limited: false,
    definitionId: 'order',
    reference: 'order of i',
    ...changes,
  });

  describe('activity queues', () => {
    it('counts available and held items by name', async () => {
      await insert('i', [
        activityOf('i/1', 'i', { createdAt: 1000 }),
        activityOf('i/2', 'i', { createdAt: 1100 }),
        activityOf('i/3', 'i', { createdAt: 1200 }),
        activityOf('i/4', 'i', { name: 'pack', claim: claimBy('v') }),
        activityOf('i/5', 'i', { name: 'wrap', createdAt: 5 }),
        activityOf('i/6', 'i', { name: 'wrap', createdAt: 4 }),
      ]);
      await claim('w', 3000);
      expect(await test.store.listActivityQueues(2500, 9)).toEqual([
        { name: 'ship', waiting: 2, held: 1, oldestCreatedAt: 1100 },
        { name: 'wrap', waiting: 2, held: 0, oldestCreatedAt: 4 },
        { name: 'pack', waiting: 0, held: 1, oldestCreatedAt: null },
      ]);
      // The lease has expired: nobody holds it.
      expect(await test.store.listActivityQueues(3000, 1)).toEqual([
        { name: 'ship', waiting: 3, held: 0, oldestCreatedAt: 1000 },
      ]);
      await test.store.completeActivity({
        activityId: 'i/4',
        tokenHash: 'token-v',
        result: { succeeded: true, data: '', hash: '' },
        now: 1,
        message: { id: 'm', body: '' },
      });
      const names = (await test.store.listActivityQueues(3000, 9)).map(({ name }) => name);
      expect(names).toEqual(['ship', 'wrap']);
    });

    it("lists items in the order in which they're handed out", async () => {
      await insert('i', [
        activityOf('i/1', 'i'),
        activityOf('i/2', 'i', { fairness: { key: 'tenant', weight: 2 } }),
        activityOf('i/3', 'i', { createdAt: 900, claim: claimBy('v', 9000) }),
      ]);
      await insert('j', [activityOf('j/1', 'j', { createdAt: 500 })]);
      await test.store.controlInstance('j', 'suspend', 1);
      await claim('w');
      const items = await test.store.listActivityItems('ship', 2000, null, 9);
      expect(items).toEqual([
        item('i/2', { fairnessKey: 'tenant' }),
        item('j/1', {
          instanceId: 'j',
          reference: 'order of j',
          createdAt: 500,
          availableAt: 2500,
          deferred: true,
        }),
        item('i/3', {
          createdAt: 900,
          availableAt: 9000,
          attempt: 1,
          workerId: 'v',
          claimed: true,
        }),
        item('i/1', { availableAt: FAR_FUTURE_MS, attempt: 1, workerId: 'w', claimed: true }),
      ]);
      const page = await test.store.listActivityItems('ship', 2000, items[0]!, 2);
      expect(page).toEqual(items.slice(1, 3));
      expect(await test.store.listActivityItems('pack', 2000, null, 9)).toEqual([]);
    });
  });
}
