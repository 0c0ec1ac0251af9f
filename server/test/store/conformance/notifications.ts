/** Contract cases: notifications, and the deliveries that nodes claim and try. */
import { describe, expect, it } from 'vitest';
import type { DeliveryClaim, DeliveryRecord } from '../../../src/store/records/notifications.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, instanceOf, NO_SIDE, notificationDeliveryOf } from '../records.js';

const CLAIMERS = 8;

function summaryOf(delivery: DeliveryRecord): object {
  return Object.fromEntries(Object.entries(delivery).filter(([name]) => name !== 'body'));
}

export function describeNotifications(test: StoreUnderTest): void {
  const put = (name = 'n', paused: string | null = null) =>
    test.store.putNotification({ name, settings: '{}', paused });
  const insert = (...deliveries: readonly DeliveryRecord[]) =>
    test.store.insertDeliveries(deliveries);
  const claim = (changes: Partial<DeliveryClaim> = {}) =>
    test.store.claimDeliveries({
      notification: 'n',
      now: 2000,
      until: 9000,
      limit: 10,
      ...changes,
    });
  const idsOf = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

  describe('a notification', () => {
    it('is replaced under its name, whatever text it contains', async () => {
      const settings = 'é\u0000"'.repeat(20_000);
      await put('b');
      await put('\ud800');
      await test.store.putNotification({ name: 'b', settings, paused: '\u0000' });
      await put('a');
      const found = await test.store.listNotifications(10);
      expect(new Set(idsOf(found.map(({ name: id }) => ({ id }))))).toEqual(
        new Set(['a', 'b', '\ud800']),
      );
      expect(found.find(({ name }) => name === 'b')).toEqual({
        name: 'b',
        settings,
        paused: '\u0000',
      });
      expect(await test.store.listNotifications(1)).toHaveLength(1);
    });

    it('is paused, resumed and removed', async () => {
      await put();
      expect(await test.store.pauseNotification('n', 'why')).toBe(true);
      expect(await test.store.listNotifications(1)).toMatchObject([{ name: 'n', paused: 'why' }]);
      expect(await test.store.pauseNotification('n', null)).toBe(true);
      expect(await test.store.listNotifications(1)).toMatchObject([{ name: 'n', paused: null }]);
      expect(await test.store.pauseNotification('other', null)).toBe(false);
      expect(await test.store.removeNotification('n')).toBe(true);
      expect(await test.store.removeNotification('n')).toBe(false);
      expect(await test.store.listNotifications(1)).toEqual([]);
    });
  });

  describe('a delivery', () => {
    it('is stored once, and only for a notification that exists', async () => {
      await put();
      const first = notificationDeliveryOf('d', { body: 'é\u0000\ud800'.repeat(9000) });
      await insert(first, notificationDeliveryOf('x', { notification: 'other' }));
      await insert({ ...first, body: 'second' }, notificationDeliveryOf('e'));
      expect(await test.store.getDelivery('d')).toEqual(first);
      expect(await test.store.getDelivery('e')).not.toBeNull();
      expect(await test.store.getDelivery('x')).toBeNull();
    });

    it('is stored with the insert and the commit of an instance, or not at all (S11)', async () => {
      if (!test.store.storesDeliveries) return;
      await put();
      const told = (...ids: readonly string[]) => ({
        deliveries: ids.map((id) => notificationDeliveryOf(id, { body: 'é\u0000'.repeat(9000) })),
      });
      const stored = async (): Promise<readonly string[]> =>
        idsOf(await test.store.listDeliveries({ notification: 'n' }, null, 100)).toSorted();
      const insert = (id: string, ...ids: readonly string[]) =>
        test.store.insertInstance({
          record: instanceOf(id, { reference: 'r' }),
          side: NO_SIDE,
          ...told(...ids),
        });
      await Promise.all([insert('i', 'a', 'b'), insert('j', 'c'), insert('k')]);
      expect(await test.store.getDelivery('a')).toEqual(told('a').deliveries[0]);
      await insert('i', 'x');
      await test.store.insertInstance({
        record: instanceOf('new', { reference: 'r' }),
        side: NO_SIDE,
        conflict: { action: 'refuse' },
        ...told('x'),
      });
      const record = (await test.store.getInstance('i'))!;
      const lost = { ...commitOf(record, told('x')), revision: 99 };
      expect(await test.store.commitInstance(lost)).toBe('lost');
      expect(await stored()).toEqual(['a', 'b', 'c']);
      const other = notificationDeliveryOf('y', { notification: 'other' });
      const deliveries = [...told('a', 'd').deliveries, other];
      const commit = commitOf(record, { deliveries, status: 'Complete', endTime: 5 });
      expect(await test.store.commitInstance(commit)).toBe('committed');
      expect(await stored()).toEqual(['a', 'b', 'c', 'd']);
      expect(await test.store.getDelivery('y')).toBeNull();
    });

    it("is claimed when it's due, longest due first, and again after the lease", async () => {
      await put();
      await insert(
        notificationDeliveryOf('later', { dueAt: 1500 }),
        notificationDeliveryOf('first', { dueAt: 1000 }),
        notificationDeliveryOf('future', { dueAt: 2001 }),
        notificationDeliveryOf('done', { state: 'delivered', endedAt: 5 }),
      );
      expect(idsOf(await claim({ limit: 1 }))).toEqual(['first']);
      const [claimed] = await claim();
      expect(claimed).toMatchObject({ id: 'later', attempts: 1, dueAt: 9000, body: '{}' });
      expect(await claim()).toEqual([]);
      expect(idsOf(await claim({ now: 9000, until: 20_000 })).toSorted()).toEqual([
        'first',
        'future',
        'later',
      ]);
    });

    it('is claimed by one of many nodes', async () => {
      await put();
      const ids = Array.from({ length: 40 }, (_, n) => `d${n}`);
      await insert(...ids.map((id) => notificationDeliveryOf(id)));
      const other = await test.open();
      const claimed: string[] = [];
      const claimAll = async (store: typeof other): Promise<void> => {
        for (;;) {
          const lease = { notification: 'n', now: 2000, until: 9000, limit: 3 };
          const found = await store.claimDeliveries(lease);
          if (found.length > 0) claimed.push(...idsOf(found));
          else if ((await test.store.getDelivery('d0'))?.dueAt === 9000) return;
        }
      };
      const stores = Array.from({ length: CLAIMERS }, (_, n) => (n % 2 === 0 ? test.store : other));
      await Promise.all(stores.map(claimAll));
      // A claim that others were in the way of may have found nothing.
      await claimAll(test.store);
      expect(claimed.toSorted()).toEqual(ids.toSorted());
    });

    it('saves only the outcome of its newest attempt', async () => {
      await put();
      await insert(notificationDeliveryOf('d'));
      await claim();
      const outcome = { id: 'd', state: 'delivered', dueAt: 0, endedAt: 7, answer: '{}' } as const;
      expect(await test.store.saveDelivery({ ...outcome, attempts: 0 })).toBe(false);
      const failed = {
        ...outcome,
        attempts: 1,
        state: 'waiting',
        dueAt: 50,
        endedAt: null,
      } as const;
      expect(await test.store.saveDelivery(failed)).toBe(true);
      expect(await claim()).toMatchObject([{ attempts: 2, answer: '{}' }]);
      expect(await test.store.saveDelivery({ ...outcome, attempts: 1 })).toBe(false);
      expect(await test.store.saveDelivery({ ...outcome, attempts: 2 })).toBe(true);
      expect(await test.store.saveDelivery({ ...outcome, attempts: 2 })).toBe(false);
      expect(await test.store.getDelivery('d')).toMatchObject({ state: 'delivered', endedAt: 7 });
    });

    it('is delivered again on demand', async () => {
      await put();
      const ended = { state: 'failed', attempts: 3, endedAt: 7, answer: 'no' } as const;
      await insert(notificationDeliveryOf('d', ended));
      expect(await test.store.redeliver('other', 'd', 1500)).toBeNull();
      expect(await test.store.redeliver('n', 'x', 1500)).toBeNull();
      expect(await test.store.redeliver('n', 'd', 1500)).toEqual({
        ...summaryOf(notificationDeliveryOf('d', ended)),
        state: 'waiting',
        dueAt: 1500,
        since: 1500,
        endedAt: null,
      });
      expect(await claim()).toMatchObject([{ id: 'd', attempts: 4 }]);
    });

    it('is listed by notification and state, newest first, in pages', async () => {
      await put();
      await put('m');
      await insert(
        notificationDeliveryOf('a', { createdAt: 1 }),
        notificationDeliveryOf('c', { createdAt: 2 }),
        notificationDeliveryOf('b', { createdAt: 2, state: 'failed', endedAt: 3 }),
        notificationDeliveryOf('m', { notification: 'm' }),
      );
      const list = (state?: 'failed', after: { time: number; id: string } | null = null) =>
        test.store.listDeliveries(
          { notification: 'n', ...(state !== undefined && { state }) },
          after,
          2,
        );
      const [first] = await list();
      expect(first).toEqual(summaryOf(notificationDeliveryOf('c', { createdAt: 2 })));
      expect(idsOf(await list())).toEqual(['c', 'b']);
      expect(idsOf(await list(undefined, { time: 2, id: 'b' }))).toEqual(['a']);
      expect(idsOf(await list('failed'))).toEqual(['b']);
      expect(idsOf(await list('failed', { time: 2, id: 'c' }))).toEqual(['b']);
      expect(idsOf(await list('failed', { time: 2, id: 'b' }))).toEqual([]);
    });

    it('is removed with its notification, or a while after its end', async () => {
      await put();
      await put('m');
      await insert(
        notificationDeliveryOf('a', { state: 'failed', endedAt: 5 }),
        notificationDeliveryOf('b', { state: 'delivered', endedAt: 4 }),
        notificationDeliveryOf('c', { state: 'delivered', endedAt: 6 }),
        notificationDeliveryOf('open'),
        notificationDeliveryOf('m', { notification: 'm' }),
      );
      expect(await test.store.purgeDeliveries(6, 1)).toBe(1);
      expect(await test.store.getDelivery('b')).toBeNull();
      expect(await test.store.purgeDeliveries(6, 10)).toBe(1);
      expect(await test.store.removeDeliveries('n', 1)).toBe(1);
      expect(await test.store.removeDeliveries('n', 10)).toBe(1);
      expect(await test.store.removeDeliveries('n', 10)).toBe(0);
      expect(await test.store.getDelivery('m')).not.toBeNull();
    });
  });
}
