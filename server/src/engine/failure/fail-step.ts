/** Handles a failed step: records the failure, and applies the step's error behavior. */
import { cancelInside } from './cancel-inside.js';
import { compensate, endFailed, findHandler } from './compensate.js';
import type { ErrorBehavior, ExhaustedBehavior } from '../model/definition.js';
import { suspendOnError, terminate } from './error-behaviors.js';
import { isRetryable, tryRetry } from './retry.js';
import type { StepError } from '../model/step-record.js';
import type { Json } from '../values/json.js';
import type { Pointer } from '../model/pointer.js';
import { stopWaiting } from '../flow/pointer-states.js';
import { stepOf, type NextAction, type Run } from '../flow/run.js';
import { writeRecord } from '../flow/step-records.js';
import { settle } from '../flow/settle.js';

export interface Failure {
  /** The class of a Python exception, or a type of the server: `Timeout`, `ActivityFailed`, `InputError` … */
  readonly type: string;
  readonly message: string;
  readonly traceback?: string | null;
  readonly data?: Json;
  /** False if another attempt cannot succeed. */
  readonly retryable?: boolean;
  /** The callee requested a pause of at least this long before the next attempt. */
  readonly retryAfterMs?: number;
}

/** Longer texts are truncated; the server's log has the full text. */
const TEXT_LENGTH_MAX = 4096;

export function failStep(run: Run, pointer: Pointer, failure: Failure): void {
  const error = toStepError(run, pointer, failure);
  stopWaiting(run, pointer);
  writeRecord(run, pointer, 'Failed', { error });
  pointer.error = error;
  run.instance.lastError = error;
  const action = decide(run, pointer, error, failure.retryAfterMs);
  run.changes.failedAttempts.push({ error, action });
  settle(run);
}

function decide(run: Run, pointer: Pointer, error: StepError, retryAfterMs?: number): NextAction {
  const step = stepOf(run, pointer);
  // A step that is already cancelled is not retried: it would only be cancelled again.
  if (pointer.state.kind === 'finishing' && pointer.state.cancelled === true) {
    endFailed(run, pointer);
    return { kind: 'goes-on' };
  }
  // A saga that fails as a whole (its own timeout, for example) is compensated first; then its error behavior applies.
  if (step.saga) {
    return compensateFailure(run, pointer, error);
  }
  const behavior = behaviorOf(run, pointer);
  if (behavior !== 'Compensate') cancelInside(run, pointer);
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

function toStepError(run: Run, pointer: Pointer, failure: Failure): StepError {
  return {
    stepId: pointer.stepId,
    pointerId: pointer.id,
    type: failure.type,
    message: failure.message.slice(0, TEXT_LENGTH_MAX),
    traceback: failure.traceback?.slice(0, TEXT_LENGTH_MAX) ?? null,
    data: failure.data ?? null,
    attempt: pointer.attempt,
    time: run.now,
    ...(isRetryable(stepOf(run, pointer), failure) ? {} : { retryable: false }),
  };
}
