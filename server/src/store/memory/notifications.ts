/** Notifications and their deliveries. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type { DeliveryRecord, DeliverySummary } from '../records/notifications.js';
import { compareText } from '../text-order.js';
import { newestFirst } from './instance-lists.js';
import type { MemoryData } from './memory-data.js';

export function putNotification(
  data: MemoryData,
  [notification]: OperationArguments<'putNotification'>,
): void {
  data.notifications.set(notification.name, { ...notification });
}

export function listNotifications(
  data: MemoryData,
  [limit]: OperationArguments<'listNotifications'>,
): OperationResult<'listNotifications'> {
  return [...data.notifications.values()]
    .sort((left, right) => compareText(left.name, right.name))
    .slice(0, limit);
}

export function pauseNotification(
  data: MemoryData,
  [name, paused]: OperationArguments<'pauseNotification'>,
): boolean {
  const known = data.notifications.get(name);
  if (known !== undefined) data.notifications.set(name, { ...known, paused });
  return known !== undefined;
}

export function removeNotification(
  data: MemoryData,
  [name]: OperationArguments<'removeNotification'>,
): boolean {
  return data.notifications.delete(name);
}

export function insertDeliveries(
  data: MemoryData,
  [deliveries]: OperationArguments<'insertDeliveries'>,
): void {
  for (const delivery of deliveries) {
    if (!data.notifications.has(delivery.notification) || data.deliveries.has(delivery.id))
      continue;
    data.deliveries.set(delivery.id, { ...delivery });
  }
}

export function claimDeliveries(
  data: MemoryData,
  [{ limit, notification, now, until }]: OperationArguments<'claimDeliveries'>,
): OperationResult<'claimDeliveries'> {
  return deliveriesOf(data, notification)
    .filter(({ dueAt, state }) => state === 'waiting' && dueAt <= now)
    .sort((left, right) => left.dueAt - right.dueAt || compareText(left.id, right.id))
    .slice(0, limit)
    .map((due) => put(data, { ...due, attempts: due.attempts + 1, dueAt: until }));
}

export function saveDelivery(
  data: MemoryData,
  [attempt]: OperationArguments<'saveDelivery'>,
): boolean {
  const known = data.deliveries.get(attempt.id);
  if (known?.attempts !== attempt.attempts || known.state !== 'waiting') return false;
  put(data, { ...known, ...attempt });
  return true;
}

export function redeliver(
  data: MemoryData,
  [notification, id, at]: OperationArguments<'redeliver'>,
): DeliverySummary | null {
  const known = data.deliveries.get(id);
  if (known?.notification !== notification) return null;
  return summaryOf(put(data, { ...known, state: 'waiting', dueAt: at, since: at, endedAt: null }));
}

export function getDelivery(
  data: MemoryData,
  [id]: OperationArguments<'getDelivery'>,
): DeliveryRecord | null {
  return data.deliveries.get(id) ?? null;
}

export function listDeliveries(
  data: MemoryData,
  [{ notification, state }, after, limit]: OperationArguments<'listDeliveries'>,
): readonly DeliverySummary[] {
  return deliveriesOf(data, notification)
    .filter((delivery) => state === undefined || delivery.state === state)
    .map((delivery) => ({ delivery, time: delivery.createdAt, id: delivery.id }))
    .filter((entry) => after === null || newestFirst(entry, after) > 0)
    .sort(newestFirst)
    .slice(0, limit)
    .map(({ delivery }) => summaryOf(delivery));
}

export function removeDeliveries(
  data: MemoryData,
  [notification, limit]: OperationArguments<'removeDeliveries'>,
): number {
  const found = deliveriesOf(data, notification).slice(0, limit);
  for (const { id } of found) data.deliveries.delete(id);
  return found.length;
}

export function purgeDeliveries(
  data: MemoryData,
  [endedBefore, limit]: OperationArguments<'purgeDeliveries'>,
): number {
  const ended = [...data.deliveries.values()]
    .flatMap(({ endedAt, id }) =>
      endedAt === null || endedAt >= endedBefore ? [] : { endedAt, id },
    )
    .sort((left, right) => left.endedAt - right.endedAt || compareText(left.id, right.id))
    .slice(0, limit);
  for (const { id } of ended) data.deliveries.delete(id);
  return ended.length;
}

function deliveriesOf(data: MemoryData, notification: string): DeliveryRecord[] {
  return [...data.deliveries.values()].filter((delivery) => delivery.notification === notification);
}

function put(data: MemoryData, delivery: DeliveryRecord): DeliveryRecord {
  data.deliveries.set(delivery.id, delivery);
  return delivery;
}

function summaryOf(delivery: DeliveryRecord): DeliverySummary {
  const { answer, attempts, createdAt, dueAt, endedAt, id } = delivery;
  const { notification, since, state, type, workflowId } = delivery;
  const times = { createdAt, dueAt, since, endedAt };
  return { id, notification, workflowId, type, state, attempts, answer, ...times };
}
