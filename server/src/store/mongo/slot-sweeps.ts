/** Removes what dead processes have left, and keys that say nothing any more. */
import type { MongoContext } from './mongo-context.js';
import { unsettled } from './slot-holders.js';
import { finishSlotStarts } from './slot-starts.js';
import { removeWaits, verifyWaits } from './slot-waits.js';

interface Sweep {
  readonly before: number;
  readonly limit: number;
}

/** @param spentBefore keys are removed whose rate is spent no longer than this */
export async function sweepSlots(
  context: MongoContext,
  sweep: Sweep,
  spentBefore: number,
): Promise<void> {
  await finishSlotStarts(context, sweep);
  await sweepKeys(context, { ...sweep, before: spentBefore });
  await sweepWaits(context, sweep);
}

/** Looks at the next keys about which nothing was decided since: what is held is stored with its holders. */
async function sweepKeys(context: MongoContext, { before, limit }: Sweep): Promise<void> {
  const { limitKeys, limitKeySweep: position } = context;
  const after = position.after ?? Number.NEGATIVE_INFINITY;
  const old = await limitKeys
    .find({ at: { $gt: after, $lt: before } })
    .sort({ at: 1 })
    .limit(limit)
    .toArray();
  // Those of the same time that didn't fit come with a later sweep, when some before them are gone.
  position.after = old.length < limit ? null : (old.at(-1)?.at ?? null);
  const removals: { deleteOne: { filter: { _id: string; token: string } } }[] = [];
  for (const { _id, spentUntil, takings, token } of old) {
    if (spentUntil >= before) continue;
    if ((await unsettled(context, takings, before)).length > 0) continue;
    removals.push({ deleteOne: { filter: { _id, token } } });
  }
  if (removals.length > 0) await limitKeys.bulkWrite(removals, { ordered: false });
}

/** Looks at the next waits. A process that died before it inserted their instances has left them. */
async function sweepWaits(context: MongoContext, { before, limit }: Sweep): Promise<void> {
  const { slotWaits, slotWaitSweep: position } = context;
  const found = await slotWaits
    .find(position.after === null ? {} : { _id: { $gt: position.after } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
  position.after = found.length < limit ? null : (found.at(-1)?._id ?? null);
  const old = found.filter(({ since }) => since < before);
  const verified = await verifyWaits(context, old);
  const missing = verified.filter(({ state, wait }) => state === 'pending' && wait.guard === null);
  await removeWaits(
    context,
    missing.map(({ wait }) => wait),
  );
}
