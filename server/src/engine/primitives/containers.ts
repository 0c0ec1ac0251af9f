/** Functions shared by containers: opening the sequences of Do, and finishing. */
import { noteCompleted } from '../failure/completed-steps.js';
import { endPointer } from '../flow/end-path.js';
import type { Pointer } from '../model/pointer.js';
import { finish, setState } from '../flow/pointer-states.js';
import { insideOf, openPointer, type Surroundings } from '../flow/pointers.js';
import { stepOf, type Run } from '../flow/run.js';

/** Starts every sequence of Do in parallel; if Do is empty, the container joins immediately. */
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

/** Ends the work of the container: it finishes, or simply ends if its successors have already started. */
export function finishContainer(run: Run, pointer: Pointer): void {
  if (!pointer.inBackground) {
    finish(run, pointer, {});
    return;
  }
  noteCompleted(run, pointer);
  endPointer(run, pointer, { status: 'Complete', successors: [] });
}
