/** What the containers share: opening the sequences of Do, and being done. */
import { noteCompleted } from '../failure/completed-steps.js';
import { endPointer } from '../flow/end-path.js';
import type { Pointer } from '../model/pointer.js';
import { finish, setState } from '../flow/pointer-states.js';
import { insideOf, openPointer, type Surroundings } from '../flow/pointers.js';
import { stepOf, type Run } from '../flow/run.js';

/** Starts every sequence of Do side by side; with nothing in Do the container has joined at once. */
export function openSequences(
  run: Run,
  pointer: Pointer,
  surroundings: Surroundings = insideOf(pointer),
): void {
  setState(run, pointer, { kind: 'open' });
  const sequences = stepOf(run, pointer).do;
  for (const entry of sequences) openPointer(run, entry, surroundings);
  if (sequences.length === 0) run.joins.add(pointer.id);
}

/** The container is done: it finishes, or just ends where its successors are under way already. */
export function finishContainer(run: Run, pointer: Pointer): void {
  if (!pointer.inBackground) {
    finish(run, pointer, {});
    return;
  }
  noteCompleted(run, pointer);
  endPointer(run, pointer, { status: 'Complete', successors: [] });
}
