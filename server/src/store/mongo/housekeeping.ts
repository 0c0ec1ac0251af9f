/** Nodes, retention and statistics. */
import type { Collection, Filter } from 'mongodb';
import type { OperationArguments, OperationResult } from '../operations.js';
import type { InstanceStatus } from '../records/instances.js';
import type { NodeRecord } from '../records/nodes.js';
import type { PurgeRequest, StoreStatistics } from '../records/housekeeping.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { NodeDocument } from './collections.js';
import type { MongoContext } from './mongo-context.js';
import { packText, unpackText } from './packed-text.js';
import { finishStarts, removeOldClaims } from './reference-claims.js';

const STATUSES: readonly InstanceStatus[] = ['Runnable', 'Suspended', 'Complete', 'Terminated'];

/** Maximum number of instances whose side records one command removes. */
const PURGED_TOGETHER = 20;

export async function putNode(
  { nodes, readServerTime }: MongoContext,
  [node]: OperationArguments<'putNode'>,
): Promise<void> {
  const { _id, ...fields } = nodeDocumentOf(node);
  await nodes.updateOne({ _id }, { $set: fields }, { upsert: true });
  await readServerTime();
}

export async function listNodes({ nodes }: MongoContext): Promise<readonly NodeRecord[]> {
  return (await nodes.find().sort({ _id: 1 }).toArray()).map(nodeOf);
}

export function nodeDocumentOf(node: NodeRecord): NodeDocument {
  const { beatAt, details, hostname, id, pid, url, version } = node;
  return {
    _id: encodeText(id),
    beatAt,
    url: encodeText(url),
    version: encodeText(version),
    hostname: encodeText(hostname),
    pid,
    details: details === null ? null : packText(details),
  };
}

export function nodeOf(document: NodeDocument): NodeRecord {
  const { _id, beatAt, details = null, hostname, pid, url, version } = document;
  return {
    id: decodeText(_id),
    beatAt,
    url: decodeText(url),
    version: decodeText(version),
    hostname: decodeText(hostname),
    pid,
    details: details === null ? null : unpackText(details),
  };
}

export async function removeNode(
  { nodes }: MongoContext,
  [id]: OperationArguments<'removeNode'>,
): Promise<void> {
  await nodes.deleteOne({ _id: encodeText(id) });
}

export async function purge(
  context: MongoContext,
  [request]: OperationArguments<'purge'>,
): Promise<OperationResult<'purge'>> {
  const { instancesEndedBefore, limit } = request;
  await finishStarts(context, limit);
  await removeOldClaims(context, instancesEndedBefore, limit);
  return {
    instances: await purgeInstances(context, request),
    events: await removeOldest(
      context.events,
      { delivered: true, publishedAt: { $lt: request.eventsPublishedBefore } },
      'publishedAt',
      limit,
    ),
    activities: await removeOldest(
      context.activities,
      { done: true, settled: true, doneAt: { $lt: request.activitiesDoneBefore } },
      'doneAt',
      limit,
    ),
  };
}

export async function statistics({
  instances,
  activities,
  events,
}: MongoContext): Promise<StoreStatistics> {
  const [counts, waiting, undeliveredEvents] = await Promise.all([
    Promise.all(STATUSES.map((status) => instances.countDocuments({ status }))),
    activities
      .aggregate<{ _id: string; waiting: number; oldestAvailableAt: number }>([
        { $match: { done: false, tokenHash: null } },
        {
          $group: {
            _id: '$name',
            waiting: { $sum: 1 },
            oldestAvailableAt: { $min: '$availableAt' },
          },
        },
        { $sort: { waiting: -1, _id: 1 } },
        { $limit: 10 },
      ])
      .toArray(),
    events.countDocuments({ delivered: false }),
  ]);
  const [Runnable = 0, Suspended = 0, Complete = 0, Terminated = 0] = counts;
  return {
    instances: { Runnable, Suspended, Complete, Terminated },
    activities: waiting.map(({ _id, ...numbers }) => ({ name: decodeText(_id), ...numbers })),
    undeliveredEvents,
  };
}

/** The side records go first: if this is interrupted, the next purge finds the instance again. */
async function purgeInstances(
  context: MongoContext,
  { instancesEndedBefore, limit, untoldEndedBefore }: PurgeRequest,
): Promise<number> {
  const isTold = [{ wakeAt: null }, { endTime: { $lt: untoldEndedBefore } }];
  const ended = await context.instances
    .find(
      {
        endTime: { $lt: instancesEndedBefore },
        status: { $in: ['Complete', 'Terminated'] },
        $or: isTold,
      },
      { projection: { _id: 1 } },
    )
    .sort({ endTime: 1, _id: 1 })
    .limit(limit)
    .toArray();
  for (let at = 0; at < ended.length; at += PURGED_TOGETHER) {
    const ids = ended.slice(at, at + PURGED_TOGETHER).map(({ _id }) => _id);
    const ofThem = { instanceId: { $in: ids } };
    await Promise.all([
      context.history.deleteMany(ofThem),
      context.subscriptions.deleteMany(ofThem),
      context.activities.deleteMany(ofThem),
      context.joinedStarts.deleteMany(ofThem),
      context.inputs.deleteMany({ _id: { $in: ids } }),
    ]);
    await context.instances.deleteMany({ _id: { $in: ids } });
  }
  return ended.length;
}

async function removeOldest<Item extends { readonly _id: string }>(
  collection: Collection<Item>,
  filter: Filter<Item>,
  timeField: string,
  limit: number,
): Promise<number> {
  const found = await collection
    .find(filter, { projection: { _id: 1 } })
    .sort({ [timeField]: 1, _id: 1 })
    .limit(limit)
    .toArray();
  if (found.length === 0) return 0;
  // The driver's filter types do not work with a type parameter; every Item has an `_id` of this type.
  const chosen = { _id: { $in: found.map(({ _id }) => _id) } } as Filter<Item>;
  return (await collection.deleteMany(chosen)).deletedCount;
}
