/**
 * The slots of executions, and what a commit has to change about them.
 *
 * Only the store knows whether slots are free. A step begins as if they were; if the commit is refused, it waits for them.
 */
import type { Pointer, PointerState } from '../model/pointer.js';
import type { SlotRequest } from '../model/slots.js';
import type { Session } from './session.js';

/** Called before a pointer moves to another state: frees what it doesn't hold or wait for there. */
export function freeUnlessKept(session: Session, pointer: Pointer, next: PointerState): void {
  const { slots, state } = pointer;
  if (slots === undefined || hasSlots(next)) return;
  delete pointer.slots;
  // The store frees them with the result. `withdrawItem` frees those of an item that is given up.
  if (state.kind !== 'activity') freeSlots(session, slots);
}

/** Whether an execution in this state takes, waits for or holds its slots. */
export function hasSlots({ kind }: PointerState): boolean {
  return kind === 'effect' || kind === 'child' || kind === 'limited' || kind === 'activity';
}

/** Frees what an execution holds or waits for, unless no commit contains it. */
export function freeSlots({ changes }: Session, slots: SlotRequest): void {
  const isOwn = ({ execution }: SlotRequest): boolean => execution === slots.execution;
  const isTaken = removeWhere(changes.takenSlots, isOwn);
  const isWaiting = removeWhere(changes.waitingSlots, isOwn);
  removeWhere(changes.begunSlots, (execution) => execution === slots.execution);
  if (!isTaken && !isWaiting) changes.freedSlots.push(slots);
}

/** Removes the only item that matches; false if there is none. */
export function removeWhere<Item>(list: Item[], isRemoved: (item: Item) => boolean): boolean {
  const at = list.findIndex(isRemoved);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}
