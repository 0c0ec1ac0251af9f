/** The reactions to a failed step other than retries and compensation. */
import { cancelAll } from './cancel-inside.js';
import { endInstance } from '../flow/end-instance.js';
import type { InstanceOutcome } from '../model/instance.js';
import type { Pointer } from '../model/pointer.js';
import { restart } from '../flow/pointer-states.js';
import type { Run } from '../flow/run.js';

/** Suspends the instance; a resume runs the step again, with all its retries. */
export function suspendOnError(run: Run, pointer: Pointer): void {
  run.instance.status = 'Suspended';
  pointer.retries = 0;
  restart(run, pointer, run.now);
}

/** Ends the instance with everything in it. `failed`, whose failure is the reason, already has its record. */
export function terminate(run: Run, at: number, outcome: InstanceOutcome, failed?: Pointer): void {
  const { lastError } = run.instance;
  cancelAll(run, failed);
  // Removing a pointer clears its error, but this error may be the reason for the end of the instance.
  run.instance.lastError = lastError;
  endInstance(run, { status: 'Terminated', outcome, at });
}
