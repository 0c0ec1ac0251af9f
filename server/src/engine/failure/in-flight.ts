/**
 * The ends of what is in flight in something that was stopped, see `stop.ts`: with a failure, without an answer, or with the
 * end of the grace. A result is applied as always (`flow/step-work.ts`), without successors.
 */
import { dropPointer } from '../flow/end-path.js';
import { setState, stopWaitingAnswered } from '../flow/pointer-states.js';
import { parentOf } from '../flow/pointers.js';
import { stepOf, type Run } from '../flow/run.js';
import { writeRecord } from '../flow/step-records.js';
import { executionKey, type Pointer } from '../model/pointer.js';
import type { StepError } from '../model/step-record.js';
import { begunOf, earlierAttempt, failedOf } from './begun.js';
import { lastPosition, noteEnded } from './completed-steps.js';
import { pointersInside } from './inside.js';

/** When the grace ends that applies to a pointer in flight. */
export function graceOf(run: Run, pointer: Pointer): number {
  for (let at: Pointer | null = pointer; at !== null; at = parentOf(run, at)) {
    if (at.stopping !== undefined) return at.stopping.until ?? run.now;
  }
  return run.instance.cleanUp?.until ?? run.now;
}

/** Everything inside a container that was stopped with what is around it has ended. */
export function endStopped(run: Run, container: Pointer): void {
  noteEnded(run, container, begunOf(run, container));
  writeRecord(run, container, 'Cancelled');
  dropPointer(run, container);
}

/** A step in flight has ended. One that was stopped for its own sake has been cancelled by its condition. */
function endInFlight(run: Run, pointer: Pointer): void {
  if (proceedsInFlight(run, pointer)) {
    leaveCancelled(run, pointer);
    return;
  }
  const parent = parentOf(run, pointer);
  dropPointer(run, pointer);
  // If several end at once, a container ends with the last step in it, before the next one outside.
  for (let at = parent; at !== null && isEmptied(at);) {
    const around = parentOf(run, at);
    run.joins.delete(at.id);
    endStopped(run, at);
    at = around;
  }
}

function isEmptied({ children, isEnding, state, stopping }: Pointer): boolean {
  return isEnding === true && stopping === undefined && state.kind === 'open' && children === 0;
}

/** Whether a step in flight has successors: it was stopped by its own condition, and proceeds. */
export function proceedsInFlight(run: Run, pointer: Pointer): boolean {
  return pointer.stopping !== undefined && proceedsOnCancel(run, pointer);
}

/** Whether the next steps run although this one was cancelled. */
export function proceedsOnCancel(run: Run, pointer: Pointer): boolean {
  return stepOf(run, pointer).proceedOnCancel && !pointer.inBackground;
}

/** Goes on after a cancelled step. Its record is written once its successors have been selected. */
export function leaveCancelled(run: Run, pointer: Pointer): void {
  delete pointer.stopping;
  delete pointer.isEnding;
  setState(run, pointer, { kind: 'finishing', result: {}, cancelled: true });
}

/** A step in flight has failed. Its record has been written; its error behavior does not act any more. */
export function endFailedInFlight(run: Run, pointer: Pointer, error: StepError): void {
  const { outcome } = failedOf(pointer);
  if (isAwaited(pointer)) giveUp(run, pointer);
  noteEnded(run, pointer, { outcome, error }, lastPosition(run.instance));
  endInFlight(run, pointer);
}

/** A step in flight ends without an answer. */
export function cutOff(run: Run, pointer: Pointer, because: string): void {
  giveUp(run, pointer);
  const error = { type: 'OutcomeUnknown', message: because, data: null };
  noteEnded(run, pointer, { outcome: 'Unknown', error });
  if (!proceedsInFlight(run, pointer)) {
    const { attempt, id: pointerId, stepId } = pointer;
    const details = { stepId, pointerId, traceback: null, attempt, time: run.now };
    writeRecord(run, pointer, 'Cancelled', { error: { ...error, ...details } });
  }
  endInFlight(run, pointer);
}

/** A step turns out not to be in flight: nobody has begun its current attempt. */
export function endNotBegun(run: Run, pointer: Pointer): void {
  noteEnded(run, pointer, earlierAttempt(pointer));
  giveUp(run, pointer);
  if (!proceedsInFlight(run, pointer)) writeRecord(run, pointer, 'Cancelled');
  endInFlight(run, pointer);
}

/** Gives up the answer. A child that was told to clean up goes on by itself. */
function giveUp(run: Run, pointer: Pointer): void {
  const { changes, instance } = run;
  if (pointer.state.kind === 'activity') {
    changes.removedActivities.push(executionKey(instance.id, pointer));
  } else {
    changes.abortedEffects.push(pointer.id);
  }
  stopWaitingAnswered(run, pointer);
}

/** The grace has ended: whatever is still in flight has an unknown outcome. Compensations go on. */
export function endGrace(run: Run, scope: Pointer | null): void {
  if (scope?.stopping !== undefined) scope.stopping = { ...scope.stopping, until: null };
  const { cleanUp, pointers } = run.instance;
  if (scope === null && cleanUp !== null) run.instance.cleanUp = { ...cleanUp, until: null };
  run.dirty = true;
  const inside = scope === null ? [...pointers.values()] : [...pointersInside(run, scope), scope];
  for (const pointer of inside) {
    if (isAwaited(pointer)) cutOff(run, pointer, 'it did not end within the grace period');
  }
}

/** Whether a pointer waits for an answer that its stop allows for. */
export function isAwaited({ isEnding, state }: Pointer): boolean {
  if (isEnding !== true) return false;
  return state.kind === 'activity' || state.kind === 'effect' || state.kind === 'child';
}
