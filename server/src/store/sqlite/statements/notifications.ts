/** Notifications and their deliveries. */
import type { OperationArguments } from '../../store-operations.js';
import type {
  DeliveryRecord,
  DeliveryState,
  DeliverySummary,
  NotificationRecord,
} from '../../records/notifications.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import type { Row } from '../row.js';

const SUMMARY =
  'id, notification, workflowId, type, createdAt, state, attempts, dueAt, since, endedAt, answer';

export function putNotification(
  database: Database,
  [{ name, paused, settings }]: OperationArguments<'putNotification'>,
): void {
  database.run(
    'INSERT OR REPLACE INTO notifications (name, paused, settings) VALUES (?, ?, ?)',
    encodeText(name),
    encodeOptional(paused),
    encodeText(settings),
  );
}

export function listNotifications(
  database: Database,
  [limit]: OperationArguments<'listNotifications'>,
): readonly NotificationRecord[] {
  return database
    .all('SELECT * FROM notifications ORDER BY name LIMIT ?', limit)
    .map(notificationOf);
}

export function pauseNotification(
  database: Database,
  [name, paused]: OperationArguments<'pauseNotification'>,
): boolean {
  const changed = database.run(
    'UPDATE notifications SET paused = ? WHERE name = ?',
    encodeOptional(paused),
    encodeText(name),
  );
  return changed > 0;
}

export function removeNotification(
  database: Database,
  [name]: OperationArguments<'removeNotification'>,
): boolean {
  return database.run('DELETE FROM notifications WHERE name = ?', encodeText(name)) > 0;
}

export function insertDeliveries(
  database: Database,
  [deliveries]: OperationArguments<'insertDeliveries'>,
): void {
  for (const delivery of deliveries) {
    const name = encodeText(delivery.notification);
    if (database.get('SELECT 1 FROM notifications WHERE name = ?', name) === null) continue;
    insertDelivery(database, delivery);
  }
}

export function insertDelivery(database: Database, delivery: DeliveryRecord): void {
  database.run(
    `INSERT OR IGNORE INTO deliveries (${SUMMARY}, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    encodeText(delivery.id),
    encodeText(delivery.notification),
    encodeOptional(delivery.workflowId),
    encodeText(delivery.type),
    delivery.createdAt,
    delivery.state,
    delivery.attempts,
    delivery.dueAt,
    delivery.since,
    delivery.endedAt,
    encodeOptional(delivery.answer),
    encodeText(delivery.body),
  );
}

export function claimDeliveries(
  database: Database,
  [{ limit, notification, now, until }]: OperationArguments<'claimDeliveries'>,
): readonly DeliveryRecord[] {
  const due = database.all(
    `SELECT id FROM deliveries INDEXED BY deliveries_due
      WHERE notification = ? AND state = 'waiting' AND dueAt <= ? ORDER BY dueAt, id LIMIT ?`,
    encodeText(notification),
    now,
    limit,
  );
  const claimed: DeliveryRecord[] = [];
  for (const row of due) {
    const id = row.text('id');
    database.run(
      'UPDATE deliveries SET attempts = attempts + 1, dueAt = ? WHERE id = ?',
      until,
      encodeText(id),
    );
    const record = getDelivery(database, [id]);
    if (record !== null) claimed.push(record);
  }
  return claimed;
}

export function saveDelivery(
  database: Database,
  [{ answer, attempts, dueAt, endedAt, id, state }]: OperationArguments<'saveDelivery'>,
): boolean {
  const changed = database.run(
    `UPDATE deliveries SET state = ?, dueAt = ?, endedAt = ?, answer = ?
      WHERE id = ? AND attempts = ? AND state = 'waiting'`,
    state,
    dueAt,
    endedAt,
    encodeOptional(answer),
    encodeText(id),
    attempts,
  );
  return changed > 0;
}

export function redeliver(
  database: Database,
  [notification, id, at]: OperationArguments<'redeliver'>,
): DeliverySummary | null {
  const changed = database.run(
    `UPDATE deliveries SET state = 'waiting', dueAt = ?, since = ?, endedAt = NULL
      WHERE id = ? AND notification = ?`,
    at,
    at,
    encodeText(id),
    encodeText(notification),
  );
  if (changed === 0) return null;
  const row = database.get(`SELECT ${SUMMARY} FROM deliveries WHERE id = ?`, encodeText(id));
  return row === null ? null : summaryOf(row);
}

export function getDelivery(
  database: Database,
  [id]: OperationArguments<'getDelivery'>,
): DeliveryRecord | null {
  const row = database.get('SELECT * FROM deliveries WHERE id = ?', encodeText(id));
  return row === null ? null : deliveryOf(row);
}

export function listDeliveries(
  database: Database,
  [{ notification, state }, after, limit]: OperationArguments<'listDeliveries'>,
): readonly DeliverySummary[] {
  const isOfState = state === undefined ? '' : 'AND state = ?';
  const isBeyond = after === null ? '' : 'AND (createdAt, id) < (?, ?)';
  return database
    .all(
      `SELECT ${SUMMARY} FROM deliveries WHERE notification = ? ${isOfState} ${isBeyond}
        ORDER BY createdAt DESC, id DESC LIMIT ?`,
      encodeText(notification),
      ...(state === undefined ? [] : [state]),
      ...(after === null ? [] : [after.time, encodeText(after.id)]),
      limit,
    )
    .map(summaryOf);
}

export function removeDeliveries(
  database: Database,
  [notification, limit]: OperationArguments<'removeDeliveries'>,
): number {
  return database.run(
    `DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE notification = ? LIMIT ?)`,
    encodeText(notification),
    limit,
  );
}

export function purgeDeliveries(
  database: Database,
  [endedBefore, limit]: OperationArguments<'purgeDeliveries'>,
): number {
  return database.run(
    `DELETE FROM deliveries WHERE id IN (
       SELECT id FROM deliveries WHERE endedAt < ? ORDER BY endedAt, id LIMIT ?)`,
    endedBefore,
    limit,
  );
}

export function notificationOf(row: Row): NotificationRecord {
  return {
    name: row.text('name'),
    settings: row.text('settings'),
    paused: row.textOrNull('paused'),
  };
}

export function deliveryOf(row: Row): DeliveryRecord {
  return { ...summaryOf(row), body: row.text('body') };
}

function summaryOf(row: Row): DeliverySummary {
  return {
    id: row.text('id'),
    notification: row.text('notification'),
    workflowId: row.textOrNull('workflowId'),
    type: row.text('type'),
    createdAt: row.number('createdAt'),
    // Only these are written.
    state: row.text('state') as DeliveryState,
    attempts: row.number('attempts'),
    dueAt: row.number('dueAt'),
    since: row.number('since'),
    endedAt: row.numberOrNull('endedAt'),
    answer: row.textOrNull('answer'),
  };
}
