/** The reactions to a failed step other than retries and compensation. */
import { cancelAll } from './cancel-inside.js';
import { endInstance } from '../session/end-instance.js';
import type { InstanceOutcome } from '../model/instance.js';
import type { Pointer } from '../model/pointer.js';
import { restart } from '../session/pointer-states.js';
import type { Session } from '../session/session.js';
import { suspend } from '../session/slot-waits.js';

/** Suspends the instance; a resume runs the step again, with all its retries. */
export function suspendOnError(session: Session, pointer: Pointer): void {
  suspend(session);
  pointer.retries = 0;
  restart(session, pointer, session.now);
}

/** Ends the instance with everything in it. The record of `failed`, the step that caused it, has already been written. */
export function terminate(
  session: Session,
  at: number,
  outcome: InstanceOutcome,
  failed?: Pointer,
): void {
  const { lastError } = session.instance;
  cancelAll(session, failed);
  // Removing a pointer clears its error, but this error may be the reason for the end of the instance.
  session.instance.lastError = lastError;
  endInstance(session, { status: 'Terminated', outcome, at });
}
