/** Nodes, retention and statistics. */
import type { Collection, Filter } from 'mongodb';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type { InstanceStatus } from '../records/instances.js';
import type { NodeRecord } from '../records/nodes.js';
import {
  REMOVAL_OFFSET,
  REMOVED_FIELDS,
  removalRevision,
  type EndedInstance,
  type StoreStatistics,
} from '../records/housekeeping.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { InstanceDocument, NodeDocument } from './documents.js';
import { inputIdOf, sweepInputs } from './inputs.js';
import type { MongoContext } from './mongo-context.js';
import { packText, unpackText } from './packed-text.js';
import { finishStarts, removeOldClaims } from './reference-claims.js';
import { sweepSlots } from './slot-sweeps.js';

const STATUSES: readonly InstanceStatus[] = ['Runnable', 'Suspended', 'Complete', 'Terminated'];

/** Maximum number of instances whose side records one command removes. */
const PURGED_TOGETHER = 20;
/** Maximum number of different retentions that one command looks for. */
const RETENTIONS_TOGETHER = 100;

type EndedDocument = Pick<InstanceDocument, '_id' | 'inSeq' | 'revision'>;

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
  const sweep = { before: instancesEndedBefore, limit };
  await removeOldClaims(context, context.claimSweep, sweep);
  await sweepSlots(context, sweep, request.activitiesDoneBefore);
  // A key that is served again starts at the present.
  const turns = { at: { $lt: request.activitiesDoneBefore } };
  const unused = await removeOldest(context.turns, turns, 'at', limit);
  await sweepInputs(context, context.inputSweep, sweep);
  const joined = await removeOldest(
    context.joinedStarts,
    { joinedAt: { $lt: instancesEndedBefore } },
    'joinedAt',
    limit,
  );
  const isKept = request.keepsInstances === true;
  const expired = isKept ? [] : await findExpiredInstances(context, [request, limit]);
  const { removed } = await removeInstances(context, [expired]);
  return {
    instances: removed,
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
    isComplete: Math.max(joined, unused) < limit,
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
        { $match: { done: false, settled: false, tokenHash: null } },
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

export async function findExpiredInstances(
  { instances }: MongoContext,
  [limits, limit]: OperationArguments<'findExpiredInstances'>,
): Promise<readonly EndedInstance[]> {
  const { instancesEndedBefore, untoldEndedBefore } = limits;
  const { ownRetentionBefore = 0, untoldOwnRetentionBefore = 0 } = limits;
  const find = (filter: Filter<InstanceDocument>): Promise<readonly EndedDocument[]> =>
    instances
      .find<EndedDocument>(
        { status: { $in: ['Complete', 'Terminated'] }, ...filter },
        { projection: { inSeq: 1, revision: 1, endTime: 1 } },
      )
      .sort({ endTime: 1, _id: 1 })
      .limit(limit)
      .toArray();
  const expiredAfter = (own: number): Filter<InstanceDocument> => ({
    retentionMs: own,
    endTime: { $lt: ownRetentionBefore - own },
    $or: [{ wakeAt: null }, { endTime: { $lt: untoldOwnRetentionBefore - own } }],
  });
  const found = [
    ...(await find({
      // True for instances without the field, too.
      retentionMs: null as never,
      endTime: { $lt: instancesEndedBefore },
      $or: [{ wakeAt: null }, { endTime: { $lt: untoldEndedBefore } }],
    })),
  ];
  const most = found.length + limit;
  const retentions = await instances.distinct('retentionMs', { retentionMs: { $gt: 0 } });
  const own = retentions.filter((each) => each !== undefined);
  for (let at = 0; at < own.length && found.length < most; at += RETENTIONS_TOGETHER) {
    const some = own.slice(at, at + RETENTIONS_TOGETHER).map(expiredAfter);
    found.push(...(await find({ $or: some })).slice(0, most - found.length));
  }
  return found.map(({ _id, inSeq, revision }) => ({ id: decodeText(_id), inSeq, revision }));
}

/**
 * The side records go before the instance: if this is interrupted, the next purge finds it again. Before that, the instance is
 * marked, so that no writer can open it again.
 */
export async function removeInstances(
  context: MongoContext,
  [ended]: OperationArguments<'removeInstances'>,
): Promise<OperationResult<'removeInstances'>> {
  const { instances } = context;
  let removed = 0;
  for (let at = 0; at < ended.length; at += PURGED_TOGETHER) {
    const group = ended.slice(at, at + PURGED_TOGETHER);
    const unchanged = group.map((each) => unchangedEnded(each, each.revision));
    const marked = group.map((each) => unchangedEnded(each, removalRevision(each)));
    await instances.updateMany(
      { $or: unchanged, revision: { $gte: 0 } },
      { $inc: { revision: -REMOVAL_OFFSET }, $set: REMOVED_FIELDS },
    );
    const together = await instances
      // A secondary may not have the marks yet.
      .find({ $or: marked }, { projection: { inputId: 1 }, readPreference: 'primary' })
      .toArray();
    const ids = together.map(({ _id }) => _id);
    const ofThem = { instanceId: { $in: ids } };
    await Promise.all([
      context.history.deleteMany(ofThem),
      context.subscriptions.deleteMany(ofThem),
      context.activities.deleteMany(ofThem),
      context.joinedStarts.deleteMany(ofThem),
      context.inputs.deleteMany({ _id: { $in: together.map(inputIdOf) } }),
    ]);
    removed += (await instances.deleteMany({ _id: { $in: ids }, $or: marked })).deletedCount;
  }
  return { removed, isComplete: true };
}

function unchangedEnded({ id, inSeq }: EndedInstance, revision: number): Filter<InstanceDocument> {
  return { _id: encodeText(id), inSeq, revision, endTime: { $ne: null } };
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
  // The driver's filter types don't work with a type parameter; every Item has an `_id` of this type.
  const chosen = { _id: { $in: found.map(({ _id }) => _id) } } as Filter<Item>;
  return (await collection.deleteMany(chosen)).deletedCount;
}
