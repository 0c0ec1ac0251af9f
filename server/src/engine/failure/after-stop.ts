/** Continues after everything in flight in a stopped pointer has ended; see `stop.ts`. */
import { begunOf } from './begun.js';
import { noteEnded } from './completed-steps.js';
import { runPlan } from './compensate.js';
import { leaveCanceled, proceedsOnCancel } from './in-flight.js';
import { reactToError } from './react.js';
import { endCanceled } from '../session/end-path.js';
import { invariant } from '../model/invariant.js';
import type { Pointer, Stopping } from '../model/pointer.js';
import { stopWaiting } from '../session/pointer-states.js';
import type { Session } from '../session/session.js';

export function afterStop(session: Session, pointer: Pointer, { then }: Stopping): void {
  delete pointer.stopping;
  delete pointer.isEnding;
  session.dirty = true;
  if (then.kind === 'cancel') {
    endCancellation(session, pointer);
    return;
  }
  const { error } = pointer;
  invariant(error !== null, 'a step stopped by a failure has its error');
  if (then.kind === 'compensate') runPlan(session, pointer);
  else reactToError(session, pointer, error, then.retryAfterMs);
}

/** Ends a canceled step with nothing open inside it. */
export function endCancellation(session: Session, pointer: Pointer): void {
  noteEnded(session, pointer, begunOf(session, pointer));
  pointer.completed = [];
  stopWaiting(session, pointer);
  if (proceedsOnCancel(session, pointer)) leaveCanceled(session, pointer);
  else endCanceled(session, pointer);
}
