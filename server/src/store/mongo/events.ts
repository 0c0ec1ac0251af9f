/** Published events, and who waits for them. */
import type { OperationArguments, OperationResult } from '../operations.js';
import type { EventRecord, SubscriptionRecord } from '../store.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { EventDocument } from './collections.js';
import type { MongoContext } from './mongo-context.js';
import { isDuplicateKey } from './mongo-errors.js';
import { decodeOptional, encodeOptional, packText, unpackText } from './packed-text.js';

export async function insertEvent(
  context: MongoContext,
  [event]: OperationArguments<'insertEvent'>,
): Promise<EventRecord | null> {
  try {
    await context.events.insertOne({
      _id: encodeText(event.id),
      nameKey: encodeText(event.nameKey),
      name: encodeText(event.name),
      key: encodeText(event.key),
      data: packText(event.data),
      publishedAt: event.publishedAt,
      delivered: event.deliveredTo !== null,
      deliveredTo: event.deliveredTo,
      requestHash: encodeOptional(event.requestHash),
    });
    return null;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return getEvent(context, [event.id]);
  }
}

export async function getEvent(
  { events }: MongoContext,
  [id]: OperationArguments<'getEvent'>,
): Promise<EventRecord | null> {
  const document = await events.findOne({ _id: encodeText(id) });
  return document === null ? null : eventOf(document);
}

export async function findEvents(
  { events }: MongoContext,
  [nameKey, from, limit]: OperationArguments<'findEvents'>,
): Promise<readonly EventRecord[]> {
  const found = await events
    .find({
      nameKey: encodeText(nameKey),
      publishedAt: { $gte: from.publishedAt },
      $or: [{ publishedAt: { $gt: from.publishedAt } }, { _id: { $gte: encodeText(from.id) } }],
    })
    .sort({ publishedAt: 1, _id: 1 })
    .limit(limit)
    .toArray();
  return found.map(eventOf);
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
  return found.map((document) => ({
    id: decodeText(document._id),
    instanceId: decodeText(document.instanceId),
    nameKey: decodeText(document.nameKey),
    effectiveAt: document.effectiveAt,
  }));
}

export async function markEventDelivered(
  { events }: MongoContext,
  [id, deliveredTo]: OperationArguments<'markEventDelivered'>,
): Promise<OperationResult<'markEventDelivered'>> {
  await events.updateOne({ _id: encodeText(id) }, { $set: { delivered: true, deliveredTo } });
}

export async function findUndeliveredEvents(
  { events }: MongoContext,
  [publishedBefore, limit]: OperationArguments<'findUndeliveredEvents'>,
): Promise<readonly EventRecord[]> {
  const found = await events
    .find({ delivered: false, publishedAt: { $lt: publishedBefore } })
    .sort({ publishedAt: 1, _id: 1 })
    .limit(limit)
    .toArray();
  return found.map(eventOf);
}

function eventOf(document: EventDocument): EventRecord {
  return {
    id: decodeText(document._id),
    nameKey: decodeText(document.nameKey),
    name: decodeText(document.name),
    key: decodeText(document.key),
    data: unpackText(document.data),
    publishedAt: document.publishedAt,
    deliveredTo: document.deliveredTo,
    requestHash: decodeOptional(document.requestHash),
  };
}
