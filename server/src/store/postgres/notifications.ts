/** Notifications and their deliveries. */
import type { OperationArguments } from '../store-operations.js';
import type {
  DeliveryRecord,
  DeliveryState,
  DeliverySummary,
  NotificationRecord,
} from '../records/notifications.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { encodeOptional } from './instance-rows.js';
import { type Columns, inLockOrder, Parameters } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';

const SUMMARY =
  'id, notification, workflow_id, type, created_at, state, attempts, due_at, since, ended_at, answer';

const IS_KNOWN =
  'EXISTS (SELECT FROM @notifications WHERE name = delivery.notification COLLATE "C")';
const ONCE = 'ON CONFLICT (id) DO NOTHING';

export const NOTIFICATION_COLUMNS: Columns<NotificationRecord> = {
  name: ['text', ({ name }) => encodeTextWithoutNul(name)],
  settings: ['text', ({ settings }) => encodeTextWithoutNul(settings)],
  paused: ['text', ({ paused }) => encodeOptional(paused)],
};

export const DELIVERY_COLUMNS: Columns<DeliveryRecord> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  notification: ['text', ({ notification }) => encodeTextWithoutNul(notification)],
  workflow_id: ['text', ({ workflowId }) => encodeOptional(workflowId)],
  type: ['text', ({ type }) => encodeTextWithoutNul(type)],
  created_at: ['bigint', ({ createdAt }) => createdAt],
  state: ['text', ({ state }) => state],
  attempts: ['bigint', ({ attempts }) => attempts],
  due_at: ['bigint', ({ dueAt }) => dueAt],
  since: ['bigint', ({ since }) => since],
  ended_at: ['bigint', ({ endedAt }) => endedAt],
  answer: ['text', ({ answer }) => encodeOptional(answer)],
  body: ['text', ({ body }) => encodeTextWithoutNul(body)],
};

export async function putNotification(
  { database }: PostgresContext,
  [{ name, paused, settings }]: OperationArguments<'putNotification'>,
): Promise<void> {
  await database.execute(
    `INSERT INTO @notifications (name, paused, settings) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET paused = excluded.paused, settings = excluded.settings`,
    [encodeTextWithoutNul(name), encodeOptional(paused), encodeTextWithoutNul(settings)],
  );
}

export async function listNotifications(
  { database }: PostgresContext,
  [limit]: OperationArguments<'listNotifications'>,
): Promise<readonly NotificationRecord[]> {
  const rows = await database.query('SELECT * FROM @notifications ORDER BY name LIMIT $1::bigint', [
    limit,
  ]);
  return rows.map(notificationOf);
}

export async function pauseNotification(
  { database }: PostgresContext,
  [name, paused]: OperationArguments<'pauseNotification'>,
): Promise<boolean> {
  const rows = await database.query(
    'UPDATE @notifications SET paused = $2 WHERE name = $1 RETURNING name',
    [encodeTextWithoutNul(name), encodeOptional(paused)],
  );
  return rows.length > 0;
}

export async function removeNotification(
  { database }: PostgresContext,
  [name]: OperationArguments<'removeNotification'>,
): Promise<boolean> {
  const rows = await database.query('DELETE FROM @notifications WHERE name = $1 RETURNING name', [
    encodeTextWithoutNul(name),
  ]);
  return rows.length > 0;
}

export async function insertDeliveries(
  { database }: PostgresContext,
  [deliveries]: OperationArguments<'insertDeliveries'>,
): Promise<void> {
  const parameters = new Parameters();
  const names = Object.keys(DELIVERY_COLUMNS).join(', ');
  const rows = parameters.rows('delivery', inLockOrder(deliveries), DELIVERY_COLUMNS);
  await database.execute(
    `INSERT INTO @deliveries (${names}) SELECT ${names} FROM ${rows} WHERE ${IS_KNOWN} ${ONCE}`,
    parameters.values,
  );
}

/** The instance with which deliveries are stored, and these. */
interface WithDeliveries {
  readonly id: string;
  readonly deliveries?: readonly DeliveryRecord[];
}

type OwnedDelivery = readonly [writtenWith: string, delivery: DeliveryRecord];

const OWNED_COLUMNS: Columns<OwnedDelivery> = {
  written_with: ['text', ([id]) => encodeTextWithoutNul(id)],
  ...Object.fromEntries(
    Object.entries(DELIVERY_COLUMNS).map(([name, [type, cellOf]]) => [
      name,
      [type, ([, delivery]: OwnedDelivery) => cellOf(delivery)] as const,
    ]),
  ),
};

/** The part of a statement that stores the deliveries of the instances that it has written: `source` has their ids. */
export function insertDeliveriesParts(
  parameters: Parameters,
  source: string,
  written: readonly WithDeliveries[],
): readonly string[] {
  const owned = written.flatMap(({ deliveries = [], id }) =>
    deliveries.map((delivery): OwnedDelivery => [id, delivery]),
  );
  if (owned.length === 0) return [];
  const names = Object.keys(DELIVERY_COLUMNS);
  const values = names.map((name) => `delivery.${name}`);
  const rows = parameters.oneOrRows('delivery', owned, OWNED_COLUMNS);
  return [
    `new_deliveries AS (
  INSERT INTO @deliveries (${names.join(', ')})
  SELECT ${values.join(', ')} FROM ${rows} JOIN ${source} AS written ON written.id = delivery.written_with
   WHERE ${IS_KNOWN} ORDER BY delivery.id COLLATE "C" ${ONCE}
)`,
  ];
}

/** The approximate number of characters that deliveries add to a statement. */
export function lengthOfDeliveries(deliveries: readonly DeliveryRecord[] = []): number {
  return deliveries.reduce((sum, { body }) => sum + body.length, 0);
}

export async function claimDeliveries(
  { database }: PostgresContext,
  [{ limit, notification, now, until }]: OperationArguments<'claimDeliveries'>,
): Promise<readonly DeliveryRecord[]> {
  const rows = await database.query(
    `UPDATE @deliveries SET attempts = attempts + 1, due_at = $3::bigint WHERE id = ANY (ARRAY(
       SELECT id FROM @deliveries WHERE notification = $1 AND state = 'waiting' AND due_at <= $2::bigint
        ORDER BY due_at, id LIMIT $4::bigint FOR UPDATE SKIP LOCKED)) RETURNING *`,
    [encodeTextWithoutNul(notification), now, until, limit],
  );
  return rows.map(deliveryOf);
}

export async function saveDelivery(
  { database }: PostgresContext,
  [{ answer, attempts, dueAt, endedAt, id, state }]: OperationArguments<'saveDelivery'>,
): Promise<boolean> {
  const rows = await database.query(
    `UPDATE @deliveries SET state = $3, due_at = $4::bigint, ended_at = $5::bigint, answer = $6
      WHERE id = $1 AND attempts = $2::bigint AND state = 'waiting' RETURNING id`,
    [encodeTextWithoutNul(id), attempts, state, dueAt, endedAt, encodeOptional(answer)],
  );
  return rows.length > 0;
}

export async function redeliver(
  { database }: PostgresContext,
  [notification, id, at]: OperationArguments<'redeliver'>,
): Promise<DeliverySummary | null> {
  const [row] = await database.query(
    `UPDATE @deliveries SET state = 'waiting', due_at = $3::bigint, since = $3::bigint, ended_at = NULL
      WHERE id = $2 AND notification = $1 RETURNING ${SUMMARY}`,
    [encodeTextWithoutNul(notification), encodeTextWithoutNul(id), at],
  );
  return row === undefined ? null : summaryOf(row);
}

export async function getDelivery(
  { database }: PostgresContext,
  [id]: OperationArguments<'getDelivery'>,
): Promise<DeliveryRecord | null> {
  const [row] = await database.query('SELECT * FROM @deliveries WHERE id = $1', [
    encodeTextWithoutNul(id),
  ]);
  return row === undefined ? null : deliveryOf(row);
}

export async function listDeliveries(
  { database }: PostgresContext,
  [{ notification, state }, after, limit]: OperationArguments<'listDeliveries'>,
): Promise<readonly DeliverySummary[]> {
  const parameters = new Parameters();
  const of = parameters.add(encodeTextWithoutNul(notification));
  const isOfState = state === undefined ? '' : `AND state = ${parameters.add(state)}`;
  const isBeyond =
    after === null
      ? ''
      : `AND (created_at, id) < (${parameters.add(after.time)}::bigint, ${parameters.add(encodeTextWithoutNul(after.id))})`;
  const rows = await database.query(
    `SELECT ${SUMMARY} FROM @deliveries WHERE notification = ${of} ${isOfState} ${isBeyond}
      ORDER BY created_at DESC, id DESC LIMIT ${parameters.add(limit)}::bigint`,
    parameters.values,
  );
  return rows.map(summaryOf);
}

export async function removeDeliveries(
  { database }: PostgresContext,
  [notification, limit]: OperationArguments<'removeDeliveries'>,
): Promise<number> {
  const rows = await database.query(
    `DELETE FROM @deliveries WHERE id = ANY (ARRAY(
       SELECT id FROM @deliveries WHERE notification = $1 LIMIT $2::bigint FOR UPDATE SKIP LOCKED))
     RETURNING id`,
    [encodeTextWithoutNul(notification), limit],
  );
  return rows.length;
}

export async function purgeDeliveries(
  { database }: PostgresContext,
  [endedBefore, limit]: OperationArguments<'purgeDeliveries'>,
): Promise<number> {
  const rows = await database.query(
    `DELETE FROM @deliveries WHERE id = ANY (ARRAY(
       SELECT id FROM @deliveries WHERE ended_at < $1::bigint ORDER BY ended_at, id LIMIT $2::bigint
          FOR UPDATE SKIP LOCKED)) RETURNING id`,
    [endedBefore, limit],
  );
  return rows.length;
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
    workflowId: row.textOrNull('workflow_id'),
    type: row.text('type'),
    createdAt: row.number('created_at'),
    // Only these are written.
    state: row.text('state') as DeliveryState,
    attempts: row.number('attempts'),
    dueAt: row.number('due_at'),
    since: row.number('since'),
    endedAt: row.numberOrNull('ended_at'),
    answer: row.textOrNull('answer'),
  };
}
