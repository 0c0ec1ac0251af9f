/**
 * Hands out activities.
 *
 * The oldest candidate is found by the index, and taken by compare-and-set on its `_id`: a sorted findAndModify would do
 * both at once, but not every server uses the index for it. Then the instance is checked: an item of an instance that is
 * not Runnable is put back and deferred. This order ensures that no item is handed out whose instance was suspended before.
 */
import type { Filter, WithId } from 'mongodb';
import type { OperationArguments } from '../store-operations.js';
import type { ActivityRecord, ClaimedActivity, LongActivity } from '../records/activities.js';
import { encodeText } from '../text-codec.js';
import { activityOf, claimUpdate } from './activity-documents.js';
import type { Candidate } from './candidate-finder.js';
import type { ActivityDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';

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
  let contended = false;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const candidate = await context.candidates.find({ name, now, passedOver, contended });
    if (candidate === null) return null;
    const { parametersLength = 0 } = candidate;
    const item =
      parametersLength > lengthMax
        ? await tryLong(context, request, { ...candidate, parametersLength })
        : await tryCandidate(context, request, candidate);
    if (item === 'taken by others') contended = true;
    else if (item === 'not there yet') passedOver.add(candidate._id);
    else if (item !== 'deferred') return item;
  }
  return null;
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
 * If this fails, the item may be claimed although nobody knows it, so it is released as soon as the database responds.
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
  { _id, availableAt, attempt }: Candidate,
): Promise<WithId<ActivityDocument> | null> {
  return activities.findOneAndUpdate(
    { _id, done: false, settled: false, availableAt, attempt },
    claimUpdate(claim),
    { returnDocument: 'after' },
  );
}

/** Undoes `take`: the previous holder of the item holds it again. An item that was withdrawn meanwhile is not deferred. */
async function putBack(
  { activities }: MongoContext,
  { claim }: ClaimRequest,
  { _id, attempt, availableAt, tokenHash, workerId }: Candidate,
  place: { readonly availableAt: number; readonly deferred?: boolean },
): Promise<void> {
  const mine = { _id, done: false, tokenHash: encodeText(claim.tokenHash), attempt: attempt + 1 };
  const before = { attempt, tokenHash, workerId };
  const { matchedCount } = await activities.updateOne(
    { ...mine, settled: false },
    { $set: { ...before, ...place } },
  );
  if (matchedCount === 0) await activities.updateOne(mine, { $set: { ...before, availableAt } });
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
  await context.activities.updateMany(
    {
      instanceId,
      name: encodeText(request.name),
      done: false,
      settled: false,
      availableAt: { $lte: request.now },
    },
    { $set: deferredPlace(request) },
  );
  // If the instance was resumed in the meantime, that resume looked for deferred items too early.
  if ((await statusOf(context, instanceId)) === 'Runnable') {
    await makeDeferredAvailable(context, { instanceId });
  }
}

async function statusOf({ instances }: MongoContext, instanceId: string): Promise<string | null> {
  const instance = await instances.findOne({ _id: instanceId }, { projection: { status: 1 } });
  return instance?.status ?? null;
}
