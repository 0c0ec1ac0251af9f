/**
 * Compensation: undoing completed steps, and continuing.
 *
 * A failed step that can be compensated passes control to a handler: the nearest saga around it; without one, the nearest
 * step with CompensateWith, which may be the step itself. Everything else inside the handler is stopped (`stop.ts`), then
 * the handler runs a plan, one chain after another:
 *   - saga: the chains of what has begun inside it, the last one to end first (a container that was still open follows the
 *     steps that ran inside it), then the saga's own;
 *   - any other step: its own chain.
 * A failure inside a compensation does not affect anything outside it.
 */
import { failedOf } from './begun.js';
import { continueFailing } from './cause.js';
import { cancelInside } from './cancel-inside.js';
import { entryOf, withAncestors } from './completed-steps.js';
import { stopStep } from './stop.js';
import { dropPointer, nextStepOf, openSuccessors } from '../flow/end-path.js';
import { suspendOnError, terminate } from './error-behaviors.js';
import { isRetryable, tryRetry } from './retry.js';
import type { InstanceOutcome } from '../model/instance.js';
import type { StepError } from '../model/step-record.js';
import type { Pointer, PointerState } from '../model/pointer.js';
import { setState } from '../flow/pointer-states.js';
import { insideOf, itemOf, openPointer, parentOf } from '../flow/pointers.js';
import { stepById, stepOf, type Run } from '../flow/run.js';
import { writeRecord } from '../flow/step-records.js';

type Compensating = Extract<PointerState, { kind: 'compensating' }>;

/** The pointer that handles a failure of `pointer`, or null if nothing can be compensated. */
export function findHandler(run: Run, pointer: Pointer): Pointer | null {
  let nearest: Pointer | null = null;
  for (const candidate of withAncestors(run, pointer)) {
    const step = stepOf(run, candidate);
    if (step.saga) return candidate;
    if (nearest === null && step.compensateWith !== null) nearest = candidate;
  }
  return nearest;
}

/** Compensates the failure of `failed`; its record has already been written. */
export function compensate(run: Run, failed: Pointer, error: StepError): void {
  const handler = findHandler(run, failed);
  if (handler === null) {
    endFailed(run, failed);
    return;
  }
  const isStopped = stopStep(run, handler, failed, { kind: 'compensate' });
  // A saga that is retried as a whole goes on failing, although each round runs its steps anew.
  handler.error = continueFailing(handler, error);
  delete handler.hasRecovered;
  run.instance.lastError = { ...handler.error, pointerId: handler.id };
  if (!isStopped) runPlan(run, handler);
}

/** Nothing is open inside the handler any more: undoes what has begun in it. */
export function runPlan(run: Run, handler: Pointer): void {
  const inside = stepOf(run, handler).saga ? handler.completed.toReversed() : [];
  const own = entryOf(handler, failedOf(handler));
  const plan = [...inside, own].filter(
    ({ stepId }) => stepById(run, stepId).compensateWith !== null,
  );
  handler.completed = [];
  const state: Compensating = { kind: 'compensating', plan, next: 0 };
  setState(run, handler, state);
  nextCompensation(run, handler, state);
}

/** Starts the next chain of the plan, or ends the compensation. */
export function nextCompensation(run: Run, handler: Pointer, state: Compensating): void {
  const entry = state.plan[state.next];
  if (entry === undefined) {
    endCompensation(run, handler);
    return;
  }
  setState(run, handler, { ...state, next: state.next + 1 });
  const { compensateWith } = stepById(run, entry.stepId);
  if (compensateWith === null) {
    run.joins.add(handler.id);
    return;
  }
  openPointer(run, compensateWith, { ...insideOf(handler), ...itemOf(entry) });
}

/** The plan is complete: the handler's own ErrorBehavior applies; without one, the path continues with its successors. */
function endCompensation(run: Run, handler: Pointer): void {
  const step = stepOf(run, handler);
  const { errorBehavior, onRetriesExhausted, retriesFirst } = step;
  const { error } = handler;
  writeRecord(run, handler, 'Compensated', { error });
  if (handler.isEnding === true) {
    dropPointer(run, handler);
    return;
  }
  // Its calls were compensated: the next round makes new ones.
  handler.undone = (handler.undone ?? 0) + 1;
  delete handler.isUncertain;
  const retries = errorBehavior === 'Retry' || (errorBehavior === null && retriesFirst);
  // A step that compensates because its retries are exhausted, or because none could succeed, is not retried here either.
  const mayRetry = retries && (error === null || isRetryable(step, error));
  if (mayRetry && tryRetry(run, handler) !== null) return;
  const exhausted = onRetriesExhausted ?? (errorBehavior === 'Retry' ? 'Suspend' : null);
  const last = retries ? exhausted : errorBehavior;
  if (last === 'Suspend') suspendOnError(run, handler);
  else if (last === 'Terminate') terminate(run, run.now, outcomeOf(run), handler);
  else endFailed(run, handler);
}

/** An instance that ends in the middle of a clean-up was not fully compensated. */
function outcomeOf({ instance }: Run): InstanceOutcome {
  return instance.cleanUp === null ? 'Compensated' : 'Failed';
}

/** The failure cannot be handled (any further): it stays in the history, and the path continues. */
export function endFailed(run: Run, failed: Pointer): void {
  (parentOf(run, failed) ?? run.instance).isCompensated = true;
  cancelInside(run, failed);
  if (stepOf(run, failed).selectNextStep.length === 0 || failed.inBackground) {
    goOnCompensated(run, failed, []);
  } else {
    setState(run, failed, { kind: 'finishing', result: {}, compensated: true });
  }
}

/** Continues after a permanently failed step: with NextStepId and the selected steps, as after any other. */
export function goOnCompensated(run: Run, failed: Pointer, selected: readonly string[]): void {
  openSuccessors(run, failed, [...nextStepOf(run, failed), ...selected]);
  dropPointer(run, failed);
}
