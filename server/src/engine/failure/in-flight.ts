/**
 * How work in flight ends inside a stopped step (see `stop.ts`): with a failure, without an answer, or at the end of the grace.
 * A result is applied as usual (`flow/step-work.ts`), but without successors.
 */
import { dropPointer } from '../session/end-path.js';
import { setState, stopWaitingAnswered, withdrawItem } from '../session/pointer-states.js';
import { parentOf } from '../session/pointers.js';
import { stepOf, type Session } from '../session/session.js';
import { writeRecord } from '../session/step-records.js';
import type { Pointer } from '../model/pointer.js';
import type { StepError } from '../model/step-record.js';
import { begunOf, earlierAttempt, failedOf } from './begun.js';
import { lastPosition, noteEnded } from './completed-steps.js';
import { pointersInside } from './inside.js';

/** When the grace ends that applies to a pointer in flight. */
export function graceOf(session: Session, pointer: Pointer): number {
  for (let at: Pointer | null = pointer; at !== null; at = parentOf(session, at)) {
    if (at.stopping !== undefined) return at.stopping.until ?? session.now;
  }
  return session.instance.cleanUp?.until ?? session.now;
}

/** Called when everything inside a container has ended that was stopped together with its surroundings. */
export function endStopped(session: Session, container: Pointer): void {
  noteEnded(session, container, begunOf(session, container));
  writeRecord(session, container, 'Cancelled');
  dropPointer(session, container);
}

/** A step in flight has ended. If it was stopped by itself, its own condition canceled it. */
function endInFlight(session: Session, pointer: Pointer): void {
  if (proceedsInFlight(session, pointer)) {
    leaveCanceled(session, pointer);
    return;
  }
  const parent = parentOf(session, pointer);
  dropPointer(session, pointer);
  // If several end at once, a container ends with the last step in it, before the next one outside.
  for (let at = parent; at !== null && isEmptied(at);) {
    const around = parentOf(session, at);
    session.joins.delete(at.id);
    endStopped(session, at);
    at = around;
  }
}

function isEmptied({ children, isEnding, state, stopping }: Pointer): boolean {
  return isEnding === true && stopping === undefined && state.kind === 'open' && children === 0;
}

/** True if a step in flight has successors: its own condition stopped it, and it proceeds. */
export function proceedsInFlight(session: Session, pointer: Pointer): boolean {
  return pointer.stopping !== undefined && proceedsOnCancel(session, pointer);
}

/** Whether the next steps run although this one was canceled. */
export function proceedsOnCancel(session: Session, pointer: Pointer): boolean {
  return stepOf(session, pointer).proceedOnCancel && !pointer.inBackground;
}

/** Continues after a canceled step. Its record is written once its successors have been selected. */
export function leaveCanceled(session: Session, pointer: Pointer): void {
  delete pointer.stopping;
  delete pointer.isEnding;
  setState(session, pointer, { kind: 'finishing', result: {}, cancelled: true });
}

/** A step in flight has failed. Its record has been written; its error behavior no longer applies. */
export function endFailedInFlight(session: Session, pointer: Pointer, error: StepError): void {
  const { outcome } = failedOf(pointer);
  if (isAwaited(pointer)) giveUp(session, pointer);
  noteEnded(session, pointer, { outcome, error }, lastPosition(session.instance));
  endInFlight(session, pointer);
}

/** A step in flight ends without an answer. */
export function cutOff(session: Session, pointer: Pointer, because: string): void {
  giveUp(session, pointer);
  const error = { type: 'OutcomeUnknown', message: because, data: null };
  noteEnded(session, pointer, { outcome: 'Unknown', error });
  if (!proceedsInFlight(session, pointer)) {
    const { attempt, id: pointerId, stepId } = pointer;
    const details = { stepId, pointerId, traceback: null, attempt, time: session.now };
    writeRecord(session, pointer, 'Cancelled', { error: { ...error, ...details } });
  }
  endInFlight(session, pointer);
}

/** A step turns out not to be in flight: its current attempt hasn't begun. */
export function endNotBegun(session: Session, pointer: Pointer): void {
  noteEnded(session, pointer, earlierAttempt(pointer));
  giveUp(session, pointer);
  if (!proceedsInFlight(session, pointer)) writeRecord(session, pointer, 'Cancelled');
  endInFlight(session, pointer);
}

/** Stops waiting for the answer. A child that is cleaning up continues on its own. */
function giveUp(session: Session, pointer: Pointer): void {
  if (pointer.state.kind === 'activity') {
    withdrawItem(session, pointer);
  } else {
    session.changes.abortedEffects.push(pointer.id);
  }
  stopWaitingAnswered(session, pointer);
}

/** The grace has ended: work that is still in flight has an unknown outcome. Compensations continue. */
export function endGrace(session: Session, scope: Pointer | null): void {
  if (scope?.stopping !== undefined) scope.stopping = { ...scope.stopping, until: null };
  const { cleanUp, pointers } = session.instance;
  if (scope === null && cleanUp !== null) session.instance.cleanUp = { ...cleanUp, until: null };
  session.dirty = true;
  const inside =
    scope === null ? [...pointers.values()] : [...pointersInside(session, scope), scope];
  for (const pointer of inside) {
    if (isAwaited(pointer)) cutOff(session, pointer, 'it did not end within the grace period');
  }
}

/** True if a stopped pointer may still wait for its answer. */
export function isAwaited({ isEnding, state }: Pointer): boolean {
  if (isEnding !== true) return false;
  return state.kind === 'activity' || state.kind === 'effect' || state.kind === 'child';
}
