/** Cancel conditions: selects the ones to evaluate, and cancels the steps whose condition is true. */
import { cancelInside } from '../failure/cancel-inside.js';
import { endCancellation } from '../failure/after-stop.js';
import { hasCompensations, stopStep } from '../failure/stop.js';
import type { InputValue } from '../model/input-value.js';
import { invariant } from '../model/invariant.js';
import type { Pointer } from '../model/pointer.js';
import { isOver, waitsForStart } from '../session/pointer-states.js';
import { stepOf, type Session } from '../session/session.js';
import { continueContainers } from '../primitives/continue-containers.js';

export interface CancelCheck {
  readonly pointer: Pointer;
  readonly condition: InputValue;
}

/** The cancel conditions that may have become true since the last check; empty if nothing could have changed them. */
export function takeCancelChecks(session: Session): readonly CancelCheck[] {
  if (!session.cancelCheckDue) return [];
  session.cancelCheckDue = false;
  session.cancelRecheckAt = null;
  const checks: CancelCheck[] = [];
  for (const id of session.cancelable) {
    const pointer = session.instance.pointers.get(id);
    invariant(pointer !== undefined, 'a cancelable step is open');
    const { cancelCondition } = stepOf(session, pointer);
    if (waitsForStart(pointer.state) || isOver(pointer.state)) continue;
    if (cancelCondition !== null && pointer.isEnding !== true) {
      checks.push({ pointer, condition: cancelCondition });
    }
  }
  return checks;
}

/** Schedules another check of conditions that could not be evaluated for reasons outside the definition. */
export function recheckCancelConditions(session: Session, at: number): void {
  session.cancelRecheckAt = at;
  // The stored wake time must include it.
  session.dirty = true;
}

/** The step's cancel condition is true: ends the step and everything inside it. */
export function cancelStep(session: Session, pointer: Pointer): void {
  // Another condition that became true at the same time may have ended or stopped an enclosing step.
  if (!session.instance.pointers.has(pointer.id) || pointer.isEnding === true) return;
  const isStopped =
    mustStop(session, pointer) && stopStep(session, pointer, null, { kind: 'cancel' });
  if (!isStopped) {
    cancelInside(session, pointer);
    endCancellation(session, pointer);
  }
  continueContainers(session);
}

/** True if work in flight may have to be compensated. Compensations themselves are never compensated. */
function mustStop(session: Session, pointer: Pointer): boolean {
  return pointer.state.kind !== 'compensating' && hasCompensations(session, pointer);
}
