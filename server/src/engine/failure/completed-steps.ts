/**
 * The steps that can be compensated: completed steps, and steps that had begun when they failed or were stopped. They are
 * recorded for the enclosing saga, or else for the instance, which needs them if it is terminated with clean-up.
 *
 * Lists are ordered by the end of the executions. An open container counts as ended just before the oldest step inside it, so
 * that it is undone after its steps. A saga ends eventually, but an instance may loop forever, so it keeps only the newest
 * entries and counts the others.
 */
import type { Instance } from '../model/instance.js';
import { jsonLength } from '../values/json-length.js';
import type { CompensationEntry, Pointer } from '../model/pointer.js';
import { itemOf, parentOf } from '../session/pointers.js';
import { stepOf, type Session } from '../session/session.js';
import type { Begun } from './begun.js';

/** Maximum number of entries that an instance keeps … */
export const COMPLETED_STEPS_MAX = 1000;
/** … and maximum size of their items, in bytes of JSON. */
export const COMPLETED_ITEMS_LENGTH_MAX = 1_000_000;
/** Size of an entry in the stored state, without its item. */
const ENTRY_LENGTH = 100;

/** Records a step that completed, before its history record is written. */
export function noteCompleted(session: Session, pointer: Pointer): void {
  noteEnded(session, pointer, { outcome: 'Completed' });
}

/**
 * Records the end of a step that may have to be compensated, and the steps inside it that can still be compensated.
 * @param begun null: the step itself needs no compensation
 * @param position of its record in the history; default: the position of the next record
 */
export function noteEnded(
  session: Session,
  pointer: Pointer,
  begun: Begun | null,
  position = lastPosition(session.instance) + 1,
): void {
  const entries = notUndone(pointer).map((entry) => ({ entry, isOpen: false }));
  if (begun !== null && stepOf(session, pointer).compensateWith !== null) {
    // A completed container ended after the steps inside it.
    const isOpen = begun.outcome !== 'Completed' && pointer.oldestInside !== undefined;
    const sequence = isOpen ? (pointer.oldestInside ?? position) : position;
    entries.push({ entry: { ...entryOf(pointer, begun), sequence }, isOpen });
  }
  if (entries.length > 0) pass(session, pointer, entries);
}

interface Noted {
  readonly entry: CompensationEntry;
  /** An open container, which comes just before the oldest of the steps inside it. */
  readonly isOpen: boolean;
}

/** The position of the newest record in the history. */
export function lastPosition({ recent, spilled }: Instance): number {
  return spilled + recent.length - 1;
}

/** The compensation entry of a step, wherever the step ran. */
export function entryOf(pointer: Pointer, { error = null, outcome }: Begun): CompensationEntry {
  return {
    stepId: pointer.stepId,
    executionId: pointer.id,
    ...itemOf(pointer),
    ...(outcome !== 'Completed' && { outcome }),
    ...(error !== null && {
      error: { type: error.type, message: error.message, data: error.data },
    }),
  };
}

/** Called for a canceled pointer: passes on the steps that completed inside it, so that they can still be compensated. */
export function passOnCompleted(session: Session, pointer: Pointer): void {
  noteEnded(session, pointer, null);
}

/** In order of completion. An interrupted chain has not compensated its step. */
function notUndone({ completed, state }: Pointer): readonly CompensationEntry[] {
  if (state.kind !== 'compensating') return completed;
  return state.plan.slice(Math.max(0, state.next - 1)).toReversed();
}

/** The pointer and its enclosing containers, innermost first, up to where errors stop propagating. */
export function* withAncestors(session: Session, pointer: Pointer): Generator<Pointer> {
  for (let at: Pointer | null = pointer; at !== null; at = parentOf(session, at)) {
    yield at;
    // Nothing propagates from a compensation to the step that it compensates.
    if (parentOf(session, at)?.state.kind === 'compensating') return;
  }
}

function pass(session: Session, from: Pointer, entries: readonly Noted[]): void {
  const oldest = entries.reduce((least, { entry }) => Math.min(least, positionOf(entry)), Infinity);
  let outermost = from;
  for (const ancestor of withAncestors(session, from)) {
    outermost = ancestor;
    if (ancestor === from) continue;
    ancestor.oldestInside = Math.min(oldest, ancestor.oldestInside ?? oldest);
    if (stepOf(session, ancestor).saga) {
      for (const noted of entries) insert(ancestor.completed, noted);
      return;
    }
  }
  // Compensation steps are not compensated themselves.
  if (outermost.parentId !== null || isUndoing(session.instance)) return;
  for (const noted of entries) keep(session, noted);
}

function isUndoing({ cleanUp }: Instance): boolean {
  return cleanUp !== null && cleanUp.plan !== null;
}

/** The position is nearly always at the end. */
function insert(entries: CompensationEntry[], { entry, isOpen }: Noted): void {
  const position = positionOf(entry);
  let at = entries.length;
  for (; at > 0; at -= 1) {
    const before = positionOf(entries[at - 1]);
    if (before < position || (before === position && !isOpen)) break;
  }
  entries.splice(at, 0, entry);
}

function positionOf(entry: CompensationEntry | undefined): number {
  return entry?.sequence ?? 0;
}

function keep(session: Session, noted: Noted): void {
  const { instance } = session;
  const length = itemLength(noted.entry);
  insert(instance.completed, noted);
  instance.completedItemsLength += length;
  session.grown += ENTRY_LENGTH + length;
  // Once a clean-up has begun, no entry is dropped.
  while (instance.cleanUp === null && isOverfull(instance)) {
    const oldest = instance.completed.shift();
    if (oldest === undefined) return;
    instance.completedItemsLength -= itemLength(oldest);
    instance.forgotten += 1;
  }
}

function isOverfull({ completed, completedItemsLength }: Instance): boolean {
  return (
    completed.length > COMPLETED_STEPS_MAX || completedItemsLength > COMPLETED_ITEMS_LENGTH_MAX
  );
}

function itemLength({ item }: CompensationEntry): number {
  return item === undefined ? 0 : jsonLength(item);
}
