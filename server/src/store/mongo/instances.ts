/** Instances: reads, commits and takeovers as filtered updates of single documents, and searches for instances that need a node. */
import type { Filter } from 'mongodb';
import type { CountOpenDescendants } from '../counted-inserts.js';
import type { InstancePosition } from '../records/instance-lists.js';
import type {
  DueInstance,
  InstanceClaim,
  HistoryRecord,
  InstanceRecord,
} from '../records/instances.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { encodeText, decodeText } from '../text-codec.js';
import { afterCommit, guardedUpdateOf } from './commit-updates.js';
import type { InstanceDocument } from './documents.js';
import { inputChangeOf } from './inputs.js';
import { instanceOf } from './instance-documents.js';
import type { MongoContext } from './mongo-context.js';
import { decodeOptional, unpackText } from './packed-text.js';
import { attemptOf, insertSideRecords, takeBack } from './side-records.js';
import { hasSlotChanges } from './slot-changes.js';
import { commitWithSlots } from './slot-commits.js';

/** Running an instance doesn't need its audit and its input. */
export const WITHOUT_KEPT = { audit: 0, input: 0 } as const;

/** Reads no more than `max` entries of the index. */
export function openDescendantsIn({
  instances,
}: Pick<MongoContext, 'instances'>): CountOpenDescendants {
  return (rootId, max) =>
    instances.countDocuments(
      { rootId: encodeText(rootId), status: { $in: ['Runnable', 'Suspended'] } },
      { limit: max },
    );
}

export async function getInstance(
  { instances }: MongoContext,
  [id]: OperationArguments<'getInstance'>,
): Promise<InstanceRecord | null> {
  const document = await instances.findOne({ _id: encodeText(id) }, { projection: WITHOUT_KEPT });
  return document === null ? null : instanceOf(document);
}

export async function commitInstance(
  context: MongoContext,
  [commit]: OperationArguments<'commitInstance'>,
): Promise<OperationResult<'commitInstance'>> {
  if (hasSlotChanges(commit.slots, commit.side)) return commitWithSlots(context, commit);
  const attempt = attemptOf(commit);
  const inserted = await insertSideRecords(context, commit.side, { ...attempt, replaces: true });
  const update = guardedUpdateOf(commit, attempt, await inputChangeOf(context, commit));
  if (await context.groupedWrites.commits.commit(update)) {
    await afterCommit(context, commit);
    return 'committed';
  }
  await takeBack(context, inserted, commit.side);
  return 'lost';
}

export async function claimInstance(
  { instances }: MongoContext,
  [
    { id, epoch, owner, suspected, due, resting, schemaVersionMax },
  ]: OperationArguments<'claimInstance'>,
): Promise<InstanceRecord | null> {
  const known = {
    ...(schemaVersionMax !== undefined && { schemaVersion: { $lte: schemaVersionMax } }),
    ...(resting === true && { inboxBytes: { $gt: 0 }, underWay: { $ne: true as const } }),
  };
  const claimed = await instances.findOneAndUpdate(
    { _id: encodeText(id), epoch, ...known },
    {
      $set: { owner: encodeText(owner), ...(due === true && { wakeAt: 0 }) },
      $inc: { epoch: 1, crashes: suspected ? 1 : 0 },
    },
    { returnDocument: 'after', projection: WITHOUT_KEPT },
  );
  return claimed === null ? null : instanceOf(claimed);
}

export async function setCrashes(
  { instances }: MongoContext,
  [id, epoch, crashes]: OperationArguments<'setCrashes'>,
): Promise<boolean> {
  const filter = { _id: encodeText(id), epoch };
  return (await instances.updateOne(filter, { $set: { crashes } })).matchedCount > 0;
}

export async function findDueInstances(
  context: MongoContext,
  [dueBefore, limit, after]: OperationArguments<'findDueInstances'>,
): Promise<readonly DueInstance[]> {
  const found = await findClaims(context, {
    // A range of numbers excludes null, using the index.
    filter: {
      $and: [
        { wakeAt: { $lte: dueBefore } },
        ...(after === undefined ? [] : beyond('wakeAt', { time: after.wakeAt, id: after.id })),
      ],
    },
    sort: { wakeAt: 1, _id: 1 },
    limit,
  });
  return found.flatMap(({ wakeAt, ...rest }) => (wakeAt === null ? [] : [{ ...rest, wakeAt }]));
}

export function findInstancesUnderWay(
  context: MongoContext,
  [owner, afterId, limit]: OperationArguments<'findInstancesUnderWay'>,
): Promise<readonly InstanceClaim[]> {
  const known = { underWay: true as const, owner: encodeText(owner) };
  const filter = afterId === null ? known : { ...known, _id: { $gt: encodeText(afterId) } };
  return findClaims(context, { filter, sort: { _id: 1 }, limit });
}

export function findChangedInstances(
  context: MongoContext,
  [owner, after, limit]: OperationArguments<'findChangedInstances'>,
): Promise<readonly InstanceClaim[]> {
  const known = { owner: encodeText(owner), status: 'Runnable' as const };
  const filter = { $and: [known, ...beyond('openChangedAt', after)] };
  return findClaims(context, { filter, sort: { openChangedAt: 1, _id: 1 }, limit });
}

export async function readHistory(
  { history }: MongoContext,
  [instanceId, from, limit]: OperationArguments<'readHistory'>,
): Promise<readonly HistoryRecord[]> {
  const found = await history
    .find({ instanceId: encodeText(instanceId), sequence: { $gte: from } })
    .sort({ sequence: 1 })
    .limit(limit)
    .toArray();
  return found.map(({ sequence, body }) => ({ instanceId, sequence, body: unpackText(body) }));
}

/** The first condition bounds the index; the second skips items of the previous page with the same time. */
function beyond(
  field: 'wakeAt' | 'openChangedAt',
  { id, time }: InstancePosition,
): readonly Filter<InstanceDocument>[] {
  return [
    { [field]: { $gte: time } },
    { $or: [{ [field]: { $gt: time } }, { _id: { $gt: encodeText(id) } }] },
  ];
}

async function findClaims(
  { instances }: MongoContext,
  page: {
    readonly filter: Filter<InstanceDocument>;
    readonly sort: Readonly<Record<string, 1>>;
    readonly limit: number;
  },
): Promise<readonly InstanceClaim[]> {
  const found = await instances
    .find(page.filter, {
      projection: {
        owner: 1,
        epoch: 1,
        wakeAt: 1,
        underWay: 1,
        crashes: 1,
        lastChangeAt: 1,
        startTime: 1,
        schemaVersion: 1,
      },
    })
    .sort(page.sort)
    .limit(page.limit)
    .toArray();
  return found.map(({ _id, owner, epoch, wakeAt, underWay, crashes, schemaVersion, ...times }) => ({
    id: decodeText(_id),
    owner: decodeOptional(owner),
    epoch,
    wakeAt,
    crashes,
    schemaVersion,
    underWay: underWay ?? false,
    // Earlier versions of the server didn't record the change.
    lastChangeAt: times.lastChangeAt ?? times.startTime,
  }));
}
