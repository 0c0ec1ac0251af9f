/**
 * Compensation: undoing completed steps, and continuing.
 *
 * A failed step that can be compensated passes control to a handler: the nearest saga around it; without one, the nearest step
 * with CompensateWith, which may be the step itself. Everything else inside the handler is stopped (`stop.ts`), then the
 * handler runs a plan, one chain after another:
 *   - saga: the chains of the executions that have begun inside it, last ended first (a container that was still open follows
 *     the steps that ran inside it), then the saga's own;
 *   - any other step: its own chain.
 * A failure inside a compensation does not affect anything outside it.
 */
import { failedOf } from './begun.js';
import { continueFailing } from './cause.js';
import { cancelInside } from './cancel-inside.js';
import { entryOf, withAncestors } from './completed-steps.js';
import { stopStep } from './stop.js';
import { dropPointer, nextStepOf, openSuccessors } from '../session/end-path.js';
import { suspendOnError, terminate } from './error-behaviors.js';
import { isRetryable, tryRetry } from './retry.js';
import type { InstanceOutcome } from '../model/instance.js';
import type { StepError } from '../model/step-record.js';
import type { Pointer, PointerState } from '../model/pointer.js';
import { setState } from '../session/pointer-states.js';
import { insideOf, itemOf, openPointer, parentOf } from '../session/pointers.js';
import { stepById, stepOf, type Session } from '../session/session.js';
import { writeRecord } from '../session/step-records.js';

type Compensating = Extract<PointerState, { kind: 'compensating' }>;

/** The pointer that handles a failure of `pointer`, or null if nothing can be compensated. */
export function findHandler(session: Session, pointer: Pointer): Pointer | null {
  let nearest: Pointer | null = null;
  for (const candidate of withAncestors(session, pointer)) {
    const step = stepOf(session, candidate);
    if (step.saga) return candidate;
    if (nearest === null && step.compensateWith !== null) nearest = candidate;
  }
  return nearest;
}

/** Compensates the failure of `failed`; its record has already been written. */
export function compensate(session: Session, failed: Pointer, error: StepError): void {
  const handler = findHandler(session, failed);
  if (handler === null) {
    endFailed(session, failed);
    return;
  }
  const isStopped = stopStep(session, handler, failed, { kind: 'compensate' });
  // A saga that is retried as a whole keeps failing, although each round runs its steps again.
  handler.error = continueFailing(handler, error);
  delete handler.hasRecovered;
  session.instance.lastError = { ...handler.error, pointerId: handler.id };
  if (!isStopped) runPlan(session, handler);
}

/** Compensates the executions that have begun in the handler. Call it when nothing inside it is open. */
export function runPlan(session: Session, handler: Pointer): void {
  const inside = stepOf(session, handler).saga ? handler.completed.toReversed() : [];
  const own = entryOf(handler, failedOf(handler));
  const plan = [...inside, own].filter(
    ({ stepId }) => stepById(session, stepId).compensateWith !== null,
  );
  handler.completed = [];
  const state: Compensating = { kind: 'compensating', plan, next: 0 };
  setState(session, handler, state);
  nextCompensation(session, handler, state);
}

/** Starts the next chain of the plan, or ends the compensation. */
export function nextCompensation(session: Session, handler: Pointer, state: Compensating): void {
  const entry = state.plan[state.next];
  if (entry === undefined) {
    endCompensation(session, handler);
    return;
  }
  setState(session, handler, { ...state, next: state.next + 1 });
  const { compensateWith } = stepById(session, entry.stepId);
  if (compensateWith === null) {
    session.joins.add(handler.id);
    return;
  }
  openPointer(session, compensateWith, { ...insideOf(handler), ...itemOf(entry) });
}

/** The plan is complete: the handler's own ErrorBehavior applies; without one, the path continues with its successors. */
function endCompensation(session: Session, handler: Pointer): void {
  const step = stepOf(session, handler);
  const { errorBehavior, onRetriesExhausted, retriesFirst } = step;
  const { error } = handler;
  writeRecord(session, handler, 'Compensated', { error });
  if (handler.isEnding === true) {
    dropPointer(session, handler);
    return;
  }
  // Its calls were compensated: the next round makes new ones.
  handler.undone = (handler.undone ?? 0) + 1;
  delete handler.isUncertain;
  const retries = errorBehavior === 'Retry' || (errorBehavior === null && retriesFirst);
  // A step that compensates because its retries are exhausted, or because its error isn't retryable, is not retried here
  // either.
  const mayRetry = retries && (error === null || isRetryable(step, error));
  if (mayRetry && tryRetry(session, handler) !== null) return;
  const exhausted = onRetriesExhausted ?? (errorBehavior === 'Retry' ? 'Suspend' : null);
  const last = retries ? exhausted : errorBehavior;
  if (last === 'Suspend') suspendOnError(session, handler);
  else if (last === 'Terminate') terminate(session, session.now, outcomeOf(session), handler);
  else endFailed(session, handler);
}

/** An instance that ends in the middle of a clean-up was not fully compensated. */
function outcomeOf({ instance }: Session): InstanceOutcome {
  return instance.cleanUp === null ? 'Compensated' : 'Failed';
}

/** The failure cannot be handled (any further): it stays in the history, and the path continues. */
export function endFailed(session: Session, failed: Pointer): void {
  (parentOf(session, failed) ?? session.instance).isCompensated = true;
  cancelInside(session, failed);
  if (stepOf(session, failed).selectNextStep.length === 0 || failed.inBackground) {
    continueCompensated(session, failed, []);
  } else {
    setState(session, failed, { kind: 'finishing', result: {}, compensated: true });
  }
}

/** Continues after a permanently failed step: with NextStepId and the selected steps, as after any other. */
export function continueCompensated(
  session: Session,
  failed: Pointer,
  selected: readonly string[],
): void {
  openSuccessors(session, failed, [...nextStepOf(session, failed), ...selected]);
  dropPointer(session, failed);
}
