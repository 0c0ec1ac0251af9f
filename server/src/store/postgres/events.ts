/** Published events, and the subscriptions to them. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import {
  LISTED_DATA_LENGTH_MAX,
  LONG_EVENT_LENGTH,
  type EventDelivery,
  type EventListItem,
  type EventRecord,
  type FoundEvent,
  type SubscriptionRecord,
} from '../records/events.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { type Columns, inLockOrder, Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';

/** PostgreSQL knows the length in bytes without reading a long text. */
const FOUND_COLUMNS = `id, name_key, name, key, published_at, delivered_to, request_hash,
  CASE WHEN octet_length(data) > ${LONG_EVENT_LENGTH} THEN NULL ELSE data END AS data`;

/** No character takes more than four bytes. The exact length is compared afterwards. */
const LISTED_COLUMNS = `id, name, key, published_at, delivered_to, taken_by,
  CASE WHEN octet_length(data) > ${LISTED_DATA_LENGTH_MAX * 4} THEN NULL ELSE data END AS data`;

export async function getEvent(
  { database }: PostgresContext,
  [id]: OperationArguments<'getEvent'>,
): Promise<EventRecord | null> {
  const [row] = await database.query('SELECT * FROM @events WHERE id = $1', [
    encodeTextWithoutNul(id),
  ]);
  return row === undefined ? null : eventOf(row);
}

export function eventOf(row: Row): EventRecord {
  return { ...foundOf(row), data: row.text('data') };
}

export async function findEvents(
  { database }: PostgresContext,
  [nameKey, from, limit]: OperationArguments<'findEvents'>,
): Promise<readonly FoundEvent[]> {
  const rows = await database.query(
    `SELECT ${FOUND_COLUMNS} FROM @events
      WHERE name_key = $1 AND (published_at, id) >= ($2::bigint, $3) ORDER BY published_at, id LIMIT $4::bigint`,
    [encodeTextWithoutNul(nameKey), from.publishedAt, encodeTextWithoutNul(from.id), limit],
  );
  return rows.map(foundOf);
}

export async function listEvents(
  { database }: PostgresContext,
  [{ nameKey, before, limit }]: OperationArguments<'listEvents'>,
): Promise<readonly EventListItem[]> {
  const position = [
    before?.publishedAt ?? Number.MAX_SAFE_INTEGER,
    encodeTextWithoutNul(before?.id ?? ''),
    limit,
  ];
  const page = (condition: string): string =>
    `SELECT ${LISTED_COLUMNS} FROM @events WHERE ${condition} AND (published_at, id) < ($1::bigint, $2)
      ORDER BY published_at DESC, id DESC LIMIT $3::bigint`;
  const rows =
    nameKey === null
      ? // Each half has an index in this order. An index over all events would slow down every publication.
        await database.query(
          `SELECT * FROM (${page('delivered_to IS NULL')}) AS undelivered
           UNION ALL SELECT * FROM (${page('delivered_to IS NOT NULL')}) AS delivered
            ORDER BY published_at DESC, id DESC LIMIT $3::bigint`,
          position,
        )
      : await database.query(page('name_key = $4'), [...position, encodeTextWithoutNul(nameKey)]);
  return rows.map(eventListItemOf);
}

export async function findSubscriptions(
  { database }: PostgresContext,
  [nameKey, publishedAt, afterId, limit]: OperationArguments<'findSubscriptions'>,
): Promise<readonly SubscriptionRecord[]> {
  const rows = await database.query(
    `SELECT id, instance_id, name_key, effective_at FROM @subscriptions
      WHERE name_key = $1 AND effective_at <= $2::bigint AND id ${afterId === null ? '>=' : '>'} $3
      ORDER BY id LIMIT $4::bigint`,
    [encodeTextWithoutNul(nameKey), publishedAt, encodeTextWithoutNul(afterId ?? ''), limit],
  );
  return rows.map(subscriptionOf);
}

export function subscriptionOf(row: Row): SubscriptionRecord {
  return {
    id: row.text('id'),
    instanceId: row.text('instance_id'),
    nameKey: row.text('name_key'),
    effectiveAt: row.number('effective_at'),
  };
}

const DELIVERIES: Columns<EventDelivery> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  delivered_to: ['bigint', ({ deliveredTo }) => deliveredTo],
  is_confirmed: ['boolean', ({ isConfirmed }) => isConfirmed],
};
const TAKERS: Columns<readonly [eventId: string, instanceId: string, position: number]> = {
  event_id: ['text', ([eventId]) => encodeTextWithoutNul(eventId)],
  instance_id: ['text', ([, instanceId]) => encodeTextWithoutNul(instanceId)],
  position: ['bigint', ([, , position]) => position],
};

/** The statement sees every subscription whose instance may not have seen the event: it begins after the event is stored. */
export async function markEventsDelivered(
  { database }: PostgresContext,
  [deliveries]: OperationArguments<'markEventsDelivered'>,
): Promise<OperationResult<'markEventsDelivered'>> {
  const parameters = new Parameters();
  const given = parameters.oneOrRows('g', inLockOrder(deliveries), DELIVERIES);
  const takers = deliveries.flatMap(({ id, takenBy }) =>
    takenBy.map((instanceId, position) => [id, instanceId, position] as const),
  );
  const text = withParts(
    [
      `taken AS (
  SELECT event_id, array_agg(instance_id ORDER BY position) AS ids
    FROM ${parameters.oneOrRows('t', takers, TAKERS)} GROUP BY event_id
)`,
      `wanted AS (
  SELECT g.id, g.delivered_to, coalesce(t.ids, '{}') AS taken_by, NOT g.is_confirmed AND EXISTS (
      SELECT FROM @subscriptions AS s
       WHERE s.name_key = e.name_key AND s.effective_at <= e.published_at
         AND s.instance_id <> ALL(coalesce(t.ids, '{}'))
    ) AS has_missed_some
    FROM ${given} JOIN @events AS e ON e.id = g.id LEFT JOIN taken AS t ON t.event_id = g.id
   WHERE e.delivered_to IS NULL OR e.delivered_to < g.delivered_to
)`,
      `marked AS (
  UPDATE @events AS e SET delivered_to = w.delivered_to, taken_by = w.taken_by
    FROM wanted AS w
   WHERE e.id = w.id AND NOT w.has_missed_some AND (e.delivered_to IS NULL OR e.delivered_to < w.delivered_to)
)`,
    ],
    'SELECT id FROM wanted WHERE has_missed_some',
  );
  const missing = await database.query(text, parameters.values);
  return missing.map((row) => row.text('id'));
}

export async function findUndeliveredEvents(
  { database }: PostgresContext,
  [publishedBefore, limit]: OperationArguments<'findUndeliveredEvents'>,
): Promise<readonly FoundEvent[]> {
  const rows = await database.query(
    `SELECT ${FOUND_COLUMNS} FROM @events WHERE delivered_to IS NULL AND published_at < $1::bigint
      ORDER BY published_at, id LIMIT $2::bigint`,
    [publishedBefore, limit],
  );
  return rows.map(foundOf);
}

function eventListItemOf(row: Row): EventListItem {
  const data = row.textOrNull('data');
  return {
    id: row.text('id'),
    name: row.text('name'),
    key: row.text('key'),
    data: data === null || data.length > LISTED_DATA_LENGTH_MAX ? null : data,
    publishedAt: row.number('published_at'),
    deliveredTo: row.numberOrNull('delivered_to'),
    takenBy: row.texts('taken_by'),
  };
}

function foundOf(row: Row): FoundEvent {
  return {
    id: row.text('id'),
    nameKey: row.text('name_key'),
    name: row.text('name'),
    key: row.text('key'),
    data: row.textOrNull('data'),
    publishedAt: row.number('published_at'),
    deliveredTo: row.numberOrNull('delivered_to'),
    requestHash: row.textOrNull('request_hash'),
  };
}
