/** What follows a failed attempt: a retry, the suspension or the end of the instance, or compensation. */
import { compensate, endFailed, findHandler } from './compensate.js';
import { cancelInside } from './cancel-inside.js';
import type { ErrorBehavior, ExhaustedBehavior } from '../model/definition.js';
import { suspendOnError, terminate } from './error-behaviors.js';
import { tryRetry } from './retry.js';
import { hasCompensations, stopStep } from './stop.js';
import type { StepError } from '../model/step-record.js';
import type { Pointer } from '../model/pointer.js';
import { stepOf, type NextAction, type Run } from '../flow/run.js';

/**
 * Applies the error behavior of a step whose attempt has failed, now or, for a container with something in flight that may
 * have to be undone, once that has ended.
 * @param retryAfterMs a pause that the callee requested
 */
export function react(run: Run, pointer: Pointer, error: StepError, retryAfterMs?: number): void {
  const action = decide(run, pointer, error, retryAfterMs);
  if (action !== null) run.changes.failedAttempts.push({ error, action });
}

/** Returns null if that is decided later. */
function decide(
  run: Run,
  pointer: Pointer,
  error: StepError,
  retryAfterMs?: number,
): NextAction | null {
  const step = stepOf(run, pointer);
  // A step that is already cancelled is not retried: it would only be cancelled again.
  if (pointer.state.kind === 'finishing' && pointer.state.cancelled === true) {
    endFailed(run, pointer);
    return { kind: 'goes-on' };
  }
  // A saga that fails as a whole (its own timeout, for example) is compensated first; then its error behavior applies.
  if (step.saga) return compensateFailure(run, pointer, error);
  const behavior = behaviorOf(run, pointer);
  if (behavior === 'Compensate' && findHandler(run, pointer) !== null) {
    return compensateFailure(run, pointer, error);
  }
  if (behavior !== 'Terminate' && pointer.children > 0) {
    if (!stopForFailure(run, pointer, retryAfterMs)) return null;
  }
  if (behavior === 'Retry' && error.retryable !== false) {
    const retryAt = tryRetry(run, pointer, retryAfterMs);
    if (retryAt !== null) return { kind: 'retry', at: retryAt };
  }
  const last = behavior === 'Retry' ? behaviorPastRetries(run, pointer) : behavior;
  if (last === 'Compensate') return compensateFailure(run, pointer, error);
  if (last === 'Suspend') suspendOnError(run, pointer);
  else terminate(run, run.now, 'Failed', pointer);
  return { kind: last === 'Suspend' ? 'suspended' : 'terminated' };
}

/** Empties a container that has failed. Returns false if something in it is in flight: the rest follows when it has ended. */
function stopForFailure(run: Run, pointer: Pointer, retryAfterMs?: number): boolean {
  if (!hasCompensations(run, pointer)) {
    cancelInside(run, pointer);
    return true;
  }
  const then = { kind: 'fail', ...(retryAfterMs !== undefined && { retryAfterMs }) } as const;
  return !stopStep(run, pointer, pointer, then);
}

function compensateFailure(run: Run, pointer: Pointer, error: StepError): NextAction {
  const canCompensate = findHandler(run, pointer) !== null;
  compensate(run, pointer, error);
  return { kind: canCompensate ? 'compensating' : 'goes-on' };
}

function behaviorOf(run: Run, pointer: Pointer): ErrorBehavior {
  const { errorBehavior, retriesFirst } = stepOf(run, pointer);
  if (errorBehavior !== null) return errorBehavior;
  return retriesFirst ? 'Retry' : behaviorOfSurroundings(run, pointer);
}

/** The error behavior of a step that does not set one itself. */
function behaviorOfSurroundings(run: Run, pointer: Pointer): ErrorBehavior {
  return findHandler(run, pointer) === null ? run.definition.defaultErrorBehavior : 'Compensate';
}

/** The error behavior once retries are exhausted or could not succeed. */
function behaviorPastRetries(run: Run, pointer: Pointer): ExhaustedBehavior {
  const { errorBehavior, onRetriesExhausted, retriesFirst } = stepOf(run, pointer);
  if (onRetriesExhausted !== null) return onRetriesExhausted;
  const without =
    retriesFirst && errorBehavior === null ? behaviorOfSurroundings(run, pointer) : 'Retry';
  return without === 'Retry' ? 'Suspend' : without;
}
