/**
 * Claims of references, by which starts with a conflict rule take effect one after another (rule S10), and claims of the places of
 * a key, by which starts and grants do (S14), although no operation spans two documents.
 *
 *   read the claim --> finish what it holds --> look for open instances --> replace the claim --> insert or grant, clear
 *
 * Invariants:
 *  RC1 A start takes effect when it replaces the claim that it has read, by compare-and-set on its token. Of several that
 *      have read the same claim, one succeeds; the others begin again.
 *  RC2 The claim contains the new instance until it is inserted. So whoever reads the claim can insert the instance in
 *      place of a process that died, and no start decides without it.
 *  RC3 A claim may be removed when it contains nothing and its instance is gone: then it says no more than a missing one. While the
 *      instance is kept, a start that has read no claim, and was slow, must fail to make one: it hasn't seen the instance.
 *  RC4 A start with both kinds of rule replaces the claim of its places, which names the claim of its reference. It takes effect
 *      when that one is replaced, too, which whoever reads the first claim does. If another start was faster there, it has none.
 *  RC5 A start with slots has no effect if its attempt was given up (LB5). Then its process begins again.
 */
import { randomUUID } from 'node:crypto';
import type { InstanceDocument, ReferenceClaimDocument, SecondClaim } from './documents.js';
import type { MongoContext, SweepPosition } from './mongo-context.js';
import { isDuplicateKey } from './mongo-errors.js';
import { decideStart, forgetStart } from './slot-starts.js';
import type { PriorityTurns } from './turn-documents.js';

type ClaimContext = Pick<MongoContext, 'instances' | 'referenceClaims' | 'slotStarts'>;

/** A claim as it was read; the token is null if there was none. */
export interface KnownClaim {
  readonly key: string;
  readonly token: string | null;
  /** Of those that wait for a place. Absent: none has taken one. */
  readonly turns?: readonly PriorityTurns[];
}

export async function readClaim(context: ClaimContext, key: string): Promise<KnownClaim> {
  const claim = await context.referenceClaims.findOne({ _id: key });
  if (claim === null) return { key, token: null };
  if (claim.granting !== undefined) await finishGrant(context, claim, claim.granting);
  await finishStartOfOther(context, claim);
  const { token, turns } = claim;
  return { key, token, ...(turns !== undefined && { turns }) };
}

/** Replaces the claims, the one of a reference last, and inserts the instance. Returns false if another start was faster. */
export async function claimAndInsert(
  context: ClaimContext,
  [claim, second]: readonly [KnownClaim, KnownClaim?],
  { at, instance }: { readonly at: number; readonly instance: InstanceDocument },
): Promise<boolean> {
  const content = {
    _id: claim.key,
    token: randomUUID(),
    instanceId: instance._id,
    at,
    starting: instance,
    ...(second !== undefined && { reference: { ...second, next: randomUUID() } }),
  };
  return (await replaceClaim(context, content, claim.token)) && finishStart(context, content);
}

/** Starts that have read the claim before see the instance that has entered the queue when they look again. */
export async function noteEntry(
  context: ClaimContext,
  key: string,
  content: Pick<ReferenceClaimDocument, 'at' | 'instanceId'>,
): Promise<void> {
  for (;;) {
    const { token } = await readClaim(context, key);
    const claim = { _id: key, token: randomUUID(), ...content };
    if (await replaceClaim(context, claim, token)) return;
  }
}

interface Granting {
  readonly at: number;
  readonly granting: readonly [string, ...string[]];
  /** Omitted: they stay as they are. */
  readonly turns?: readonly PriorityTurns[];
}

/** Replaces the claim of the places of a key, and gives a place to these instances. Returns false if another one was faster. */
export async function claimAndGrant(
  context: ClaimContext,
  { key, token }: KnownClaim,
  { granting, ...grant }: Granting,
): Promise<boolean> {
  const content = { _id: key, token: randomUUID(), instanceId: granting[0], granting, ...grant };
  if (!(await replaceClaim(context, content, token))) return false;
  await finishGrant(context, content, granting);
  return true;
}

async function replaceClaim(
  { referenceClaims }: ClaimContext,
  content: ReferenceClaimDocument,
  known: string | null,
): Promise<boolean> {
  if (known !== null) {
    const { _id, ...fields } = content;
    const replaced = await referenceClaims.updateOne({ _id, token: known }, { $set: fields });
    return replaced.matchedCount > 0;
  }
  try {
    await referenceClaims.insertOne(content);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

/** Those that have ended, or have begun without a place in between, don't need one. */
async function finishGrant(
  { instances, referenceClaims }: ClaimContext,
  { _id, token }: Pick<ReferenceClaimDocument, '_id' | 'token'>,
  granting: readonly string[],
): Promise<void> {
  await instances.updateMany(
    { _id: { $in: [...granting] }, place: 'waiting', openChangedAt: { $exists: true } },
    { $set: { place: 'held' } },
  );
  await referenceClaims.updateOne({ _id, token }, { $unset: { granting: '' } });
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

/** Returns false if the start has no effect. */
async function finishStart(
  context: ClaimContext,
  { _id, reference, starting, token, ...claim }: ReferenceClaimDocument,
): Promise<boolean> {
  if (starting === undefined) return true;
  const { instances, referenceClaims } = context;
  let hasEffect = true;
  if (reference === undefined) {
    hasEffect = await decideStart(context, starting);
    try {
      if (hasEffect) await instances.insertOne(starting);
    } catch (error) {
      // Its own process, or another one, was faster.
      if (!isDuplicateKey(error)) throw error;
    }
    await forgetStart(context, starting);
  } else hasEffect = await finishSecond(context, { ...claim, starting }, reference);
  await referenceClaims.updateOne({ _id, token }, { $unset: { starting: '', reference: '' } });
  return hasEffect;
}

/** RC4 */
async function finishSecond(
  context: ClaimContext,
  start: Required<Pick<ReferenceClaimDocument, 'at' | 'instanceId' | 'starting'>>,
  { key, next, token }: SecondClaim,
): Promise<boolean> {
  const content = { _id: key, token: next, ...start };
  if (await replaceClaim(context, content, token)) return finishStart(context, content);
  const claim = await context.referenceClaims.findOne({ _id: key });
  if (claim?.token === next) return finishStart(context, content);
  // Whoever has replaced it again has inserted the instance before.
  const inserted = await context.instances.findOne(
    { _id: start.instanceId },
    { projection: { _id: 1 } },
  );
  return inserted !== null;
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
