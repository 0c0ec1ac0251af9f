/**
 * Goal: callers do not wait until their event is marked as delivered, and yet every event reaches each run once.
 * Method: the store posts events as PostgreSQL does, but misses runs that subscribe at the same moment, marks late, or not at
 * all until the server has stopped.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EventDelivery, EventRecord } from '../../src/store/records/events.js';
import type { InboxMessage } from '../../src/store/records/messages.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { Client, fresh } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';
import { step } from './support/steps.js';
import { STORE_KINDS } from './support/stores.js';

interface EventShown {
  readonly id: string;
  readonly deliveredTo: number | null;
}

interface Faults {
  /** Whether the insert of an event does not see the subscriptions. */
  readonly misses?: boolean;
  /** Called before the deliveries are marked; the store fails with what it throws. */
  readonly beforeMark?: (deliveries: readonly EventDelivery[]) => void | Promise<void>;
}

/** Posts to the subscriptions that were there a moment before. */
function withFaults(store: Store, { beforeMark, misses = false }: Faults): Store {
  return {
    ...store,
    insertEvent: async (event: EventRecord, message?: InboxMessage) => {
      const found = await store.findSubscriptions(event.nameKey, event.publishedAt, null, 100);
      const inserted = await store.insertEvent(event);
      if (inserted.outcome === 'exists' || message === undefined) return inserted;
      const instanceIds = misses ? [] : [...new Set(found.map(({ instanceId }) => instanceId))];
      const answers = await store.postMessages(
        instanceIds.map((instanceId) => ({ instanceId, message })),
      );
      const posted = answers.filter((answer) => answer !== null);
      return { outcome: 'inserted', posted, delivery: 'unconfirmed' };
    },
    markEventsDelivered: async (deliveries) => {
      await beforeMark?.(deliveries);
      return store.markEventsDelivered(deliveries);
    },
  };
}

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const waitFor = (id: string, name: string) =>
  step(
    id,
    'WaitFor',
    { EventName: `"${name}"`, EventKey: 'data.key' },
    { Outputs: { [id]: 'step.EventData' } },
  );

for (const { available, kind, ...stores } of STORE_KINDS) {
  const servers = async (): Promise<(faults: Faults) => Promise<[Client, TestServer]>> => {
    const created = await stores.create();
    let running: TestServer | null = null;
    onTestFinished(async () => {
      await running?.stop();
      await created.remove();
    });
    return async (faults) => {
      await running?.stop();
      const wrapStore = (store: Store): Store => withFaults(store, faults);
      running = await startServer({ store: created.open(), wrapStore });
      return [new Client(running.url), running];
    };
  };

  describe.skipIf(!available)(`the delivery of events on ${kind}`, { timeout: 60_000 }, () => {
    it('reaches a run that the insert of the event missed', async () => {
      const [client] = await (await servers())({ misses: true });
      const name = fresh('event');
      const id = await client.defineAndStart([waitFor('got', name)], { key: 'k' });
      await client.untilWaiting(id, 'got');
      const published = await client.publish(name, 'k', 1);
      expect((await client.ended(id)).data).toEqual({ key: 'k', got: 1 });
      await eventually('the event shows its delivery', async () => {
        const { body } = await client.get<EventShown>(`/api/event/${published.id}`);
        return body.deliveredTo === 1;
      });
    });

    it("is returned and shown before it's marked, also to a repeated call", async () => {
      const held = gate();
      const [client] = await (await servers())({ beforeMark: () => held.opened });
      onTestFinished(held.open);
      const name = fresh('event');
      const id = await client.defineAndStart([waitFor('got', name)], { key: 'k' });
      await client.untilWaiting(id, 'got');
      const publish = async (): Promise<EventShown> => {
        const path = `/api/event/${name}/k`;
        const answer = await client.post<EventShown>(path, 1, { 'Idempotency-Key': name });
        expect(answer.status, answer.text).toBe(202);
        return answer.body;
      };
      const published = await publish();
      expect(published.deliveredTo).toBe(1);
      expect((await client.ended(id)).data).toMatchObject({ got: 1 });
      expect(await publish()).toEqual(published);
      const shown = await client.get<EventShown>(`/api/event/${published.id}`);
      expect(shown.body.deliveredTo).toBe(1);
      const list = await client.get<{ readonly items: readonly EventShown[] }>('/api/event');
      expect(list.body.items).toMatchObject([{ id: published.id, deliveredTo: 1 }]);
    });

    it('is marked for many events at once', async () => {
      const held = gate();
      const marked: number[] = [];
      const [client] = await (
        await servers()
      )({
        beforeMark: (deliveries) => {
          marked.push(deliveries.length);
          return held.opened;
        },
      });
      onTestFinished(held.open);
      const name = fresh('event');
      await client.publish(name, 'first', 1);
      await eventually('the first mark is in progress', () => marked.length === 1);
      for (let n = 0; n < 30; n += 1) await client.publish(name, `${n}`, 1);
      held.open();
      await eventually('all are marked', () => marked.reduce((sum, n) => sum + n, 0) === 31);
      expect(marked).toHaveLength(2);
    });

    it('is repeated after a crash before the mark, and takes effect once', async () => {
      const start = await servers();
      const unmarked: string[] = [];
      const [before] = await start({
        beforeMark: (deliveries) => {
          unmarked.push(...deliveries.map(({ id }) => id));
          throw new StoreUnavailableError('the node dies before it marks the event');
        },
      });
      const name = fresh('event');
      const steps = [{ ...waitFor('one', name), NextStepId: 'two' }, waitFor('two', name)];
      const id = await before.defineAndStart(steps, { key: 'k' });
      await before.untilWaiting(id, 'one');
      const published = await before.publish(name, 'k', 1);
      await before.untilWaiting(id, 'two');
      await eventually('the mark has failed', () => unmarked.length > 0);

      const [after] = await start({});
      await eventually('the event was delivered again', async () => {
        const { body } = await after.get<EventShown>(`/api/event/${published.id}`);
        return body.deliveredTo !== null;
      });
      expect(await after.untilWaiting(id, 'two')).toMatchObject({ status: 'Waiting' });
      await after.publish(name, 'k', 2);
      expect((await after.ended(id)).data).toEqual({ key: 'k', one: 1, two: 2 });
    });
  });
}
