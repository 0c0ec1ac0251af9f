/** Reacts to a failed attempt: a retry, the suspension or the end of the instance, or compensation. */
import { compensate, endFailed, findHandler } from './compensate.js';
import { cancelInside } from './cancel-inside.js';
import type { ErrorBehavior, ExhaustedBehavior } from '../model/definition.js';
import { suspendOnError, terminate } from './error-behaviors.js';
import { tryRetry } from './retry.js';
import { hasCompensations, stopStep } from './stop.js';
import type { StepError } from '../model/step-record.js';
import type { Pointer } from '../model/pointer.js';
import { stepOf, type NextAction, type Session } from '../session/session.js';

/**
 * Applies the error behavior of a step whose attempt has failed. If the step is a container with work in flight that may have
 * to be compensated, the behavior applies once that work has ended.
 * @param retryAfterMs a pause that the callee requested
 */
export function reactToError(
  session: Session,
  pointer: Pointer,
  error: StepError,
  retryAfterMs?: number,
): void {
  const action = decide(session, pointer, error, retryAfterMs);
  if (action !== null) session.changes.failedAttempts.push({ error, action });
}

/** Returns null if the decision must wait for work in flight. */
function decide(
  session: Session,
  pointer: Pointer,
  error: StepError,
  retryAfterMs?: number,
): NextAction | null {
  const step = stepOf(session, pointer);
  // A step that is already canceled is not retried: it would only be canceled again.
  if (pointer.state.kind === 'finishing' && pointer.state.cancelled === true) {
    endFailed(session, pointer);
    return { kind: 'goes-on' };
  }
  // A saga that fails as a whole (its own timeout, for example) is compensated first; then its error behavior applies.
  if (step.saga) return compensateFailure(session, pointer, error);
  const behavior = behaviorOf(session, pointer);
  if (behavior === 'Compensate' && findHandler(session, pointer) !== null) {
    return compensateFailure(session, pointer, error);
  }
  if (behavior !== 'Terminate' && pointer.children > 0) {
    if (!stopForFailure(session, pointer, retryAfterMs)) return null;
  }
  if (behavior === 'Retry' && error.retryable !== false) {
    const retryAt = tryRetry(session, pointer, retryAfterMs);
    if (retryAt !== null) return { kind: 'retry', at: retryAt };
  }
  const last = behavior === 'Retry' ? behaviorPastRetries(session, pointer) : behavior;
  if (last === 'Compensate') return compensateFailure(session, pointer, error);
  if (last === 'Suspend') suspendOnError(session, pointer);
  else terminate(session, session.now, 'Failed', pointer);
  return { kind: last === 'Suspend' ? 'suspended' : 'terminated' };
}

/** Empties a container that has failed. Returns false if work inside it is in flight: the rest follows once that has ended. */
function stopForFailure(session: Session, pointer: Pointer, retryAfterMs?: number): boolean {
  if (!hasCompensations(session, pointer)) {
    cancelInside(session, pointer);
    return true;
  }
  const then = { kind: 'fail', ...(retryAfterMs !== undefined && { retryAfterMs }) } as const;
  return !stopStep(session, pointer, pointer, then);
}

function compensateFailure(session: Session, pointer: Pointer, error: StepError): NextAction {
  const canCompensate = findHandler(session, pointer) !== null;
  compensate(session, pointer, error);
  return { kind: canCompensate ? 'compensating' : 'goes-on' };
}

function behaviorOf(session: Session, pointer: Pointer): ErrorBehavior {
  const { errorBehavior, retriesFirst } = stepOf(session, pointer);
  if (errorBehavior !== null) return errorBehavior;
  return retriesFirst ? 'Retry' : behaviorOfSurroundings(session, pointer);
}

/** The error behavior of a step that does not set one itself. */
function behaviorOfSurroundings(session: Session, pointer: Pointer): ErrorBehavior {
  return findHandler(session, pointer) === null
    ? session.definition.defaultErrorBehavior
    : 'Compensate';
}

/** The error behavior after retries are exhausted or ruled out. */
function behaviorPastRetries(session: Session, pointer: Pointer): ExhaustedBehavior {
  const { errorBehavior, onRetriesExhausted, retriesFirst } = stepOf(session, pointer);
  if (onRetriesExhausted !== null) return onRetriesExhausted;
  const without =
    retriesFirst && errorBehavior === null ? behaviorOfSurroundings(session, pointer) : 'Retry';
  return without === 'Retry' ? 'Suspend' : without;
}
