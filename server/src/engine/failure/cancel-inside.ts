/** Cancels pointers without continuing their paths. */
import { begunOf } from './begun.js';
import { noteEnded, passOnCompleted } from './completed-steps.js';
import { pointersInside } from './inside.js';
import type { Pointer } from '../model/pointer.js';
import { stopWaiting } from '../session/pointer-states.js';
import { removePointer } from '../session/pointers.js';
import type { Session } from '../session/session.js';
import { writeRecord } from '../session/step-records.js';

/** Ends everything inside a container; the container stays. */
export function cancelInside(session: Session, container: Pointer): void {
  if (container.children === 0) return;
  cancelEach(session, pointersInside(session, container));
  session.joins.delete(container.id);
}

/** Ends everything. `recorded` already has its record. */
export function cancelAll(session: Session, recorded?: Pointer): void {
  cancelEach(session, [...session.instance.pointers.values()], { recorded });
}

export interface HowCanceled {
  /** Already has its record. Default: none. */
  readonly recorded?: Pointer | null | undefined;
  /** Shown in the records. */
  readonly reason?: string;
  /** Which of the begun executions are recorded for compensation; `others`: all but `recorded`. Default: none. */
  readonly undone?: 'all' | 'others';
}

/** Expects containers before the pointers inside them. */
export function cancelEach(
  session: Session,
  pointers: readonly Pointer[],
  { recorded = null, reason, undone }: HowCanceled = {},
): void {
  const details = reason === undefined ? {} : { reason };
  // Children have higher ids than their container, so the reverse order takes the innermost first.
  for (const pointer of [...pointers].reverse()) {
    const isNoted = undone === 'all' || (undone === 'others' && pointer !== recorded);
    if (isNoted) noteEnded(session, pointer, begunOf(session, pointer));
    else if (undone === undefined) passOnCompleted(session, pointer);
    stopWaiting(session, pointer);
    if (pointer !== recorded) writeRecord(session, pointer, 'Cancelled', details);
    removePointer(session, pointer, false);
  }
}
