/** A step failed: the failure is recorded, then the step's error behaviour decides. */
import { cancelInside } from './cancel-inside.js';
import { compensate, endFailed, findHandler } from './compensate.js';
import type { ErrorBehavior } from './definition.js';
import { suspendOnError, terminate, tryRetry } from './error-behaviors.js';
import type { StepError } from './instance.js';
import type { Json } from './json.js';
import type { Pointer } from './pointer.js';
import { stepOf, stopWaiting, writeRecord, type Run } from './run.js';
import { settle } from './settle.js';

export interface Failure {
  /** A Python exception's class or a word of ours: `Timeout`, `ActivityFailed`, `InputError` … */
  readonly type: string;
  readonly message: string;
  readonly traceback?: string | null;
  readonly data?: Json;
}

/** Longer texts are cut; the whole is in the server's log. */
const TEXT_LENGTH_MAX = 4096;

export function failStep(run: Run, pointer: Pointer, failure: Failure): void {
  const error = toStepError(run, pointer, failure);
  stopWaiting(run, pointer);
  writeRecord(run, pointer, 'Failed', { error });
  pointer.error = error;
  run.instance.lastError = error;
  decide(run, pointer, error);
  settle(run);
}

function decide(run: Run, pointer: Pointer, error: StepError): void {
  const step = stepOf(run, pointer);
  // A step that was cancelled already is not tried again: it would only be cancelled again.
  if (pointer.state.kind === 'finishing' && pointer.state.cancelled === true) {
    endFailed(run, pointer);
    return;
  }
  // A saga that fails as a whole (its own time-out, say) is undone first; then its behaviour is asked.
  if (step.saga) {
    compensate(run, pointer, error);
    return;
  }
  const behavior = behaviorOf(run, pointer);
  if (behavior !== 'Compensate') cancelInside(run, pointer);
  if (behavior === 'Retry' && tryRetry(run, pointer)) return;
  const last = behavior === 'Retry' ? step.onRetriesExhausted : behavior;
  if (last === 'Suspend') suspendOnError(run, pointer);
  else if (last === 'Terminate') terminate(run, run.now, pointer);
  else compensate(run, pointer, error);
}

function behaviorOf(run: Run, pointer: Pointer): ErrorBehavior {
  const { errorBehavior } = stepOf(run, pointer);
  if (errorBehavior !== null) return errorBehavior;
  return findHandler(run, pointer) === null ? run.definition.defaultErrorBehavior : 'Compensate';
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
  };
}
