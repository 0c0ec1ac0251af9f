/** The slots that an insert takes or waits for. */
import { randomUUID } from 'node:crypto';
import type { InsertInstance } from '../records/instances.js';
import type { RefusedSlots } from '../records/slots.js';
import { encodeText } from '../text-codec.js';
import type { InstanceDocument } from './documents.js';
import { fairnessFieldsOf } from './fairness-fields.js';
import type { MongoContext } from './mongo-context.js';
import {
  changedFields,
  hasSlotChanges,
  prepareChanges,
  type PreparedChanges,
} from './slot-changes.js';
import { slotFieldsOf } from './slot-fields.js';
import { restoreKeys } from './slot-keys.js';
import { removeWaits } from './slot-waits.js';

export interface StartSlots extends PreparedChanges {
  /** Of the new instance. */
  readonly fields: Partial<InstanceDocument>;
}

export const NO_SLOTS: StartSlots = {
  replaced: [],
  waits: [],
  items: new Map(),
  limitedBy: [],
  fields: {},
};

export async function slotsOfStart(
  context: MongoContext,
  { record, side, slots }: InsertInstance,
  ending: readonly string[] = [],
): Promise<StartSlots | { readonly refused: readonly RefusedSlots[] }> {
  if (!hasSlotChanges(slots, side)) return NO_SLOTS;
  const slotAttempt = randomUUID();
  const prepared = await prepareChanges(context, {
    instanceId: encodeText(record.id),
    priority: record.priority,
    ...fairnessFieldsOf(record.fairness),
    now: record.lastChangeAt,
    slots,
    side,
    known: {},
    ending,
    guard: null,
    taker: { attempt: slotAttempt },
    isRunnable: record.status === 'Runnable',
  });
  if ('refused' in prepared) return prepared;
  const { items, replaced, waits } = prepared;
  const fields = {
    ...(slots !== undefined && slotFieldsOf(changedFields({}, slots, waits)).set),
    ...(replaced.length > 0 && { slotAttempt }),
    ...(waits.length + items.size > 0 && { mayWait: true as const }),
  };
  return { ...prepared, fields };
}

/** The instance wasn't inserted. */
export async function takeBackSlots(
  context: MongoContext,
  { replaced, waits }: StartSlots,
): Promise<void> {
  await restoreKeys(context, replaced);
  await removeWaits(context, waits);
}
