/**
 * Starts with slots. An insert can't be made to fail once it is on its way, so it has effect when a document with the new instance is
 * in `slotStarts`, under an id that only this attempt uses. Whoever finds a taking of the attempt inserts the instance, or puts an
 * empty document there: then the attempt has no effect.
 */
import type { InstanceDocument, SlotStartDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';
import { isDuplicateKey } from './mongo-errors.js';

type Context = Pick<MongoContext, 'instances' | 'slotStarts'>;

const DECIDED = { readConcern: 'majority', readPreference: 'primary' } as const;

/** False: the attempt was given up. */
export async function decideStart(
  { slotStarts }: Pick<Context, 'slotStarts'>,
  instance: InstanceDocument,
): Promise<boolean> {
  const { slotAttempt: _id, startTime: at } = instance;
  if (_id === undefined) return true;
  const known = await insertOrGet(slotStarts, { _id, at, starting: instance });
  return known === null || known.starting !== undefined;
}

/** The instance exists. */
export async function forgetStart(
  { slotStarts }: Pick<Context, 'slotStarts'>,
  { slotAttempt: _id }: Pick<InstanceDocument, 'slotAttempt'>,
): Promise<void> {
  if (_id !== undefined) await slotStarts.deleteOne({ _id });
}

/** Inserts the instance if the attempt has effect, or gives it up if it is old. False: it goes on. */
export async function settleStart(
  context: Context,
  attempt: string,
  { at, isOld }: { readonly at: number; readonly isOld: boolean },
): Promise<boolean> {
  const { slotStarts } = context;
  const known = isOld
    ? await insertOrGet(slotStarts, { _id: attempt, at })
    : await slotStarts.findOne({ _id: attempt }, DECIDED);
  if (known === null) return isOld;
  await insertInstanceOf(context, known);
  return true;
}

/** The other process may have died. The instance is due immediately: nobody may have looked for events since. */
async function insertInstanceOf(
  { instances }: Context,
  { starting }: SlotStartDocument,
): Promise<void> {
  if (starting === undefined) return;
  const isOpen = starting.endTime === null;
  try {
    await instances.insertOne(isOpen ? { ...starting, wakeAt: 0 } : starting);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}

/** Finishes the starts of processes that died, before a purge could remove their instances, and forgets old ones. */
export async function finishSlotStarts(
  context: Context,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<void> {
  const found = await context.slotStarts
    .find({ at: { $lt: before } })
    .sort({ at: 1 })
    .limit(limit)
    .toArray();
  for (const start of found) await insertInstanceOf(context, start);
  const _id = { $in: found.map((start) => start._id) };
  if (found.length > 0) await context.slotStarts.deleteMany({ _id });
}

/** The document that was there before; null: this one is now. */
async function insertOrGet(
  slotStarts: Context['slotStarts'],
  document: SlotStartDocument,
): Promise<SlotStartDocument | null> {
  try {
    await slotStarts.insertOne(document);
    return null;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  const known = await slotStarts.findOne({ _id: document._id }, DECIDED);
  // Somebody has finished it, and forgotten it.
  return known ?? document;
}
