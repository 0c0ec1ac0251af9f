/** Claimed activities: results, leases, takeovers, and completed items that their instances haven't settled. */
import type { Filter } from 'mongodb';
import type { ActivityPosition, ActivityRecord, ReleasedActivity } from '../records/activities.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { FAR_FUTURE_MS } from '../store.js';
import { decodeText, encodeText } from '../text-codec.js';
import { activityOf, claimUpdate, resultOf } from './activity-documents.js';
import { makeDeferredAvailable } from './activity-queue.js';
import type { ActivityDocument } from './documents.js';
import { releasedSlots } from './item-slots.js';
import { postMessage } from './messages.js';
import type { MongoContext } from './mongo-context.js';
import { packText } from './packed-text.js';
import { leasedAt } from './slot-holders.js';
import { neededSlotOf } from './slot-names.js';
import { waitedAmong } from './slot-waits.js';

export async function completeActivity(
  context: MongoContext,
  [request]: OperationArguments<'completeActivity'>,
): Promise<OperationResult<'completeActivity'>> {
  const _id = encodeText(request.activityId);
  const tokenHash = encodeText(request.tokenHash);
  const { result, message } = request;
  const completed = await context.activities.findOneAndUpdate(
    { _id, tokenHash, done: false },
    {
      $set: {
        done: true,
        doneAt: request.now,
        deferred: false,
        settled: false,
        succeeded: result.succeeded,
        resultHash: encodeText(result.hash),
        resultData: packText(result.data),
      },
      $unset: { slots: '', slotOn: '', slotState: '' },
    },
    { returnDocument: 'after' },
  );
  if (completed === null) {
    const known = await context.activities.findOne(
      { _id, tokenHash, done: true },
      { projection: { resultHash: 1 } },
    );
    if (known === null) return { outcome: 'stale' };
    if (known.resultHash === null) return { outcome: 'canceled' };
    return { outcome: known.resultHash === encodeText(result.hash) ? 'repeated' : 'stale' };
  }
  const activity = activityOf(completed);
  const posted = await postMessage(
    context,
    {
      instanceId: activity.instanceId,
      message,
      ...(request.audit !== undefined && { audit: request.audit }),
    },
    request.claimer,
  );
  if (posted === null) context.lazyWrites.settleActivities([_id]);
  const { needs } = activity;
  const waits = needs === undefined ? {} : { waits: await waitedAmong(context, needs) };
  return { outcome: 'accepted', activity, message, posted, ...waits };
}

export async function getActivities(
  { activities }: MongoContext,
  [ids]: OperationArguments<'getActivities'>,
): Promise<readonly ActivityRecord[]> {
  const found = await activities.find({ _id: { $in: ids.map(encodeText) } }).toArray();
  return found.map(activityOf);
}

export async function takeOverActivity(
  { activities }: MongoContext,
  [activityId, claim]: OperationArguments<'takeOverActivity'>,
): Promise<ActivityRecord | null> {
  const { $unset, ...update } = claimUpdate(claim);
  const taken = await activities.findOneAndUpdate(
    { _id: encodeText(activityId), done: false },
    { ...update, $unset: { ...$unset, slots: '' } },
    { returnDocument: 'after' },
  );
  return taken === null ? null : activityOf(taken);
}

export async function extendActivity(
  { activities }: MongoContext,
  [activityId, tokenHash, leaseExpiresAt, now]: OperationArguments<'extendActivity'>,
): Promise<OperationResult<'extendActivity'>> {
  const extended = await activities.findOneAndUpdate(
    {
      _id: encodeText(activityId),
      tokenHash: encodeText(tokenHash),
      ...extensibleAt(now),
    },
    { $set: { availableAt: leaseExpiresAt, deferred: false } },
    { projection: { name: 1, settled: 1 } },
  );
  if (extended === null) return null;
  return { name: decodeText(extended.name), withdrawn: extended.settled };
}

/** Unless its lease has ended, an item has its slots (LB7). */
function extensibleAt(now: number): Filter<ActivityDocument> {
  return {
    done: false,
    slotsLost: { $exists: false },
    $or: [{ needs: { $exists: false } }, leasedAt(now)],
  };
}

export async function keepClaims(
  { activities }: MongoContext,
  [claims, now]: OperationArguments<'keepClaims'>,
): Promise<void> {
  await activities.bulkWrite(
    claims.map(({ activityId, tokenHash }) => ({
      updateOne: {
        filter: {
          _id: encodeText(activityId),
          tokenHash: encodeText(tokenHash),
          ...extensibleAt(now),
        },
        update: { $set: { availableAt: FAR_FUTURE_MS, deferred: false } },
      },
    })),
    { ordered: false },
  );
}

export async function releaseActivity(
  context: MongoContext,
  [activityId, tokenHash, countsAttempt = true]: OperationArguments<'releaseActivity'>,
): Promise<ReleasedActivity | null> {
  const { activities } = context;
  const held = {
    _id: encodeText(activityId),
    tokenHash: encodeText(tokenHash),
    done: false,
    settled: false,
  };
  const item = await activities.findOne(held, { projection: { createdAt: 1, name: 1, needs: 1 } });
  if (item === null) return null;
  const { set, ...unset } = releasedSlots(item);
  const { matchedCount } = await activities.updateOne(held, {
    $set: { availableAt: item.createdAt, deferred: false, tokenHash: null, workerId: null, ...set },
    ...unset,
    ...(!countsAttempt && { $inc: { attempt: -1 } }),
  });
  if (matchedCount === 0) return null;
  const waits = await waitedAmong(context, (item.needs ?? []).map(neededSlotOf));
  return { name: decodeText(item.name), waits };
}

/** Once they are marked, no claim takes them, so nothing defers them again. */
export async function withdrawActivities(
  context: MongoContext,
  [ids]: OperationArguments<'withdrawActivities'>,
): Promise<readonly ActivityRecord[]> {
  const _id = { $in: ids.map(encodeText) };
  await context.activities.updateMany(
    { _id, done: false },
    { $set: { settled: true }, $unset: { slotOn: '', slotState: '' } },
  );
  await makeDeferredAvailable(context, { _id });
  return getActivities(context, [ids]);
}

/**
 * Also settles items whose instance has ended or been removed: the commit that ends an instance doesn't look for them,
 * because there are almost never any.
 */
export async function findUnsettledActivities(
  { activities, instances, lazyWrites }: MongoContext,
  [doneBefore, limit, after]: OperationArguments<'findUnsettledActivities'>,
): Promise<OperationResult<'findUnsettledActivities'>> {
  const found = await activities
    .find({
      $and: [{ done: true, settled: false, doneAt: { $lt: doneBefore } }, ...beyond(after)],
    })
    .sort({ doneAt: 1, _id: 1 })
    .limit(limit)
    .toArray();
  if (found.length === 0) return [];
  const instanceIds = [...new Set(found.map(({ instanceId }) => instanceId))];
  const live = await instances
    .find(
      { _id: { $in: instanceIds }, status: { $in: ['Runnable', 'Suspended'] } },
      { projection: { _id: 1 } },
    )
    .toArray();
  const liveIds = new Set(live.map(({ _id }) => _id));
  const unwanted = found.filter(({ instanceId }) => !liveIds.has(instanceId));
  lazyWrites.settleActivities(unwanted.map(({ _id }) => _id));
  return found
    .filter(({ instanceId }) => liveIds.has(instanceId))
    .map((document) => ({
      ...activityOf(document),
      doneAt: document.doneAt ?? 0,
      result: resultOf(document),
    }));
}

/** The first condition limits the range of the index. The second skips items of the previous page with the same time. */
function beyond(after: ActivityPosition | undefined): readonly Filter<ActivityDocument>[] {
  if (after === undefined) return [];
  const { doneAt, id } = after;
  return [
    { doneAt: { $gte: doneAt } },
    { $or: [{ doneAt: { $gt: doneAt } }, { _id: { $gt: encodeText(id) } }] },
  ];
}
