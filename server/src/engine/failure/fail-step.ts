/** Handles a failed step: records the failure, and lets the step's error behavior act. */
import { isUncertain } from './begun.js';
import { continueFailing } from './cause.js';
import { endFailedInFlight } from './in-flight.js';
import { reactToError } from './react.js';
import { isRetryable } from './retry.js';
import type { StepError } from '../model/step-record.js';
import type { Json } from '../values/json.js';
import type { Pointer } from '../model/pointer.js';
import { stopWaiting } from '../session/pointer-states.js';
import { stepOf, type Session } from '../session/session.js';
import { writeRecord } from '../session/step-records.js';

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

/** The caller continues the containers afterwards (`continue-containers.ts`). */
export function failStep(session: Session, pointer: Pointer, failure: Failure): void {
  const error = toStepError(session, pointer, failure);
  const hasBegun = pointer.state.kind !== 'limited';
  if (hasBegun && isUncertain(error.type)) pointer.isUncertain = true;
  if (pointer.isEnding === true) {
    failInFlight(session, pointer, error);
  } else {
    stopWaiting(session, pointer);
    writeRecord(session, pointer, 'Failed', { error });
    pointer.error = error;
    delete pointer.hasRecovered;
    session.instance.lastError = error;
    reactToError(session, pointer, error, failure.retryAfterMs);
  }
}

/** The error that caused the stop stays the instance's newest error. */
function failInFlight(session: Session, pointer: Pointer, error: StepError): void {
  writeRecord(session, pointer, 'Failed', { error });
  const isUndone = stepOf(session, pointer).compensateWith !== null;
  const action = { kind: isUndone ? 'compensating' : 'goes-on' } as const;
  session.changes.failedAttempts.push({ error, action });
  endFailedInFlight(session, pointer, error);
}

function toStepError(session: Session, pointer: Pointer, failure: Failure): StepError {
  return continueFailing(pointer, {
    stepId: pointer.stepId,
    pointerId: pointer.id,
    type: failure.type,
    message: failure.message.slice(0, TEXT_LENGTH_MAX),
    traceback: failure.traceback?.slice(0, TEXT_LENGTH_MAX) ?? null,
    data: failure.data ?? null,
    attempt: pointer.attempt,
    time: session.now,
    ...(isRetryable(stepOf(session, pointer), failure) ? {} : { retryable: false }),
  });
}
