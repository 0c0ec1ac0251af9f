/** Published events, and the subscriptions to them. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { CLAIMED_BY_EVENT_MAX, type InsertEventResult } from '../records/posted-messages.js';
import {
  EVENT_TAKERS_MAX,
  LISTED_DATA_LENGTH_MAX,
  LONG_EVENT_LENGTH,
  type EventDelivery,
  type EventListItem,
  type EventRecord,
  type FoundEvent,
  type SubscriptionRecord,
} from '../records/events.js';
import { FAR_FUTURE_MS } from '../store.js';
import { compareText } from '../text-order.js';
import type { MemoryData, StoredEvent } from './memory-data.js';
import { postMessage } from './messages.js';

export function insertEvent(
  data: MemoryData,
  [event, message, claimer]: OperationArguments<'insertEvent'>,
): InsertEventResult {
  const { id, nameKey, publishedAt } = event;
  const known = data.events.get(id);
  if (known !== undefined) return { outcome: 'exists', event: recordOf(known) };
  data.events.set(id, { ...event, takenBy: [] });
  if (message === undefined) return { outcome: 'inserted', posted: [], delivery: 'partial' };
  const subscriptions = findSubscriptions(data, [nameKey, publishedAt, null, Infinity]);
  const posted = [...new Set(subscriptions.map(({ instanceId }) => instanceId))]
    .map((instanceId, index) =>
      postMessage(
        data,
        { instanceId, message },
        index < CLAIMED_BY_EVENT_MAX ? claimer : undefined,
      ),
    )
    .filter((answer) => answer !== null)
    .map((answer) => {
      const own = subscriptions.filter(({ instanceId }) => instanceId === answer.instanceId);
      const isOnly = answer.claimed !== undefined && hasNoEvents(data, own, id);
      return isOnly ? { ...answer, onlyEventOf: nameKey } : answer;
    });
  const takers = posted.slice(0, EVENT_TAKERS_MAX).map(({ instanceId }) => instanceId);
  data.events.set(id, { ...event, deliveredTo: posted.length, takenBy: takers });
  return { outcome: 'inserted', posted, delivery: 'complete' };
}

export function hasNoEvents(
  data: MemoryData,
  subscriptions: readonly SubscriptionRecord[],
  except?: string,
): boolean {
  return subscriptions.every(({ effectiveAt: publishedAt, nameKey }) => {
    const found = findEvents(data, [nameKey, { publishedAt, id: '' }, 2]);
    return found.every(({ id }) => id === except);
  });
}

export function getEvent(
  data: MemoryData,
  [id]: OperationArguments<'getEvent'>,
): EventRecord | null {
  const known = data.events.get(id);
  return known === undefined ? null : recordOf(known);
}

export function findEvents(
  data: MemoryData,
  [nameKey, from, limit]: OperationArguments<'findEvents'>,
): readonly FoundEvent[] {
  return [...data.events.values()]
    .filter((event) => event.nameKey === nameKey && oldestFirst(event, from) >= 0)
    .sort(oldestFirst)
    .slice(0, limit)
    .map(foundOf);
}

export function listEvents(
  data: MemoryData,
  [{ nameKey, before, limit }]: OperationArguments<'listEvents'>,
): readonly EventListItem[] {
  return [...data.events.values()]
    .filter((event) => nameKey === null || event.nameKey === nameKey)
    .filter((event) => before === null || oldestFirst(event, before) < 0)
    .sort((left, right) => oldestFirst(right, left))
    .slice(0, limit)
    .map(({ id, name, key, data: text, publishedAt, deliveredTo, takenBy }) => ({
      id,
      name,
      key,
      publishedAt,
      deliveredTo,
      takenBy,
      data: text.length > LISTED_DATA_LENGTH_MAX ? null : text,
    }));
}

export function findSubscriptions(
  data: MemoryData,
  [nameKey, publishedAt, afterId, limit]: OperationArguments<'findSubscriptions'>,
): readonly SubscriptionRecord[] {
  return [...data.subscriptions.values()]
    .filter((known) => known.nameKey === nameKey && known.effectiveAt <= publishedAt)
    .filter((known) => afterId === null || compareText(known.id, afterId) > 0)
    .sort((left, right) => compareText(left.id, right.id))
    .slice(0, limit);
}

export function listSubscriptions(
  data: MemoryData,
  [nameKey, afterId, limit]: OperationArguments<'listSubscriptions'>,
): readonly SubscriptionRecord[] {
  return findSubscriptions(data, [nameKey, FAR_FUTURE_MS, afterId, limit]);
}

export function markEventsDelivered(
  data: MemoryData,
  [deliveries]: OperationArguments<'markEventsDelivered'>,
): OperationResult<'markEventsDelivered'> {
  return deliveries
    .filter((delivery) => !markDelivered(data, delivery))
    .map((delivery) => delivery.id);
}

/** Returns false if the delivery has missed an instance. */
function markDelivered(data: MemoryData, delivery: EventDelivery): boolean {
  const { deliveredTo, id, isConfirmed, takenBy } = delivery;
  const known = data.events.get(id);
  if (known === undefined || deliveredTo <= (known.deliveredTo ?? -1)) return true;
  const { nameKey, publishedAt } = known;
  if (!isConfirmed) {
    const subscriptions = findSubscriptions(data, [nameKey, publishedAt, null, Infinity]);
    if (subscriptions.some(({ instanceId }) => !takenBy.includes(instanceId))) return false;
  }
  data.events.set(id, { ...known, deliveredTo, takenBy: [...takenBy] });
  return true;
}

export function findUndeliveredEvents(
  data: MemoryData,
  [publishedBefore, limit]: OperationArguments<'findUndeliveredEvents'>,
): readonly FoundEvent[] {
  return [...data.events.values()]
    .filter((event) => event.deliveredTo === null && event.publishedAt < publishedBefore)
    .sort(oldestFirst)
    .slice(0, limit)
    .map(foundOf);
}

function foundOf(event: StoredEvent): FoundEvent {
  const record = recordOf(event);
  return record.data.length > LONG_EVENT_LENGTH ? { ...record, data: null } : record;
}

function recordOf(event: StoredEvent): EventRecord {
  const { id, nameKey, name, key, data, publishedAt, deliveredTo, requestHash } = event;
  return { id, nameKey, name, key, data, publishedAt, deliveredTo, requestHash };
}

interface EventPosition {
  readonly publishedAt: number;
  readonly id: string;
}

function oldestFirst(left: EventPosition, right: EventPosition): number {
  return left.publishedAt - right.publishedAt || compareText(left.id, right.id);
}
