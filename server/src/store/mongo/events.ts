/** Published events, and the subscriptions to them. */
import type { InsertEventResult } from '../records/posted-messages.js';
import type { AnyBulkWriteOperation, Filter } from 'mongodb';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import {
  LISTED_DATA_LENGTH_MAX,
  type EventDelivery,
  type EventListItem,
  type EventRecord,
  type FoundEvent,
  type SubscriptionRecord,
} from '../records/events.js';
import { decodeText, encodeOptional, encodeText } from '../text-codec.js';
import { compareText } from '../text-order.js';
import { FAR_FUTURE_MS, StoreUnavailableError } from '../store.js';
import type { EventDocument, SubscriptionDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';
import { isDuplicateKey } from './mongo-errors.js';
import { decodeOptional, packText, unpackText } from './packed-text.js';

/** How often an event with the same id may be removed between the insert and the read. */
const INSERT_ATTEMPTS_MAX = 3;

/** The event only: no step can change two documents. */
export async function insertEvent(
  context: MongoContext,
  [event]: OperationArguments<'insertEvent'>,
): Promise<InsertEventResult> {
  for (let attempt = 0; attempt < INSERT_ATTEMPTS_MAX; attempt += 1) {
    try {
      await context.events.insertOne(eventDocumentOf(event));
      return { outcome: 'inserted', posted: [], delivery: 'partial' };
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const known = await getEvent(context, [event.id]);
    if (known !== null) return { outcome: 'exists', event: known };
  }
  throw new StoreUnavailableError(`The event ${event.id} was removed while it was inserted`);
}

export async function getEvent(
  { events }: MongoContext,
  [id]: OperationArguments<'getEvent'>,
): Promise<EventRecord | null> {
  const document = await events.findOne({ _id: encodeText(id) });
  return document === null ? null : eventOf(document);
}

export function findEvents(
  context: MongoContext,
  [nameKey, from, limit]: OperationArguments<'findEvents'>,
): Promise<readonly FoundEvent[]> {
  return findOldest(context, limit, {
    nameKey: encodeText(nameKey),
    publishedAt: { $gte: from.publishedAt },
    $or: [{ publishedAt: { $gt: from.publishedAt } }, { _id: { $gte: encodeText(from.id) } }],
  });
}

async function findOldest(
  { events }: MongoContext,
  limit: number,
  filter: Filter<EventDocument>,
): Promise<readonly FoundEvent[]> {
  const found = await events
    .find(filter, { projection: { data: 0 } })
    .sort({ publishedAt: 1, _id: 1 })
    .limit(limit)
    .toArray();
  const dataById = await shortDataOf(events, found);
  return found.map((document) => foundOf(document, dataById.get(document._id) ?? null));
}

/** A second command that asks only for data stored as plain text, so that long data, which is packed, is never read. */
async function shortDataOf(
  events: MongoContext['events'],
  found: readonly Pick<EventDocument, '_id'>[],
): Promise<ReadonlyMap<string, string>> {
  if (found.length === 0) return new Map();
  const ids = found.map(({ _id }) => _id);
  const withData = await events
    .find({ _id: { $in: ids }, data: { $type: 'string' } }, { projection: { data: 1 } })
    .toArray();
  return new Map(withData.map(({ _id, data }) => [_id, unpackText(data)]));
}

/** The events are in two lists, each with an index in this order; they are merged here. */
export async function listEvents(
  { events }: MongoContext,
  [{ nameKey, before, limit }]: OperationArguments<'listEvents'>,
): Promise<readonly EventListItem[]> {
  const lists: readonly Filter<EventDocument>[] =
    nameKey === null
      ? [{ delivered: false }, { delivered: true }]
      : [{ nameKey: encodeText(nameKey) }];
  const position = before === null ? {} : positionBefore(before.publishedAt, encodeText(before.id));
  const found = await Promise.all(
    lists.map((list) =>
      events
        .find({ ...list, ...position }, { projection: { data: 0 } })
        .sort({ publishedAt: -1, _id: -1 })
        .limit(limit)
        .toArray(),
    ),
  );
  const newest = found
    .flat()
    .sort((left, right) => right.publishedAt - left.publishedAt || compareText(right._id, left._id))
    .slice(0, limit);
  const dataById = await shortDataOf(events, newest);
  return newest.map((document) => listItemOf(document, dataById.get(document._id) ?? null));
}

function positionBefore(publishedAt: number, _id: string): Filter<EventDocument> {
  return {
    publishedAt: { $lte: publishedAt },
    $or: [{ publishedAt: { $lt: publishedAt } }, { _id: { $lt: _id } }],
  };
}

export async function findSubscriptions(
  { subscriptions }: MongoContext,
  [nameKey, publishedAt, afterId, limit]: OperationArguments<'findSubscriptions'>,
): Promise<readonly SubscriptionRecord[]> {
  const found = await subscriptions
    .find({
      nameKey: encodeText(nameKey),
      effectiveAt: { $lte: publishedAt },
      ...(afterId === null ? {} : { _id: { $gt: encodeText(afterId) } }),
    })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
  return found.map(subscriptionOf);
}

export function listSubscriptions(
  context: MongoContext,
  [nameKey, afterId, limit]: OperationArguments<'listSubscriptions'>,
): Promise<readonly SubscriptionRecord[]> {
  return findSubscriptions(context, [nameKey, FAR_FUTURE_MS, afterId, limit]);
}

export function subscriptionOf(document: SubscriptionDocument): SubscriptionRecord {
  return {
    id: decodeText(document._id),
    instanceId: decodeText(document.instanceId),
    nameKey: decodeText(document.nameKey),
    effectiveAt: document.effectiveAt,
  };
}

export async function markEventsDelivered(
  context: MongoContext,
  [deliveries]: OperationArguments<'markEventsDelivered'>,
): Promise<OperationResult<'markEventsDelivered'>> {
  const missing: string[] = [];
  const marks: AnyBulkWriteOperation<EventDocument>[] = [];
  for (const delivery of deliveries) {
    if (await hasMissedSome(context, delivery)) missing.push(delivery.id);
    else marks.push(markOf(delivery));
  }
  if (marks.length > 0) await context.events.bulkWrite(marks, { ordered: false });
  return missing;
}

/** Unless a higher count is stored already. */
function markOf({ deliveredTo, id, takenBy }: EventDelivery): AnyBulkWriteOperation<EventDocument> {
  const filter = {
    _id: encodeText(id),
    $or: [{ deliveredTo: null }, { deliveredTo: { $lt: deliveredTo } }],
  };
  const update = { $set: { delivered: true, deliveredTo, takenBy: takenBy.map(encodeText) } };
  return { updateOne: { filter, update } };
}

/** Whether an instance that subscribed at the moment of the insert hasn't received the event. */
async function hasMissedSome(
  { events, subscriptions }: MongoContext,
  { deliveredTo, id, isConfirmed, takenBy }: EventDelivery,
): Promise<boolean> {
  if (isConfirmed) return false;
  const event = await events.findOne({ _id: encodeText(id) }, { projection: { data: 0 } });
  if (event === null || deliveredTo <= (event.deliveredTo ?? -1)) return false;
  const missed = await subscriptions.findOne({
    nameKey: event.nameKey,
    effectiveAt: { $lte: event.publishedAt },
    instanceId: { $nin: takenBy.map(encodeText) },
  });
  return missed !== null;
}

export function findUndeliveredEvents(
  context: MongoContext,
  [publishedBefore, limit]: OperationArguments<'findUndeliveredEvents'>,
): Promise<readonly FoundEvent[]> {
  return findOldest(context, limit, { delivered: false, publishedAt: { $lt: publishedBefore } });
}

export function eventDocumentOf(event: EventRecord): EventDocument {
  return {
    _id: encodeText(event.id),
    nameKey: encodeText(event.nameKey),
    name: encodeText(event.name),
    key: encodeText(event.key),
    data: packText(event.data),
    publishedAt: event.publishedAt,
    delivered: event.deliveredTo !== null,
    deliveredTo: event.deliveredTo,
    requestHash: encodeOptional(event.requestHash),
  };
}

function listItemOf(document: Omit<EventDocument, 'data'>, data: string | null): EventListItem {
  const { publishedAt, deliveredTo, takenBy = [] } = document;
  return {
    id: decodeText(document._id),
    name: decodeText(document.name),
    key: decodeText(document.key),
    data: data === null || data.length > LISTED_DATA_LENGTH_MAX ? null : data,
    publishedAt,
    deliveredTo,
    takenBy: takenBy.map(decodeText),
  };
}

export function eventOf(document: EventDocument): EventRecord {
  const data = unpackText(document.data);
  return { ...foundOf(document, data), data };
}

function foundOf(document: Omit<EventDocument, 'data'>, data: string | null): FoundEvent {
  return {
    id: decodeText(document._id),
    nameKey: decodeText(document.nameKey),
    name: decodeText(document.name),
    key: decodeText(document.key),
    data,
    publishedAt: document.publishedAt,
    deliveredTo: document.deliveredTo,
    requestHash: decodeOptional(document.requestHash),
  };
}
