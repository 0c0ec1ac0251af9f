/**
 * Claims of references, by which starts with a conflict rule take effect one after another (rule S10), although no operation
 * spans two documents.
 *
 *   read the claim --> finish the start that it holds --> look for open instances --> replace the claim --> insert, clear
 *
 * Invariants:
 *  RC1 A start takes effect when it replaces the claim that it has read, by compare-and-set on its token. Of several that
 *      have read the same claim, one succeeds; the others begin again.
 *  RC2 The claim contains the new instance until it is inserted. So whoever reads the claim can insert the instance in
 *      place of a process that died, and no start decides without it.
 *  RC3 A claim may be removed when it contains nothing and its instance is gone: then it says no more than a missing one. While the
 *      instance is kept, a start that has read no claim, and was slow, must fail to make one: it hasn't seen the instance.
 */
import { randomUUID } from 'node:crypto';
import type { InstanceDocument, ReferenceClaimDocument } from './documents.js';
import type { MongoContext, SweepPosition } from './mongo-context.js';
import { isDuplicateKey } from './mongo-errors.js';

type ClaimContext = Pick<MongoContext, 'instances' | 'referenceClaims'>;

/** Returns the token to replace; null if the reference is unclaimed. */
export async function readClaim(context: ClaimContext, key: string): Promise<string | null> {
  const claim = await context.referenceClaims.findOne({ _id: key });
  if (claim === null) return null;
  await finishStartOfOther(context, claim);
  return claim.token;
}

/** Replaces the claim and inserts the instance. Returns false if another start was faster. */
export async function claimAndInsert(
  context: ClaimContext,
  claim: { readonly key: string; readonly token: string | null; readonly at: number },
  instance: InstanceDocument,
): Promise<boolean> {
  const { at, key, token: known } = claim;
  const token = randomUUID();
  const content = { token, instanceId: instance._id, at, starting: instance };
  if (known === null) {
    try {
      await context.referenceClaims.insertOne({ _id: key, ...content });
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  } else {
    const replaced = await context.referenceClaims.updateOne(
      { _id: key, token: known },
      { $set: content },
    );
    if (replaced.matchedCount === 0) return false;
  }
  await finishStart(context, { _id: key, ...content });
  return true;
}

/**
 * The other process may have died. The instance is due immediately: nobody may have looked for events since its waits were
 * subscribed.
 */
async function finishStartOfOther(
  context: ClaimContext,
  claim: ReferenceClaimDocument,
): Promise<void> {
  const { starting } = claim;
  if (starting === undefined) return;
  const isOpen = starting.endTime === null;
  await finishStart(context, {
    ...claim,
    starting: isOpen ? { ...starting, wakeAt: 0 } : starting,
  });
}

async function finishStart(
  { instances, referenceClaims }: ClaimContext,
  { _id, starting, token }: ReferenceClaimDocument,
): Promise<void> {
  if (starting === undefined) return;
  try {
    await instances.insertOne(starting);
  } catch (error) {
    // Its own process, or another one, was faster.
    if (!isDuplicateKey(error)) throw error;
  }
  await referenceClaims.updateOne({ _id, token }, { $unset: { starting: '' } });
}

/** Finishes the starts of processes that died, before a purge could remove their instances. */
export async function finishStarts(context: ClaimContext, limit: number): Promise<void> {
  const claims = context.referenceClaims.find({ starting: { $exists: true } }).limit(limit);
  for await (const claim of claims) await finishStartOfOther(context, claim);
}

/** Looks at the next `limit` claims that were made before this time, and removes those that say nothing any more (RC3). */
export async function removeOldClaims(
  { instances, referenceClaims }: ClaimContext,
  position: SweepPosition<number>,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<void> {
  const after = position.after ?? Number.NEGATIVE_INFINITY;
  const old = await referenceClaims
    .find(
      { at: { $gt: after, $lt: before }, starting: { $exists: false } },
      { projection: { instanceId: 1, token: 1, at: 1 } },
    )
    .sort({ at: 1 })
    .limit(limit)
    .toArray();
  // Claims of the same millisecond that didn't fit come with a later sweep, when some before them are gone.
  position.after = old.length < limit ? null : (old.at(-1)?.at ?? null);
  if (old.length === 0) return;
  const ids = old.map(({ instanceId }) => instanceId);
  const kept = await instances.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
  const isKept = new Set(kept.map(({ _id }) => _id));
  const removals = old.flatMap(({ _id, instanceId, token }) =>
    isKept.has(instanceId) ? [] : [{ deleteOne: { filter: { _id, token } } }],
  );
  if (removals.length > 0) await referenceClaims.bulkWrite(removals, { ordered: false });
}
