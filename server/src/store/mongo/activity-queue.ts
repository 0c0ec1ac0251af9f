/**
 * The activity queue: claims of its items, and lists for operators.
 *
 * The next candidate is found by the index, and taken by compare-and-set on its `_id`: a sorted findAndModify would do
 * both at once, but not every server uses the index for it. Then the instance is checked: an item of an instance that is
 * not Runnable is put back and deferred. This order ensures that no claim gets an item whose instance was suspended before.
 */
import type { Filter, WithId } from 'mongodb';
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import type {
  ActivityRecord,
  ClaimedActivity,
  LongActivity,
  ActivityListItem,
  ActivityQueue,
} from '../records/activities.js';
import type { LimitKey } from '../records/slots.js';
import type { OperationArguments } from '../store-operations.js';
import { FAR_FUTURE_MS } from '../store.js';
import { encodeText, decodeText } from '../text-codec.js';
import { compareText } from '../text-order.js';
import { activityOf, ANY_PRIORITY, claimUpdate } from './activity-documents.js';
import type { Candidate } from './candidate-fields.js';
import type { ActivityDocument } from './documents.js';
import { FAIRNESS_FIELDS, fairnessOf } from './fairness-fields.js';
import { slotClaimOf, slotsPutBack, takeSlotsOf } from './item-slots.js';
import type { MongoContext } from './mongo-context.js';
import { decodeOptional } from './packed-text.js';
import { REVOCATION } from './slot-holders.js';
import { restoreKeys } from './slot-keys.js';
import { onOf } from './slot-names.js';

type ClaimRequest = OperationArguments<'claimActivity'>[0];
/**
 * Maximum number of tries before a call gives up. After each, another caller has taken the item or the instance was
 * deferred.
 */
const ROUNDS_MAX = 200;
/** A young item without an instance is about to get it; if it is older than this, its insert has died. */
const ORPHAN_AGE_MS = 5000;

export async function claimActivity(
  context: MongoContext,
  [request]: OperationArguments<'claimActivity'>,
): Promise<ClaimedActivity> {
  const { now, lengthMax = Infinity } = request;
  const name = encodeText(request.name);
  const passedOver = new Set<string>();
  const limitedBy = new Map<string, LimitKey>();
  let contended = false;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const candidate = await context.candidates.find({ name, now, passedOver, contended });
    if (candidate === null) break;
    const { parametersLength = 0 } = candidate;
    const item =
      parametersLength > lengthMax
        ? await tryLong(context, request, { ...candidate, parametersLength })
        : await tryItem(context, request, candidate);
    const isHandedOut = typeof item !== 'string' && 'id' in item;
    if (!isHandedOut && candidate.reserved !== undefined) {
      await context.candidates.takeBack(candidate, now);
    }
    if (item === 'taken by others') contended = true;
    else if (item === 'not there yet') passedOver.add(candidate._id);
    else if (item === 'deferred') continue;
    else if ('limit' in item) limitedBy.set(onOf(item), item);
    else return limitedBy.size === 0 ? item : { ...item, limitedBy: [...limitedBy.values()] };
  }
  return limitedBy.size === 0 ? null : { limitedBy: [...limitedBy.values()] };
}

/** An item that needs slots takes them before. */
async function tryItem(
  context: MongoContext,
  request: ClaimRequest,
  candidate: Candidate,
): Promise<ActivityRecord | LimitKey | 'taken by others' | 'not there yet' | 'deferred'> {
  if (candidate.needs === undefined) return tryCandidate(context, request, candidate);
  const status = await statusOf(context, candidate.instanceId);
  if (isExpected(status, request, candidate)) return 'not there yet';
  if (status !== 'Runnable') {
    await deferAll(context, request, candidate.instanceId);
    return 'deferred';
  }
  const taken = await takeSlotsOf(context, { ...candidate, needs: candidate.needs }, request.now);
  if ('refused' in taken) return taken.refused ?? 'taken by others';
  const item = await tryCandidate(context, request, candidate);
  if (typeof item === 'string') await restoreKeys(context, taken.replaced);
  return item;
}

/** Only an item of a Runnable instance is worth the memory. */
async function tryLong(
  context: MongoContext,
  request: ClaimRequest,
  candidate: Candidate & LongActivity,
): Promise<LongActivity | 'not there yet' | 'deferred'> {
  const status = await statusOf(context, candidate.instanceId);
  const { parametersLength } = candidate;
  if (status === 'Runnable') return { parametersLength };
  if (isExpected(status, request, candidate)) return 'not there yet';
  await deferAll(context, request, candidate.instanceId);
  return 'deferred';
}

function isExpected(
  status: string | null,
  { now }: ClaimRequest,
  { createdAt }: Pick<Candidate, 'createdAt'>,
): boolean {
  return status === null && now - createdAt < ORPHAN_AGE_MS;
}

/**
 * If this fails, the item may be claimed although no worker knows it, so it is released as soon as the database responds.
 */
async function tryCandidate(
  context: MongoContext,
  request: ClaimRequest,
  candidate: Candidate,
): Promise<ActivityRecord | 'taken by others' | 'not there yet' | 'deferred'> {
  try {
    const taken = await take(context, request, candidate);
    if (taken === null) return 'taken by others';
    const status = await statusOf(context, candidate.instanceId);
    if (status === 'Runnable') return activityOf(taken);
    if (isExpected(status, request, candidate)) {
      await putBack(context, request, candidate, { availableAt: candidate.availableAt });
      return 'not there yet';
    }
    await defer(context, request, candidate);
    return 'deferred';
  } catch (error) {
    context.lazyWrites.releaseLostClaim({
      activityId: candidate._id,
      tokenHash: encodeText(request.claim.tokenHash),
      createdAt: candidate.createdAt,
    });
    throw error;
  }
}

/** When an instance is resumed, its deferred items return to their old positions. Takes ids as stored. */
export async function makeDeferredAvailable(
  { activities }: MongoContext,
  items: Filter<Pick<ActivityDocument, '_id' | 'instanceId'>>,
): Promise<void> {
  const deferred = await activities
    .find({ ...items, deferred: true }, { projection: { createdAt: 1 } })
    .toArray();
  if (deferred.length === 0) return;
  await activities.bulkWrite(
    deferred.map(({ _id, createdAt }) => ({
      updateOne: {
        filter: { _id, deferred: true },
        update: { $set: { availableAt: createdAt, deferred: false } },
      },
    })),
    { ordered: false },
  );
}

function take(
  { activities }: MongoContext,
  { claim }: ClaimRequest,
  candidate: Candidate,
): Promise<WithId<ActivityDocument> | null> {
  const { _id, availableAt, attempt } = candidate;
  const { guard, set } = slotClaimOf(candidate);
  const update = claimUpdate(claim);
  return activities.findOneAndUpdate(
    { _id, done: false, settled: false, availableAt, attempt, ...guard },
    { ...update, $set: { ...update.$set, ...set } },
    { returnDocument: 'after' },
  );
}

/** Undoes `take`: the previous holder of the item holds it again. An item that was withdrawn in between isn't deferred. */
async function putBack(
  { activities }: MongoContext,
  { claim }: ClaimRequest,
  candidate: Candidate,
  place: { readonly availableAt: number; readonly deferred?: boolean },
): Promise<void> {
  const { _id, attempt, availableAt, tokenHash, workerId } = candidate;
  const mine = { _id, done: false, tokenHash: encodeText(claim.tokenHash), attempt: attempt + 1 };
  const { set, ...rest } = slotsPutBack(candidate);
  const before = { attempt, tokenHash, workerId, ...set };
  const { matchedCount } = await activities.updateOne(
    { ...mine, settled: false },
    { $set: { ...before, ...place }, ...rest },
  );
  if (matchedCount === 0) {
    await activities.updateOne(mine, { $set: { ...before, availableAt }, ...rest });
  }
}

async function defer(
  context: MongoContext,
  request: ClaimRequest,
  candidate: Candidate,
): Promise<void> {
  await putBack(context, request, candidate, deferredPlace(request));
  // Otherwise, its other items with that name would be next.
  await deferAll(context, request, candidate.instanceId);
}

function deferredPlace({ deferMs, now }: ClaimRequest): { availableAt: number; deferred: true } {
  return { availableAt: now + Math.max(1, deferMs), deferred: true };
}

async function deferAll(
  context: MongoContext,
  request: ClaimRequest,
  instanceId: string,
): Promise<void> {
  const due = {
    instanceId,
    name: encodeText(request.name),
    done: false,
    settled: false,
    availableAt: { $lte: request.now },
  };
  const place = deferredPlace(request);
  // An ended lease must not hold slots until the new time.
  const revoked = { $set: { ...REVOCATION.$set, ...place }, $unset: REVOCATION.$unset };
  await context.activities.bulkWrite([
    { updateMany: { filter: { ...due, slots: { $exists: true } }, update: revoked } },
    { updateMany: { filter: due, update: { $set: place } } },
  ]);
  // If the instance was resumed in the meantime, that resume looked for deferred items too early.
  if ((await statusOf(context, instanceId)) === 'Runnable') {
    await makeDeferredAvailable(context, { instanceId });
  }
}

async function statusOf({ instances }: MongoContext, instanceId: string): Promise<string | null> {
  const instance = await instances.findOne({ _id: instanceId }, { projection: { status: 1 } });
  return instance?.status ?? null;
}

export async function findAvailableActivities(
  { activities }: MongoContext,
  [names, now]: OperationArguments<'findAvailableActivities'>,
): Promise<readonly string[]> {
  const found = await Promise.all(
    names.map((name) =>
      activities.findOne(
        {
          name: encodeText(name),
          done: false,
          settled: false,
          priority: ANY_PRIORITY,
          availableAt: { $lte: now },
        },
        { projection: { _id: 1 } },
      ),
    ),
  );
  return names.filter((_name, index) => found[index] !== null);
}

/** The count of a group of items. */
interface Count {
  readonly _id: string;
  readonly count: number;
  readonly oldestCreatedAt: number;
}

/** Held and waiting items, of which none is withdrawn, are counted separately: every server can group the results of a plain filter. */
export async function listActivityQueues(
  { activities }: MongoContext,
  [now, limit]: OperationArguments<'listActivityQueues'>,
): Promise<readonly ActivityQueue[]> {
  const countEach = (items: object): Promise<Count[]> =>
    activities
      .aggregate<Count>([
        { $match: { done: false, ...items } },
        {
          $group: {
            _id: '$name',
            count: { $sum: 1 },
            oldestCreatedAt: { $min: '$createdAt' },
          },
        },
      ])
      .toArray();
  const [waiting, held] = await Promise.all([
    countEach({ settled: false, $or: [{ tokenHash: null }, { availableAt: { $lte: now } }] }),
    countEach({ tokenHash: { $ne: null }, availableAt: { $gt: now } }),
  ]);
  const heldByName = new Map(held.map(({ _id, count }) => [_id, count]));
  const queues = waiting.map(({ _id, count, oldestCreatedAt }) => ({
    _id,
    waiting: count,
    held: heldByName.get(_id) ?? 0,
    oldestCreatedAt,
  }));
  const names = new Set(waiting.map(({ _id }) => _id));
  const onlyHeld = held.flatMap(({ _id, count }) =>
    names.has(_id) ? [] : [{ _id, waiting: 0, held: count, oldestCreatedAt: null }],
  );
  return [...queues, ...onlyHeld]
    .sort((left, right) => right.waiting - left.waiting || compareText(left._id, right._id))
    .slice(0, limit)
    .map(({ _id, ...queue }) => ({ name: decodeText(_id), ...queue }));
}

const LISTED_FIELDS = {
  instanceId: 1,
  priority: 1,
  ...FAIRNESS_FIELDS,
  createdAt: 1,
  availableAt: 1,
  attempt: 1,
  workerId: 1,
  deferred: 1,
  tokenHash: 1,
};

export async function listActivityItems(
  { activities, instances }: MongoContext,
  [name, now, after, limit]: OperationArguments<'listActivityItems'>,
): Promise<readonly ActivityListItem[]> {
  const isListed = {
    $or: [{ settled: false }, { tokenHash: { $ne: null }, availableAt: { $gt: now } }],
  };
  const filter = {
    name: encodeText(name),
    done: false,
    priority: ANY_PRIORITY,
    $and: [isListed, ...beyond(after)],
  };
  const found = await activities
    .find(filter, { projection: LISTED_FIELDS })
    .sort({ availableAt: 1, _id: 1 })
    .limit(limit)
    .toArray();
  const runs = await instances
    .find(
      { _id: { $in: [...new Set(found.map(({ instanceId }) => instanceId))] } },
      { projection: { definitionId: 1, reference: 1 } },
    )
    .toArray();
  const runOf = new Map(runs.map((run) => [run._id, run]));
  return found.map(({ _id, priority, createdAt, availableAt, attempt, deferred, ...item }) => ({
    priority: priority ?? DEFAULT_PRIORITY,
    fairnessKey: fairnessOf(item)?.key ?? null,
    createdAt,
    availableAt,
    attempt,
    deferred: deferred && availableAt !== FAR_FUTURE_MS,
    limited: deferred && availableAt === FAR_FUTURE_MS,
    id: decodeText(_id),
    instanceId: decodeText(item.instanceId),
    workerId: decodeOptional(item.workerId),
    claimed: item.tokenHash !== null,
    definitionId: decodeOptional(runOf.get(item.instanceId)?.definitionId ?? null),
    reference: decodeOptional(runOf.get(item.instanceId)?.reference ?? null),
  }));
}

/** The first condition limits the range of the index. */
function beyond(
  after: { readonly availableAt: number; readonly id: string } | null,
): readonly Filter<ActivityDocument>[] {
  if (after === null) return [];
  const { availableAt, id } = after;
  return [
    { availableAt: { $gte: availableAt } },
    { $or: [{ availableAt: { $gt: availableAt } }, { _id: { $gt: encodeText(id) } }] },
  ];
}
