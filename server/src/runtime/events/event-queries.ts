/** Reads events, and the instances that wait for them. */
import { readJson } from '../../engine/values/exact-json.js';
import { AppError } from '../../base/errors.js';
import type { Store } from '../../store/store.js';
import type { EventListItem, EventRecord } from '../../store/records/events.js';
import { type Page, type PageRequest, decodeCursor, pageOf } from '../model/paging.js';
import { nameKeyOf, readExecutionKey } from '../../base/ids.js';
import { memoryCost } from '../../engine/values/memory-cost.js';
import type { EventDeliveries } from './event-deliveries.js';
import type { EventName, EventView, EventWaiterView, StoredEventView } from './event-types.js';
import type { ReadingGate } from '../memory/reading-gate.js';

export class EventQueries {
  readonly #store: Store;
  readonly #reading: ReadingGate;
  readonly #deliveries: Pick<EventDeliveries, 'find' | 'whileReading'>;

  constructor(
    store: Store,
    reading: ReadingGate,
    deliveries: Pick<EventDeliveries, 'find' | 'whileReading'>,
  ) {
    this.#store = store;
    this.#reading = reading;
    this.#deliveries = deliveries;
  }

  /** Newest first; for one name and key, or all. */
  async list(of: EventName | null, page: PageRequest): Promise<Page<EventView>> {
    const nameKey = of === null ? null : nameKeyOf(of.name, of.key);
    const list = `events ${nameKey ?? ''}`;
    const position = decodeCursor(page.cursor, list);
    const before =
      position === null ? null : { publishedAt: Number(position[0]), id: position[1] ?? '' };
    const views = await this.#deliveries.whileReading(async () => {
      const events = await this.#store.listEvents({ nameKey, before, limit: page.limit + 1 });
      return events.map((event) => viewEvent(this.#withDelivery(event)));
    });
    return pageOf(views, page.limit, list, ({ id, publishTime }) => [String(publishTime), id]);
  }

  /** @throws AppError `event_not_found` */
  get(id: string): Promise<StoredEventView> {
    return this.#reading.read(
      () => this.#find(id),
      ({ data }) => memoryCost(data),
      viewStored,
    );
  }

  async #find(id: string): Promise<EventRecord> {
    const event = await this.#deliveries.whileReading(async () => {
      const found = await this.#store.getEvent(id);
      return found === null ? null : this.#withDelivery(found);
    });
    if (event !== null) return event;
    throw new AppError('event_not_found', `There is no event '${id}'`, {
      fields: { eventId: id },
    });
  }

  #withDelivery<Event extends EventListItem | EventRecord>(event: Event): Event {
    const delivery = event.deliveredTo === null ? this.#deliveries.find(event.id) : undefined;
    if (delivery === undefined) return event;
    const { deliveredTo, takenBy } = delivery;
    return { ...event, deliveredTo, takenBy };
  }

  async listWaiters({ name, key }: EventName, page: PageRequest): Promise<Page<EventWaiterView>> {
    const nameKey = nameKeyOf(name, key);
    const list = `event-waiters ${nameKey}`;
    const afterId = decodeCursor(page.cursor, list)?.[0] ?? null;
    const limit = page.limit + 1;
    const found = await this.#store.listSubscriptions(nameKey, afterId, limit);
    const { items, nextCursor } = pageOf(found, page.limit, list, ({ id }) => [id]);
    const waiters = items.map(({ id, instanceId, effectiveAt }) => ({
      workflowId: instanceId,
      executionId: readExecutionKey(id).pointerId,
      since: effectiveAt,
    }));
    return { items: waiters, nextCursor };
  }
}

function viewStored(event: EventRecord): StoredEventView {
  const { data, deliveredTo, id, key, name, publishedAt: publishTime } = event;
  // This server stored it as JSON.
  return { id, name, key, deliveredTo, publishTime, data: readJson(data) };
}

function viewEvent(event: EventListItem): EventView {
  const { data, deliveredTo, id, key, name, publishedAt, takenBy } = event;
  return {
    id,
    name,
    key,
    deliveredTo,
    takenBy,
    data: data === null ? null : readJson(data), // Stored by us as JSON.
    dataOmitted: data === null,
    publishTime: publishedAt,
  };
}
