/** What follows once everything in flight in a stopped pointer has ended, see `stop.ts`. */
import { begunOf } from './begun.js';
import { noteEnded } from './completed-steps.js';
import { runPlan } from './compensate.js';
import { leaveCancelled, proceedsOnCancel } from './in-flight.js';
import { react } from './react.js';
import { endCancelled } from '../flow/end-path.js';
import { invariant } from '../model/invariant.js';
import type { Pointer, Stopping } from '../model/pointer.js';
import { stopWaiting } from '../flow/pointer-states.js';
import type { Run } from '../flow/run.js';

export function afterStop(run: Run, pointer: Pointer, { then }: Stopping): void {
  delete pointer.stopping;
  delete pointer.isEnding;
  run.dirty = true;
  if (then.kind === 'cancel') {
    endCancellation(run, pointer);
    return;
  }
  const { error } = pointer;
  invariant(error !== null, 'what was stopped because of a failure has its error');
  if (then.kind === 'compensate') runPlan(run, pointer);
  else react(run, pointer, error, then.retryAfterMs);
}

/** Ends a cancelled step, in which nothing is open any more. */
export function endCancellation(run: Run, pointer: Pointer): void {
  noteEnded(run, pointer, begunOf(run, pointer));
  pointer.completed = [];
  stopWaiting(run, pointer);
  if (proceedsOnCancel(run, pointer)) leaveCancelled(run, pointer);
  else endCancelled(run, pointer);
}
