/** Published events, and the subscriptions to them. */
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import {
  EVENT_TAKERS_MAX,
  LISTED_DATA_LENGTH_MAX,
  LONG_EVENT_LENGTH,
  type EventDelivery,
  type EventListItem,
  type EventRecord,
  type FoundEvent,
  type InsertEventResult,
  type SubscriptionRecord,
} from '../../records/events.js';
import type { InboxMessage, PostedMessage } from '../../records/messages.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import type { Row } from '../row.js';
import { postMessage } from './messages.js';

/** Maximum number of subscriptions that are served together with the insert of their event. */
const SUBSCRIPTIONS_MAX = 500;

/**
 * An instance that subscribes later finds the event, because transactions run one after another. So an event that was
 * posted to all subscriptions is delivered.
 */
export function insertEvent(
  database: Database,
  [event, message]: OperationArguments<'insertEvent'>,
): InsertEventResult {
  const known = getEvent(database, [event.id]);
  if (known !== null) return { outcome: 'exists', event: known };
  const delivery = message === undefined ? null : deliver(database, event, message);
  const isDelivered = delivery?.isToAll === true;
  const posted = delivery?.posted ?? [];
  const takers = posted.slice(0, EVENT_TAKERS_MAX).map(({ instanceId }) => instanceId);
  database.run(
    `INSERT INTO events (id, nameKey, name, key, publishedAt, deliveredTo, takenBy, requestHash, data)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    encodeText(event.id),
    encodeText(event.nameKey),
    encodeText(event.name),
    encodeText(event.key),
    event.publishedAt,
    isDelivered ? posted.length : event.deliveredTo,
    isDelivered ? JSON.stringify(takers) : null,
    encodeOptional(event.requestHash),
    encodeText(event.data),
  );
  return { outcome: 'inserted', posted, delivery: isDelivered ? 'complete' : 'partial' };
}

function deliver(
  database: Database,
  { nameKey, publishedAt }: EventRecord,
  message: InboxMessage,
): { readonly posted: readonly PostedMessage[]; readonly isToAll: boolean } {
  const found = database.all(
    'SELECT instanceId FROM subscriptions WHERE nameKey = ? AND effectiveAt <= ? ORDER BY id LIMIT ?',
    encodeText(nameKey),
    publishedAt,
    SUBSCRIPTIONS_MAX,
  );
  const posted = [...new Set(found.map((row) => row.text('instanceId')))]
    .map((instanceId) => postMessage(database, { instanceId, message }))
    .filter((answer) => answer !== null);
  return { posted, isToAll: found.length < SUBSCRIPTIONS_MAX };
}

/** Whether no stored event is for one of the subscriptions, which the same transaction inserts. */
export function hasNoEvents(
  database: Database,
  subscriptions: readonly SubscriptionRecord[],
): boolean {
  return subscriptions.every(
    ({ effectiveAt, nameKey }) =>
      database.get(
        'SELECT 1 AS found FROM events WHERE nameKey = ? AND publishedAt >= ? LIMIT 1',
        encodeText(nameKey),
        effectiveAt,
      ) === null,
  );
}

export function getEvent(
  database: Database,
  [id]: OperationArguments<'getEvent'>,
): EventRecord | null {
  const row = database.get('SELECT * FROM events WHERE id = ?', encodeText(id));
  return row === null ? null : eventOf(row);
}

// `octet_length` reads the header of a row; `length` would read all pages of a long value.
const FOUND_COLUMNS = `id, nameKey, name, key, publishedAt, deliveredTo, requestHash,
  CASE WHEN octet_length(data) > ${LONG_EVENT_LENGTH} THEN NULL ELSE data END AS data`;

export function findEvents(
  database: Database,
  [nameKey, from, limit]: OperationArguments<'findEvents'>,
): readonly FoundEvent[] {
  return database
    .all(
      `SELECT ${FOUND_COLUMNS} FROM events WHERE nameKey = ? AND (publishedAt, id) >= (?, ?) ORDER BY publishedAt, id LIMIT ?`,
      encodeText(nameKey),
      from.publishedAt,
      encodeText(from.id),
      limit,
    )
    .map(foundOf);
}

/** Short data is read, and then measured exactly. JSON is stored as it is: each UTF-16 code unit takes at most three bytes. */
const LISTED_COLUMNS = `id, name, key, publishedAt, deliveredTo, takenBy,
  CASE WHEN octet_length(data) > ${LISTED_DATA_LENGTH_MAX * 3} THEN NULL ELSE data END AS data`;

export function listEvents(
  database: Database,
  [{ nameKey, before, limit }]: OperationArguments<'listEvents'>,
): readonly EventListItem[] {
  const publishedAt = before?.publishedAt ?? Number.MAX_SAFE_INTEGER;
  const id = encodeText(before?.id ?? '');
  if (nameKey !== null) {
    return database
      .all(
        `SELECT ${LISTED_COLUMNS} FROM events WHERE nameKey = ? AND (publishedAt, id) < (?, ?)
          ORDER BY publishedAt DESC, id DESC LIMIT ?`,
        encodeText(nameKey),
        publishedAt,
        id,
        limit,
      )
      .map(eventListItemOf);
  }
  // Each half has an index in this order; one index over all events would slow down every publication.
  const half = (condition: string): string => `SELECT * FROM (
    SELECT ${LISTED_COLUMNS} FROM events WHERE ${condition} AND (publishedAt, id) < (?, ?)
     ORDER BY publishedAt DESC, id DESC LIMIT ?)`;
  return database
    .all(
      `${half('deliveredTo IS NULL')} UNION ALL ${half('deliveredTo IS NOT NULL')}
        ORDER BY publishedAt DESC, id DESC LIMIT ?`,
      publishedAt,
      id,
      limit,
      publishedAt,
      id,
      limit,
      limit,
    )
    .map(eventListItemOf);
}

export function findSubscriptions(
  database: Database,
  [nameKey, publishedAt, afterId, limit]: OperationArguments<'findSubscriptions'>,
): readonly SubscriptionRecord[] {
  return database
    .all(
      `SELECT * FROM subscriptions INDEXED BY subscriptions_name
        WHERE nameKey = ? AND id ${afterId === null ? '>=' : '>'} ? AND effectiveAt <= ? ORDER BY id LIMIT ?`,
      encodeText(nameKey),
      encodeText(afterId ?? ''),
      publishedAt,
      limit,
    )
    .map((row) => ({
      id: row.text('id'),
      instanceId: row.text('instanceId'),
      nameKey: row.text('nameKey'),
      effectiveAt: row.number('effectiveAt'),
    }));
}

export function markEventsDelivered(
  database: Database,
  [deliveries]: OperationArguments<'markEventsDelivered'>,
): OperationResult<'markEventsDelivered'> {
  const missing = deliveries.filter((delivery) => hasMissedSome(database, delivery));
  for (const delivery of deliveries) {
    if (missing.includes(delivery)) continue;
    const { deliveredTo, id, takenBy } = delivery;
    database.run(
      'UPDATE events SET deliveredTo = ?, takenBy = ? WHERE id = ? AND (deliveredTo IS NULL OR deliveredTo < ?)',
      deliveredTo,
      JSON.stringify(takenBy),
      encodeText(id),
      deliveredTo,
    );
  }
  return missing.map(({ id }) => id);
}

/** Whether an instance that subscribed at the moment of the insert has not received the event. */
function hasMissedSome(
  database: Database,
  { deliveredTo, id, isConfirmed, takenBy }: EventDelivery,
): boolean {
  if (isConfirmed) return false;
  const missed = database.get(
    `SELECT 1 AS missed FROM events AS e JOIN subscriptions AS s ON s.nameKey = e.nameKey AND s.effectiveAt <= e.publishedAt
      WHERE e.id = ? AND (e.deliveredTo IS NULL OR e.deliveredTo < ?)
        AND s.instanceId NOT IN (${takenBy.map(() => '?').join(', ')}) LIMIT 1`,
    encodeText(id),
    deliveredTo,
    ...takenBy.map(encodeText),
  );
  return missed !== null;
}

export function findUndeliveredEvents(
  database: Database,
  [publishedBefore, limit]: OperationArguments<'findUndeliveredEvents'>,
): readonly FoundEvent[] {
  return database
    .all(
      `SELECT ${FOUND_COLUMNS} FROM events WHERE deliveredTo IS NULL AND publishedAt < ? ORDER BY publishedAt, id LIMIT ?`,
      publishedBefore,
      limit,
    )
    .map(foundOf);
}

function eventListItemOf(row: Row): EventListItem {
  const data = row.textOrNull('data');
  return {
    id: row.text('id'),
    name: row.text('name'),
    key: row.text('key'),
    data: data === null || data.length > LISTED_DATA_LENGTH_MAX ? null : data,
    publishedAt: row.number('publishedAt'),
    deliveredTo: row.numberOrNull('deliveredTo'),
    takenBy: takenByOf(row),
  };
}

export function takenByOf(row: Row): readonly string[] {
  const takenBy = row.textOrNull('takenBy');
  return takenBy === null ? [] : (JSON.parse(takenBy) as string[]); // Written by `markEventsDelivered`.
}

export function eventOf(row: Row): EventRecord {
  return { ...foundOf(row), data: row.text('data') };
}

function foundOf(row: Row): FoundEvent {
  return {
    id: row.text('id'),
    nameKey: row.text('nameKey'),
    name: row.text('name'),
    key: row.text('key'),
    data: row.textOrNull('data'),
    publishedAt: row.number('publishedAt'),
    deliveredTo: row.numberOrNull('deliveredTo'),
    requestHash: row.textOrNull('requestHash'),
  };
}
