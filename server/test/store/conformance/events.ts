/** Contract cases: events and subscriptions. */
import { describe, expect, it } from 'vitest';
import {
  LISTED_DATA_LENGTH_MAX,
  LONG_EVENT_LENGTH,
  type EventPage,
  type SubscriptionRecord,
} from '../../../src/store/records/events.js';
import type { StoreUnderTest } from '../conformance.js';
import { deliveryOf, eventOf, instanceOf, NO_SIDE } from '../records.js';

export function describeEvents(test: StoreUnderTest): void {
  describe('events', () => {
    it('stores an event once', async () => {
      const event = eventOf('e', { data: '{"a":1}', requestHash: 'h' });
      const inserted = { outcome: 'inserted', posted: [], delivery: 'partial' };
      expect(await test.store.insertEvent(event)).toEqual(inserted);
      const other = await test.store.insertEvent(eventOf('e', { data: 'other' }));
      expect(other).toEqual({ outcome: 'exists', event });
      expect(await test.store.getEvent('e')).toEqual(event);
      expect(await test.store.getEvent('x')).toBeNull();
    });

    describe('with a message', () => {
      const message = (id: string) => ({ id: `event/${id}`, body: `{"kind":"${id}"}` });
      const subscribe = async (id: string, effectiveAt: number, ...waits: string[]) => {
        const subscriptions = waits.map((wait) => ({
          id: `${id}/${wait}`,
          instanceId: id,
          nameKey: 'paid/7',
          effectiveAt,
        }));
        await test.store.insertInstance({
          record: instanceOf(id),
          side: { ...NO_SIDE, subscriptions },
        });
      };
      const inboxOf = async (id: string) => (await test.store.getInstance(id))?.inbox;
      const insert = async (id: string) => {
        const result = await test.store.insertEvent(eventOf(id), message(id));
        if (result.outcome === 'exists') expect.fail('the event exists');
        return result;
      };

      it('posts the event to subscribed instances in the same step, if the store can', async () => {
        await subscribe('i', 1000, '1/0', '2/0');
        await subscribe('j', 0, '1/0');
        await subscribe('later', 1001, '1/0');
        await subscribe('ended', 0, '1/0');
        await test.store.controlInstance('ended', 'terminate', 5);
        const { delivery, posted } = await insert('e');
        const { kind } = test.store;
        const deliveries = {
          sqlite: 'complete',
          memory: 'complete',
          // The ended run did not accept the message, which the statement cannot tell from a full inbox.
          postgres: 'partial',
          mongo: 'partial',
        };
        expect(delivery).toBe(deliveries[kind]);
        const reached = posted.map(({ instanceId }) => instanceId);
        expect(reached.toSorted()).toEqual(kind === 'mongo' ? [] : ['i', 'j']);
        for (const { epoch, inSeq, instanceId } of posted) {
          const instance = await test.store.getInstance(instanceId);
          expect(instance).toMatchObject({ epoch, inSeq, wakeAt: 0, inbox: [message('e')] });
        }
        const isMarked = delivery === 'complete';
        expect((await test.store.getEvent('e'))?.deliveredTo).toBe(isMarked ? 2 : null);
        expect(await inboxOf('later')).toEqual([]);
        expect(await inboxOf('ended')).toEqual([]);
      });

      it('reports a complete delivery if all runs accept the event and the store can tell', async () => {
        await subscribe('i', 0, '1/0', '2/0');
        await subscribe('j', 0, '1/0');
        const { delivery, posted } = await insert('e');
        const deliveries = {
          sqlite: 'complete',
          memory: 'complete',
          postgres: 'unconfirmed',
          mongo: 'partial',
        };
        expect(delivery).toBe(deliveries[test.store.kind]);
        const takenBy = posted.map(({ instanceId }) => instanceId);
        const mark = deliveryOf('e', takenBy, { isConfirmed: false });
        const isMissed = test.store.kind === 'mongo';
        expect(await test.store.markEventsDelivered([mark])).toEqual(isMissed ? ['e'] : []);
        expect((await test.store.getEvent('e'))?.deliveredTo).toBe(isMissed ? null : 2);
      });

      it('delivers only in part if there are more subscriptions than the store checks', async () => {
        for (let n = 0; n < 9; n += 1) await subscribe(`i${n}`, 0, '1/0');
        const { delivery, posted } = await insert('e');
        const { kind } = test.store;
        const isWhole = kind === 'sqlite' || kind === 'memory';
        expect(delivery).toBe(isWhole ? 'complete' : 'partial');
        expect(posted).toHaveLength({ sqlite: 9, memory: 9, postgres: 8, mongo: 0 }[kind]);
      });

      it("doesn't post an event that already exists", async () => {
        await insert('e');
        await subscribe('i', 0, '1/0');
        const again = await test.store.insertEvent(eventOf('e'), message('e'));
        expect(again.outcome).toBe('exists');
        expect(await inboxOf('i')).toEqual([]);
      });

      it('posts simultaneous events one after the other', async () => {
        await subscribe('i', 0, '1/0');
        const ids = Array.from({ length: 20 }, (_, n) => `e${n}`);
        const results = await Promise.all(ids.map(insert));
        const inbox = (await inboxOf('i')) ?? [];
        for (const [n, { posted }] of results.entries()) {
          for (const { inSeq } of posted) expect(inbox[inSeq - 1]).toEqual(message(`e${n}`));
        }
        const isPosted = test.store.kind !== 'mongo';
        expect(results.flatMap(({ posted }) => posted)).toHaveLength(isPosted ? 20 : 0);
      });
    });

    it('finds events by name and key from a position onwards, in order', async () => {
      for (const [id, publishedAt] of [
        ['b', 20],
        ['c', 10],
        ['a', 20],
        ['d', 30],
      ] as const) {
        await test.store.insertEvent(eventOf(id, { publishedAt }));
      }
      await test.store.insertEvent(eventOf('x', { nameKey: 'paid/8', publishedAt: 20 }));
      const find = async (publishedAt: number, id: string, limit = 10) =>
        (await test.store.findEvents('paid/7', { publishedAt, id }, limit)).map(
          (event) => event.id,
        );
      expect(await find(0, '')).toEqual(['c', 'a', 'b', 'd']);
      expect(await find(20, 'a')).toEqual(['a', 'b', 'd']);
      expect(await find(20, 'aa')).toEqual(['b', 'd']);
      expect(await find(20, '', 2)).toEqual(['a', 'b']);
      expect(await find(31, '')).toEqual([]);
    });

    it('omits long data from found events', async () => {
      const long = `"${'x'.repeat(2 * LONG_EVENT_LENGTH)}"`;
      await test.store.insertEvent(eventOf('a', { publishedAt: 1, data: long }));
      await test.store.insertEvent(eventOf('b', { publishedAt: 2, data: '{"a":1}' }));
      const expected = [
        { ...eventOf('a', { publishedAt: 1 }), data: null },
        eventOf('b', { publishedAt: 2, data: '{"a":1}' }),
      ];
      const from = { publishedAt: 0, id: '' };
      expect(await test.store.findEvents('paid/7', from, 10)).toEqual(expected);
      expect(await test.store.findUndeliveredEvents(100, 10)).toEqual(expected);
      expect((await test.store.getEvent('a'))?.data).toBe(long);
    });

    it('marks events as delivered', async () => {
      await test.store.insertEvent(eventOf('a', { publishedAt: 20 }));
      await test.store.insertEvent(eventOf('b', { publishedAt: 10 }));
      await test.store.insertEvent(eventOf('c', { publishedAt: 30, deliveredTo: 0 }));
      const undelivered = async (before: number, limit = 10) =>
        (await test.store.findUndeliveredEvents(before, limit)).map(({ id }) => id);
      expect(await undelivered(100)).toEqual(['b', 'a']);
      expect(await undelivered(20)).toEqual(['b']);
      expect(await undelivered(100, 1)).toEqual(['b']);
      const deliveries = [deliveryOf('unknown', ['i']), deliveryOf('b', ['i'], { deliveredTo: 3 })];
      expect(await test.store.markEventsDelivered(deliveries)).toEqual([]);
      expect(await undelivered(100)).toEqual(['a']);
      expect((await test.store.getEvent('b'))?.deliveredTo).toBe(3);
      expect(await test.store.markEventsDelivered([])).toEqual([]);
    });

    it("doesn't lower the count of an event that is already marked", async () => {
      await test.store.insertEvent(eventOf('e'));
      const mark = async (...takenBy: string[]) => {
        expect(await test.store.markEventsDelivered([deliveryOf('e', takenBy)])).toEqual([]);
        const page = { nameKey: 'paid/7', before: null, limit: 5 };
        const [event] = await test.store.listEvents(page);
        return [event?.deliveredTo, event?.takenBy];
      };
      expect(await mark()).toEqual([0, []]);
      expect(await mark('i', 'j')).toEqual([2, ['i', 'j']]);
      expect(await mark()).toEqual([2, ['i', 'j']]);
      expect(await mark('k')).toEqual([2, ['i', 'j']]);
    });

    it("doesn't mark an unconfirmed delivery that missed an instance", async () => {
      const subscribe = (id: string, effectiveAt: number, nameKey: string, ...waits: string[]) => {
        const subscriptions = waits.map((wait) => ({
          id: `${id}/${wait}`,
          instanceId: id,
          nameKey,
          effectiveAt,
        }));
        return test.store.insertInstance({
          record: instanceOf(id),
          side: { ...NO_SIDE, subscriptions },
        });
      };
      await subscribe('i', 0, 'paid/7', '1', '2');
      await subscribe('later', 1001, 'paid/7', '1');
      await subscribe('other', 0, 'paid/8', '1');
      for (const id of ['all', 'none', 'confirmed', 'gone']) {
        const nameKey = id === 'gone' ? 'nobody' : 'paid/7';
        await test.store.insertEvent(eventOf(id, { nameKey, publishedAt: 1000 }));
      }
      const missing = await test.store.markEventsDelivered([
        deliveryOf('none', [], { isConfirmed: false }),
        deliveryOf('all', ['i'], { isConfirmed: false }),
        deliveryOf('confirmed', []),
        deliveryOf('gone', [], { isConfirmed: false }),
      ]);
      expect(missing).toEqual(['none']);
      const deliveredTo = async (id: string) => (await test.store.getEvent(id))?.deliveredTo;
      expect(await deliveredTo('none')).toBeNull();
      expect(await deliveredTo('all')).toBe(1);
      expect(await deliveredTo('confirmed')).toBe(0);
      expect(await deliveredTo('gone')).toBe(0);
    });
  });

  describe('event lists', () => {
    const list = async (
      nameKey: string | null,
      before: EventPage['before'] = null,
      limit = 10,
    ): Promise<string[]> =>
      (await test.store.listEvents({ nameKey, before, limit })).map(({ id }) => id);

    it('shows the newest first, undelivered ones too, for all events or for one name and key', async () => {
      await test.store.insertEvent(eventOf('a', { publishedAt: 10, deliveredTo: 1 }));
      await test.store.insertEvent(eventOf('b', { publishedAt: 20 }));
      await test.store.insertEvent(eventOf('c', { publishedAt: 20, deliveredTo: 0 }));
      await test.store.insertEvent(eventOf('d', { publishedAt: 30, nameKey: 'paid/8' }));
      await test.store.insertEvent(eventOf('e', { publishedAt: 5, deliveredTo: 0 }));
      expect(await list(null)).toEqual(['d', 'c', 'b', 'a', 'e']);
      expect(await list(null, null, 2)).toEqual(['d', 'c']);
      expect(await list(null, { publishedAt: 20, id: 'c' }, 2)).toEqual(['b', 'a']);
      expect(await list('paid/7')).toEqual(['c', 'b', 'a', 'e']);
      expect(await list('paid/7', { publishedAt: 20, id: 'b' }, 1)).toEqual(['a']);
      expect(await list('paid/9')).toEqual([]);
    });

    it('includes the instances that took an event, and omits long data', async () => {
      await test.store.insertEvent(eventOf('short', { publishedAt: 3, data: '{"a":1}' }));
      for (const length of [LISTED_DATA_LENGTH_MAX, LISTED_DATA_LENGTH_MAX + 1, 20_000]) {
        await test.store.insertEvent(
          eventOf(`of ${length}`, { publishedAt: 2, data: 'x'.repeat(length) }),
        );
      }
      await test.store.markEventsDelivered([deliveryOf('short', ['i', 'j'], { deliveredTo: 30 })]);
      const listed = await test.store.listEvents({ nameKey: null, before: null, limit: 9 });
      expect(listed[0]).toEqual({
        id: 'short',
        name: 'paid',
        key: '7',
        publishedAt: 3,
        data: '{"a":1}',
        deliveredTo: 30,
        takenBy: ['i', 'j'],
      });
      expect(listed.slice(1).map(({ data, takenBy }) => [data?.length, takenBy])).toEqual([
        [undefined, []],
        [LISTED_DATA_LENGTH_MAX, []],
        [undefined, []],
      ]);
    });
  });

  describe('subscriptions', () => {
    it("finds subscriptions by name, key and id if the event isn't too old for them", async () => {
      const subscription = (id: string, effectiveAt: number, nameKey = 'paid/7') => ({
        id,
        instanceId: 'i',
        nameKey,
        effectiveAt,
      });
      const subscriptions: SubscriptionRecord[] = [
        subscription('c', 10),
        subscription('a', 20),
        subscription('b', 10),
        subscription('x', 10, 'paid/8'),
      ];
      await test.store.insertInstance({
        record: instanceOf('i'),
        side: { ...NO_SIDE, subscriptions },
      });
      const find = async (publishedAt: number, afterId: string | null, limit = 10) =>
        (await test.store.findSubscriptions('paid/7', publishedAt, afterId, limit)).map(
          ({ id }) => id,
        );
      expect(await test.store.findSubscriptions('paid/8', 10, null, 5)).toEqual([subscriptions[3]]);
      expect(await find(20, null)).toEqual(['a', 'b', 'c']);
      expect(await find(19, null)).toEqual(['b', 'c']);
      expect(await find(9, null)).toEqual([]);
      expect(await find(20, null, 2)).toEqual(['a', 'b']);
      const list = (afterId: string | null, limit: number) =>
        test.store.listSubscriptions('paid/7', afterId, limit);
      expect((await list(null, 2)).map(({ id }) => id)).toEqual(['a', 'b']);
      expect((await list('b', 9)).map(({ id }) => id)).toEqual(['c']);
      expect(await find(20, 'b')).toEqual(['c']);
    });
  });
}
