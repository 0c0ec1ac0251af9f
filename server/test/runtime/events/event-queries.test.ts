/**
 * Goal: an event that was delivered is never shown as undelivered again.
 * Method: the store marks the event while the list is read, between what the list sees and the answer.
 */
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { EventDeliveries } from '../../../src/runtime/events/event-deliveries.js';
import { EventQueries } from '../../../src/runtime/events/event-queries.js';
import { ReadingGate } from '../../../src/runtime/memory/reading-gate.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { Store } from '../../../src/store/store.js';
import { eventOf } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

it('shows a delivery that is stored while events are read', async () => {
  const memory = createMemoryStore();
  const clock = new ManualClock();
  const event = eventOf('paid', {});
  await memory.insertEvent(event);
  const deliveries = new EventDeliveries({
    store: memory,
    clock,
    logger: pino({ level: 'silent' }),
    deliverAgain: () => Promise.resolve(),
  });
  const store: Store = {
    ...memory,
    listEvents: async (request) => {
      const seen = await memory.listEvents(request);
      await deliveries.stop();
      return seen;
    },
    getEvent: async (id) => {
      const seen = await memory.getEvent(id);
      await deliveries.stop();
      return seen;
    },
  };
  const queries = new EventQueries(store, new ReadingGate(1e6, 1), deliveries);
  const mark = (): void =>
    deliveries.add(event, {
      id: event.id,
      deliveredTo: 1,
      takenBy: ['run'],
      isConfirmed: true,
    });

  mark();
  const page = { limit: 10, cursor: null };
  expect((await queries.list(null, page)).items).toMatchObject([
    { deliveredTo: 1, takenBy: ['run'] },
  ]);
  // From now on, the store says so.
  expect(deliveries.find(event.id)).toBeUndefined();
  expect((await queries.list(null, page)).items).toMatchObject([{ deliveredTo: 1 }]);
  expect(await queries.get(event.id)).toMatchObject({ deliveredTo: 1 });
});
