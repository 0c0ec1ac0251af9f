/** Functions shared by containers: opening the sequences of Do, and finishing. */
import { noteCompleted } from '../failure/completed-steps.js';
import { endPointer } from '../session/end-path.js';
import type { Pointer } from '../model/pointer.js';
import { finish, setState } from '../session/pointer-states.js';
import { insideOf, openPointer, type Surroundings } from '../session/pointers.js';
import { stepOf, type Session } from '../session/session.js';

/** Starts every sequence of Do in parallel; if Do is empty, the container joins immediately. */
export function openSequences(
  session: Session,
  pointer: Pointer,
  surroundings: Surroundings = insideOf(pointer),
): void {
  setState(session, pointer, { kind: 'open' });
  const sequences = stepOf(session, pointer).do;
  for (const entry of sequences) openPointer(session, entry, surroundings);
  if (sequences.length === 0) session.joins.add(pointer.id);
}

/** Ends the work of the container: it finishes, or simply ends if its successors have already started. */
export function finishContainer(session: Session, pointer: Pointer): void {
  if (!pointer.inBackground) {
    finish(session, pointer, {});
    return;
  }
  noteCompleted(session, pointer);
  endPointer(session, pointer, { status: 'Complete', successors: [] });
}
