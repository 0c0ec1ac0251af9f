/** Published events, and the subscriptions to them. */
import type { OperationArguments } from '../store-operations.js';
import {
  LISTED_DATA_LENGTH_MAX,
  LONG_EVENT_LENGTH,
  type EventListItem,
  type EventRecord,
  type FoundEvent,
  type SubscriptionRecord,
} from '../records/events.js';
import { columnsOf, namesOf, readRecord, type RecordColumns } from './columns.js';

import { FAR_FUTURE_MS } from '../store.js';
import { select, selectOne, type SqlOperations, type SqlSteps } from './statements.js';
import type { StoredRow } from './stored-row.js';

const FOUND: RecordColumns<FoundEvent> = {
  id: 'text',
  nameKey: 'text',
  name: 'text',
  key: 'text',
  publishedAt: 'number',
  deliveredTo: 'number?',
  requestHash: 'text?',
  data: 'text?',
};

const EVENT: RecordColumns<EventRecord> = { ...FOUND, data: 'text' };

const LISTED: RecordColumns<Omit<EventListItem, 'takenBy'>> = {
  id: 'text',
  name: 'text',
  key: 'text',
  publishedAt: 'number',
  deliveredTo: 'number?',
  data: 'text?',
};

const SUBSCRIPTION: RecordColumns<SubscriptionRecord> = {
  id: 'text',
  instanceId: 'text',
  nameKey: 'text',
  effectiveAt: 'number',
};

export const EVENT_COLUMNS = columnsOf(EVENT);
export const SUBSCRIPTION_COLUMNS = columnsOf(SUBSCRIPTION);

/** Both databases know the length in bytes without reading a long text. */
const shortData = (bytesMax: number): string =>
  `CASE WHEN octet_length(data) > ${bytesMax} THEN NULL ELSE data END AS data`;

const FOUND_NAMES = `id, nameKey, name, key, publishedAt, deliveredTo, requestHash, ${shortData(LONG_EVENT_LENGTH)}`;

/** No UTF-16 code unit takes more than three bytes. The exact length is compared afterwards. */
const LISTED_NAMES = `id, name, key, publishedAt, deliveredTo, takenBy, ${shortData(LISTED_DATA_LENGTH_MAX * 3)}`;

export const EVENT_OPERATIONS = {
  *getEvent([id]) {
    const row = yield* selectOne('SELECT * FROM @events WHERE id = ?', id);
    return row === null ? null : eventOf(row);
  },

  *findEvents([nameKey, from, limit]) {
    const rows = yield* select(
      `SELECT ${FOUND_NAMES} FROM @events WHERE nameKey = ? AND (publishedAt, id) >= (?, ?)
        ORDER BY publishedAt, id LIMIT ?`,
      nameKey,
      from.publishedAt,
      from.id,
      limit,
    );
    return rows.map(foundOf);
  },

  *listEvents([{ nameKey, before, limit }]) {
    const position = [before?.publishedAt ?? Number.MAX_SAFE_INTEGER, before?.id ?? '', limit];
    const page = (condition: string): string =>
      `SELECT ${LISTED_NAMES} FROM @events WHERE ${condition} AND (publishedAt, id) < (?, ?)
        ORDER BY publishedAt DESC, id DESC LIMIT ?`;
    const rows =
      nameKey === null
        ? // Each half has an index in this order. An index over all events would slow down every publication.
          yield* select(
            `SELECT * FROM (${page('deliveredTo IS NULL')}) AS undelivered
             UNION ALL SELECT * FROM (${page('deliveredTo IS NOT NULL')}) AS delivered
              ORDER BY publishedAt DESC, id DESC LIMIT ?`,
            ...position,
            ...position,
            limit,
          )
        : yield* select(page('nameKey = ?'), nameKey, ...position);
    return rows.map(listItemOf);
  },

  findSubscriptions,

  *listSubscriptions([nameKey, afterId, limit]) {
    return yield* findSubscriptions([nameKey, FAR_FUTURE_MS, afterId, limit]);
  },

  *findUndeliveredEvents([publishedBefore, limit]) {
    const text = `SELECT ${FOUND_NAMES} FROM @events WHERE deliveredTo IS NULL AND publishedAt < ?
                   ORDER BY publishedAt, id LIMIT ?`;
    return (yield* select(text, publishedBefore, limit)).map(foundOf);
  },
} satisfies SqlOperations;

function* findSubscriptions([
  nameKey,
  publishedAt,
  afterId,
  limit,
]: OperationArguments<'findSubscriptions'>): SqlSteps<readonly SubscriptionRecord[]> {
  const rows = yield* select(
    `SELECT ${namesOf(SUBSCRIPTION)} FROM @subscriptions INDEXED BY subscriptions_name
      WHERE nameKey = ? AND id ${afterId === null ? '>=' : '>'} ? AND effectiveAt <= ? ORDER BY id LIMIT ?`,
    nameKey,
    afterId ?? '',
    publishedAt,
    limit,
  );
  return rows.map(subscriptionOf);
}

export function eventOf(row: StoredRow): EventRecord {
  return readRecord(row, EVENT);
}

export function subscriptionOf(row: StoredRow): SubscriptionRecord {
  return readRecord(row, SUBSCRIPTION);
}

function foundOf(row: StoredRow): FoundEvent {
  return readRecord(row, FOUND);
}

function listItemOf(row: StoredRow): EventListItem {
  const item = readRecord(row, LISTED);
  const isLong = item.data !== null && item.data.length > LISTED_DATA_LENGTH_MAX;
  return { ...item, data: isLong ? null : item.data, takenBy: row.texts('takenBy') };
}
