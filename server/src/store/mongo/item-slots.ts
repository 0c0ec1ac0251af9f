/** The slots that a claim of an item takes: see slot-keys.ts. */
import { randomUUID } from 'node:crypto';
import type { Filter } from 'mongodb';
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import type { LimitKey } from '../records/slots.js';
import { FAR_FUTURE_MS } from '../store.js';
import type { Candidate } from './candidate-fields.js';
import type { ActivityDocument } from './documents.js';
import { sameFairness } from './fairness-fields.js';
import type { NeedDocument } from './slot-documents.js';
import type { MongoContext } from './mongo-context.js';
import { takeAll } from './slot-decisions.js';
import { type ReplacedKey } from './slot-keys.js';
import { limitKeyOf } from './slot-names.js';

type NeedingCandidate = Candidate & { readonly needs: readonly NeedDocument[] };

/** `refused`: the key for which the item waits from now on; null: somebody else has got it. */
export async function takeSlotsOf(
  context: MongoContext,
  candidate: NeedingCandidate,
  now: number,
): Promise<{ readonly replaced: readonly ReplacedKey[] } | { readonly refused: LimitKey | null }> {
  const { _id, createdAt, instanceId, needs, priority, slots = [], slotTry = '' } = candidate;
  const asking = {
    execution: _id,
    instanceId,
    needs,
    own: slots,
    priority: priority ?? DEFAULT_PRIORITY,
    ...sameFairness(candidate),
    since: createdAt,
  };
  const taken = await takeAll(context, [asking], { now, taker: { slotTry } });
  if (taken.isFree) return { replaced: taken.replaced };
  const on = taken.refused[0]?.answer.on ?? '';
  const isLimited = await limitItem(context, candidate, on);
  return { refused: isLimited ? limitKeyOf(on) : null };
}

/** No claim finds the item until its turn comes. */
async function limitItem(
  { activities }: MongoContext,
  { _id, attempt, availableAt }: Candidate,
  slotOn: string,
): Promise<boolean> {
  const limited = { availableAt: FAR_FUTURE_MS, deferred: true, tokenHash: null, workerId: null };
  const { matchedCount } = await activities.updateOne(
    { _id, done: false, settled: false, availableAt, attempt },
    { $set: { ...limited, slotOn, slotState: 'waiting' }, $unset: { slots: '' } },
  );
  return matchedCount > 0;
}

/** What a claim checks and writes. */
export function slotClaimOf({ needs, slotTry }: Candidate): {
  readonly guard: Filter<ActivityDocument>;
  readonly set: Partial<ActivityDocument>;
} {
  if (needs === undefined || slotTry === undefined) return { guard: {}, set: {} };
  return { guard: { slotTry }, set: { slots: needs, slotTry: randomUUID() } };
}

/** Undoes that. The previous holder has no slots any more. */
export function slotsPutBack({ needs, slotOn, slotState }: Candidate): {
  readonly set: Partial<ActivityDocument>;
  readonly $unset?: { readonly slots: '' };
} {
  if (needs === undefined) return { set: {} };
  const wait = slotOn === undefined || slotState === undefined ? {} : { slotOn, slotState };
  return { set: { ...wait, slotsLost: true }, $unset: { slots: '' } };
}

/** The update of an item that nobody holds any more. */
export function releasedSlots({ needs }: Pick<ActivityDocument, 'needs'>): {
  readonly set: Partial<ActivityDocument>;
  readonly $unset?: { readonly slots: '' };
} {
  const [first] = needs ?? [];
  if (first === undefined) return { set: {} };
  return { set: { slotOn: first.on, slotState: 'offered' }, $unset: { slots: '' } };
}
