/** Notifications and their deliveries. */
import type { Filter } from 'mongodb';
import type { OperationArguments } from '../store-operations.js';
import type {
  DeliveryRecord,
  DeliverySummary,
  NotificationRecord,
} from '../records/notifications.js';
import { decodeText, encodeOptional, encodeText } from '../text-codec.js';
import type { DeliveryDocument, NotificationDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';
import { throwUnlessDuplicates } from './mongo-errors.js';
import { decodeOptional, packText, unpackText } from './packed-text.js';

type SummaryDocument = Omit<DeliveryDocument, 'body'>;

const SUMMARY = { body: 0 };

export async function putNotification(
  { notifications }: MongoContext,
  [notification]: OperationArguments<'putNotification'>,
): Promise<void> {
  const { _id, ...fields } = notificationDocumentOf(notification);
  await notifications.updateOne({ _id }, { $set: fields }, { upsert: true });
}

export async function listNotifications(
  { notifications }: MongoContext,
  [limit]: OperationArguments<'listNotifications'>,
): Promise<readonly NotificationRecord[]> {
  const found = await notifications.find().sort({ _id: 1 }).limit(limit).toArray();
  return found.map(notificationOf);
}

export async function pauseNotification(
  { notifications }: MongoContext,
  [name, paused]: OperationArguments<'pauseNotification'>,
): Promise<boolean> {
  const change = { $set: { paused: encodeOptional(paused) } };
  const { matchedCount } = await notifications.updateOne({ _id: encodeText(name) }, change);
  return matchedCount > 0;
}

export async function removeNotification(
  { notifications }: MongoContext,
  [name]: OperationArguments<'removeNotification'>,
): Promise<boolean> {
  const { deletedCount } = await notifications.deleteOne({ _id: encodeText(name) });
  return deletedCount > 0;
}

/** A delivery that is inserted while its notification is removed may stay; no node claims it. */
export async function insertDeliveries(
  { deliveries, notifications }: MongoContext,
  [records]: OperationArguments<'insertDeliveries'>,
): Promise<void> {
  const names = [...new Set(records.map(({ notification }) => encodeText(notification)))];
  const found = await notifications
    .find({ _id: { $in: names } }, { projection: { _id: 1 } })
    .toArray();
  const known = new Set(found.map(({ _id }) => _id));
  const documents = records
    .map(deliveryDocumentOf)
    .filter(({ notification }) => known.has(notification));
  if (documents.length === 0) return;
  await deliveries.insertMany(documents, { ordered: false }).catch(throwUnlessDuplicates);
}

export async function claimDeliveries(
  { deliveries }: MongoContext,
  [{ limit, notification, now, until }]: OperationArguments<'claimDeliveries'>,
): Promise<readonly DeliveryRecord[]> {
  const due = { notification: encodeText(notification), state: 'waiting', dueAt: { $lte: now } };
  const claimed: DeliveryRecord[] = [];
  while (claimed.length < limit) {
    const document = await deliveries.findOneAndUpdate(
      due as Filter<DeliveryDocument>,
      { $set: { dueAt: until }, $inc: { attempts: 1 } },
      { sort: { dueAt: 1, _id: 1 }, returnDocument: 'after' },
    );
    if (document === null) break;
    claimed.push(deliveryOf(document));
  }
  return claimed;
}

export async function saveDelivery(
  { deliveries }: MongoContext,
  [{ answer, attempts, dueAt, endedAt, id, state }]: OperationArguments<'saveDelivery'>,
): Promise<boolean> {
  const { matchedCount } = await deliveries.updateOne(
    { _id: encodeText(id), attempts, state: 'waiting' },
    { $set: { state, dueAt, endedAt, answer: encodeOptional(answer) } },
  );
  return matchedCount > 0;
}

export async function redeliver(
  { deliveries }: MongoContext,
  [notification, id, at]: OperationArguments<'redeliver'>,
): Promise<DeliverySummary | null> {
  const document = await deliveries.findOneAndUpdate(
    { _id: encodeText(id), notification: encodeText(notification) },
    { $set: { state: 'waiting', dueAt: at, since: at, endedAt: null } },
    { projection: SUMMARY, returnDocument: 'after' },
  );
  return document === null ? null : summaryOf(document);
}

export async function getDelivery(
  { deliveries }: MongoContext,
  [id]: OperationArguments<'getDelivery'>,
): Promise<DeliveryRecord | null> {
  const document = await deliveries.findOne({ _id: encodeText(id) });
  return document === null ? null : deliveryOf(document);
}

export async function listDeliveries(
  { deliveries }: MongoContext,
  [{ notification, state }, after, limit]: OperationArguments<'listDeliveries'>,
): Promise<readonly DeliverySummary[]> {
  const matching: Filter<DeliveryDocument> = {
    notification: encodeText(notification),
    ...(state !== undefined && { state }),
    ...(after !== null && {
      createdAt: { $lte: after.time },
      $or: [{ createdAt: { $lt: after.time } }, { _id: { $lt: encodeText(after.id) } }],
    }),
  };
  const found = await deliveries
    .find<SummaryDocument>(matching, { projection: SUMMARY })
    .sort({ createdAt: -1, _id: -1 })
    .limit(limit)
    .toArray();
  return found.map(summaryOf);
}

export async function removeDeliveries(
  context: MongoContext,
  [notification, limit]: OperationArguments<'removeDeliveries'>,
): Promise<number> {
  return removeSome(context, { notification: encodeText(notification) }, { _id: 1 }, limit);
}

export async function purgeDeliveries(
  context: MongoContext,
  [endedBefore, limit]: OperationArguments<'purgeDeliveries'>,
): Promise<number> {
  const ended = { endedAt: { $ne: null, $lt: endedBefore } };
  return removeSome(context, ended, { endedAt: 1, _id: 1 }, limit);
}

async function removeSome(
  { deliveries }: MongoContext,
  matching: Filter<DeliveryDocument>,
  order: Readonly<Record<string, 1>>,
  limit: number,
): Promise<number> {
  const found = await deliveries
    .find<Pick<DeliveryDocument, '_id'>>(matching, { projection: { _id: 1 } })
    .sort(order)
    .limit(limit)
    .toArray();
  if (found.length === 0) return 0;
  const ids = found.map(({ _id }) => _id);
  return (await deliveries.deleteMany({ _id: { $in: ids } })).deletedCount;
}

export function notificationDocumentOf({
  name,
  paused,
  settings,
}: NotificationRecord): NotificationDocument {
  return {
    _id: encodeText(name),
    settings: packText(settings),
    paused: encodeOptional(paused),
  };
}

export function notificationOf(document: NotificationDocument): NotificationRecord {
  return {
    name: decodeText(document._id),
    settings: unpackText(document.settings),
    paused: decodeOptional(document.paused),
  };
}

export function deliveryDocumentOf(delivery: DeliveryRecord): DeliveryDocument {
  const { answer, body, id, notification, type, workflowId, ...plain } = delivery;
  return {
    _id: encodeText(id),
    ...plain,
    notification: encodeText(notification),
    workflowId: encodeOptional(workflowId),
    type: encodeText(type),
    answer: encodeOptional(answer),
    body: packText(body),
  };
}

export function deliveryOf(document: DeliveryDocument): DeliveryRecord {
  return { ...summaryOf(document), body: unpackText(document.body) };
}

function summaryOf(document: SummaryDocument): DeliverySummary {
  return {
    id: decodeText(document._id),
    notification: decodeText(document.notification),
    workflowId: decodeOptional(document.workflowId),
    type: decodeText(document.type),
    createdAt: document.createdAt,
    state: document.state,
    attempts: document.attempts,
    dueAt: document.dueAt,
    since: document.since,
    endedAt: document.endedAt,
    answer: decodeOptional(document.answer),
  };
}
