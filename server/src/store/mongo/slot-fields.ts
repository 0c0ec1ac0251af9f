/** The slots in the document of an instance. */
import { randomUUID } from 'node:crypto';
import type { InstanceDocument } from './documents.js';
import type { SlotDocument } from './slot-documents.js';
import { limitIn } from './slot-names.js';

export type SlotFields = Pick<InstanceDocument, 'slots' | 'slotWaits' | 'slotRevision'>;
export const SLOT_FIELDS = { slots: 1, slotWaits: 1, slotRevision: 1 } as const;

/** What is unset when an instance ends. */
export const WITHOUT_SLOTS = { slots: '', slotWaits: '', slotRevision: '' } as const;

/** An execution has one slot of each limit. */
export function withSlots(
  slots: readonly SlotDocument[],
  taken: readonly SlotDocument[],
): readonly SlotDocument[] {
  const isReplaced = ({ execution, on }: SlotDocument): boolean =>
    taken.some((each) => each.execution === execution && limitIn(each.on) === limitIn(on));
  return [...slots.filter((slot) => !isReplaced(slot)), ...taken];
}

/** The fields as they are written, with a new revision. */
export function slotFieldsOf({ slots = [], slotWaits = [] }: SlotFields): {
  readonly set: SlotFields & { readonly slotRevision: string };
  readonly unset: Readonly<Record<string, ''>>;
} {
  return {
    set: {
      slotRevision: randomUUID(),
      ...(slots.length > 0 && { slots }),
      ...(slotWaits.length > 0 && { slotWaits }),
    },
    unset: {
      ...(slots.length === 0 && { slots: '' as const }),
      ...(slotWaits.length === 0 && { slotWaits: '' as const }),
    },
  };
}
