/** Deliveries: inserts and claims. They differ from PostgreSQL, where several nodes write at the same time. */
import type { OperationArguments } from '../../store-operations.js';
import type { DeliveryRecord } from '../../records/notifications.js';
import { DELIVERY_COLUMNS, deliveryOf } from '../../sql/notifications.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { insert } from '../../sql/statements.js';
import { runSteps } from '../shared-operations.js';

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
  runSteps(
    database,
    insert('deliveries', DELIVERY_COLUMNS, delivery, 'ON CONFLICT (id) DO NOTHING'),
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
    const [record] = database.all('SELECT * FROM deliveries WHERE id = ?', encodeText(id));
    if (record !== undefined) claimed.push(deliveryOf(record));
  }
  return claimed;
}
