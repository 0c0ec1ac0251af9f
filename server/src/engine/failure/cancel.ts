/** Cancel conditions: which are to be evaluated, and what happens when one is true. */
import { cancelInside } from './cancel-inside.js';
import { passOnCompleted } from './completed-steps.js';
import type { InputValue } from '../model/definition.js';
import { endCancelled } from '../flow/end-path.js';
import { invariant } from '../model/invariant.js';
import type { Pointer } from '../model/pointer.js';
import { isOver, setState, stopWaiting } from '../flow/pointer-states.js';
import { stepOf, type Run } from '../flow/run.js';
import { settle } from '../flow/settle.js';

export interface CancelCheck {
  readonly pointer: Pointer;
  readonly condition: InputValue;
}

/** The cancel conditions that may have become true since the last time; empty when nothing could change them. */
export function takeCancelChecks(run: Run): readonly CancelCheck[] {
  if (!run.cancelCheckDue) return [];
  run.cancelCheckDue = false;
  run.cancelRecheckAt = null;
  const checks: CancelCheck[] = [];
  for (const id of run.cancellable) {
    const pointer = run.instance.pointers.get(id);
    invariant(pointer !== undefined, 'what can be cancelled is open');
    const { cancelCondition } = stepOf(run, pointer);
    if (cancelCondition !== null && !isOver(pointer.state) && pointer.isEnding !== true) {
      checks.push({ pointer, condition: cancelCondition });
    }
  }
  return checks;
}

/** Some conditions could not be evaluated just now, through no fault of theirs: they are due again after a while. */
export function recheckCancelConditions(run: Run, at: number): void {
  run.cancelRecheckAt = at;
  // The stored wake time has to say so.
  run.dirty = true;
}

/** The step's cancel condition is true: it ends with everything inside it. */
export function cancelStep(run: Run, pointer: Pointer): void {
  if (!run.instance.pointers.has(pointer.id)) return;
  cancelInside(run, pointer);
  passOnCompleted(run, pointer);
  pointer.completed = [];
  stopWaiting(run, pointer);
  if (stepOf(run, pointer).proceedOnCancel && !pointer.inBackground) {
    setState(run, pointer, { kind: 'finishing', result: {}, cancelled: true });
  } else {
    endCancelled(run, pointer);
  }
  settle(run);
}
