/** Published events, and who waits for them. */
import type { OperationArguments, OperationResult } from '../operations.js';
import type { EventRecord, SubscriptionRecord } from '../store.js';
import { compareText } from '../text-order.js';
import type { MemoryData } from './memory-data.js';

export function insertEvent(
  data: MemoryData,
  [event]: OperationArguments<'insertEvent'>,
): EventRecord | null {
  const known = data.events.get(event.id);
  if (known === undefined) data.events.set(event.id, { ...event });
  return known ?? null;
}

export function getEvent(
  data: MemoryData,
  [id]: OperationArguments<'getEvent'>,
): EventRecord | null {
  return data.events.get(id) ?? null;
}

export function findEvents(
  data: MemoryData,
  [nameKey, from, limit]: OperationArguments<'findEvents'>,
): readonly EventRecord[] {
  return [...data.events.values()]
    .filter((event) => event.nameKey === nameKey && oldestFirst(event, from) >= 0)
    .sort(oldestFirst)
    .slice(0, limit);
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

export function markEventDelivered(
  data: MemoryData,
  [id, deliveredTo]: OperationArguments<'markEventDelivered'>,
): OperationResult<'markEventDelivered'> {
  const known = data.events.get(id);
  if (known !== undefined) data.events.set(id, { ...known, deliveredTo });
}

export function findUndeliveredEvents(
  data: MemoryData,
  [publishedBefore, limit]: OperationArguments<'findUndeliveredEvents'>,
): readonly EventRecord[] {
  return [...data.events.values()]
    .filter((event) => event.deliveredTo === null && event.publishedAt < publishedBefore)
    .sort(oldestFirst)
    .slice(0, limit);
}

interface EventPosition {
  readonly publishedAt: number;
  readonly id: string;
}

function oldestFirst(left: EventPosition, right: EventPosition): number {
  return left.publishedAt - right.publishedAt || compareText(left.id, right.id);
}
