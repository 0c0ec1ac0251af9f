/**
 * Completed steps that can be compensated: recorded for the saga around them, otherwise for the instance, which needs them
 * when it is terminated with clean-up.
 *
 * A saga ends eventually, but an instance may loop forever: it keeps the newest entries and only counts the others.
 */
import type { WorkflowInstance } from '../model/instance.js';
import { jsonLength } from '../values/json-length.js';
import type { CompensationEntry, Pointer } from '../model/pointer.js';
import { itemOf, parentOf } from '../flow/pointers.js';
import { stepOf, type Run } from '../flow/run.js';

/** Maximum number of entries that an instance keeps … */
export const COMPLETED_STEPS_MAX = 1000;
/** … and maximum size of their items, in bytes of JSON. */
export const COMPLETED_ITEMS_LENGTH_MAX = 1_000_000;
/** Size of an entry in the stored state, without its item. */
const ENTRY_LENGTH = 100;

/** Records a step that completed, before its history record is written. */
export function noteCompleted(run: Run, pointer: Pointer): void {
  const { compensateWith } = stepOf(run, pointer);
  if (compensateWith === null && pointer.completed.length === 0) return;
  const own: CompensationEntry[] = [];
  if (compensateWith !== null) {
    const sequence = run.instance.spilled + run.instance.recent.length;
    own.push({ ...entryOf(pointer), sequence });
  }
  pass(run, pointer, [...pointer.completed, ...own]);
}

/** What compensates a step, wherever it ran. */
export function entryOf(pointer: Pointer): CompensationEntry {
  return { stepId: pointer.stepId, ...itemOf(pointer), within: [] };
}

/** A pointer is cancelled: the steps that completed inside it, and are not compensated yet, can still be compensated. */
export function passOnCompleted(run: Run, pointer: Pointer): void {
  const entries = notUndone(pointer);
  if (entries.length > 0) pass(run, pointer, entries);
}

/** In order of completion. An interrupted chain has not compensated its step. */
function notUndone({ completed, state }: Pointer): readonly CompensationEntry[] {
  if (state.kind !== 'compensating') return completed;
  return state.plan.slice(Math.max(0, state.next - 1)).toReversed();
}

/** The pointer and the containers around it, innermost first, as far as errors propagate. */
export function* withAncestors(run: Run, pointer: Pointer): Generator<Pointer> {
  for (let at: Pointer | null = pointer; at !== null; at = parentOf(run, at)) {
    yield at;
    // Nothing that happens in a compensation propagates to the step that is being compensated.
    if (parentOf(run, at)?.state.kind === 'compensating') return;
  }
}

function pass(run: Run, from: Pointer, entries: readonly CompensationEntry[]): void {
  const within: number[] = [];
  let outermost = from;
  for (const ancestor of withAncestors(run, from)) {
    outermost = ancestor;
    if (ancestor === from) continue;
    if (stepOf(run, ancestor).saga) {
      ancestor.completed.push(...entries.map((entry) => ({ ...entry, within })));
      return;
    }
    within.unshift(ancestor.id);
  }
  // Compensation steps are not compensated themselves.
  if (outermost.parentId !== null || run.instance.cleanUp !== null) return;
  for (const entry of entries) keep(run, { ...entry, within });
}

function keep(run: Run, entry: CompensationEntry): void {
  const { instance } = run;
  const length = itemLength(entry);
  instance.completed.push(entry);
  instance.completedItemsLength += length;
  run.grown += ENTRY_LENGTH + length;
  while (isOverfull(instance)) {
    const oldest = instance.completed.shift();
    if (oldest === undefined) return;
    instance.completedItemsLength -= itemLength(oldest);
    instance.forgotten += 1;
  }
}

function isOverfull({ completed, completedItemsLength }: WorkflowInstance): boolean {
  return (
    completed.length > COMPLETED_STEPS_MAX || completedItemsLength > COMPLETED_ITEMS_LENGTH_MAX
  );
}

function itemLength({ item }: CompensationEntry): number {
  return item === undefined ? 0 : jsonLength(item);
}
