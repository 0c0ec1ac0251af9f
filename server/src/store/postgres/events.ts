/** Published events, and the subscriptions to them. */
import type { OperationArguments, OperationResult } from '../operations.js';
import {
  LISTED_DATA_LENGTH_MAX,
  LONG_EVENT_LENGTH,
  type EventListItem,
  type EventRecord,
  type FoundEvent,
  type SubscriptionRecord,
} from '../records/events.js';
import { encodeTextWithoutNul } from '../text-codec.js';
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

export async function markEventDelivered(
  { database }: PostgresContext,
  [id, deliveredTo, takenBy]: OperationArguments<'markEventDelivered'>,
): Promise<OperationResult<'markEventDelivered'>> {
  await database.execute(
    'UPDATE @events SET delivered_to = $2, taken_by = $3::text[] WHERE id = $1',
    [encodeTextWithoutNul(id), deliveredTo, takenBy.map(encodeTextWithoutNul)],
  );
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
