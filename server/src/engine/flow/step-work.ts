/**
 * Selects the next expressions to evaluate, and applies their values.
 *
 * The engine never runs Python: it returns the expressions of a step and receives their values. A pointer in `ready` needs its
 * inputs and continues with `enterStep`. A pointer in `finishing` needs outputs and selectors and continues with `leaveStep`.
 * Failures go to `failWork`.
 */
import { traitsOf } from '../definitions/step-types.js';
import type { StepDefinition } from '../model/definition.js';
import type { InputValue } from '../model/input-value.js';
import { endPointer, openSuccessors } from '../session/end-path.js';
import { failStep, type Failure } from '../failure/fail-step.js';
import { continueCompensated } from '../failure/compensate.js';
import { noteCompleted } from '../failure/completed-steps.js';
import { proceedsInFlight } from '../failure/in-flight.js';
import { jsonLength } from '../values/json-length.js';
import { setField, type JsonObject, type Json } from '../values/json.js';
import type { Pointer } from '../model/pointer.js';
import { requestSlots } from '../primitives/request-slots.js';
import { InputError, StepFailedError } from '../primitives/primitive.js';
import { primitiveOf } from '../primitives/primitives.js';
import { putBackReady, stepOf, takeReady, type Session } from '../session/session.js';
import { continueContainers } from '../primitives/continue-containers.js';

export type StepWork =
  | {
      readonly kind: 'inputs';
      readonly pointer: Pointer;
      readonly step: StepDefinition;
      readonly inputs: StepDefinition['inputs'];
    }
  | {
      readonly kind: 'outputs';
      readonly pointer: Pointer;
      readonly step: StepDefinition;
      /** The variable `step`: the result of the body. */
      readonly result: JsonObject;
      readonly outputs: StepDefinition['outputs'];
      readonly selectors: readonly Selector[];
    }
  | {
      /**
       * The step failed permanently. Each condition is evaluated separately, without `step`; if it can't be evaluated, it
       * counts as false.
       */
      readonly kind: 'selectors';
      readonly pointer: Pointer;
      readonly step: StepDefinition;
      readonly selectors: readonly Selector[];
    };

interface Selector {
  readonly stepId: string;
  readonly condition: InputValue;
}

/** The next work to evaluate; null if every path waits, or the instance is not Runnable. */
export function nextWork(session: Session): StepWork | null {
  if (session.instance.status !== 'Runnable') return null;
  const pointer = takeReady(session);
  if (pointer === null) return null;
  session.instance.stepsWithoutWait += 1;
  const step = stepOf(session, pointer);
  if (pointer.state.kind !== 'finishing') {
    return { kind: 'inputs', pointer, step, inputs: step.inputs };
  }
  if (pointer.state.compensated === true) {
    return { kind: 'selectors', pointer, step, selectors: step.selectNextStep };
  }
  return {
    kind: 'outputs',
    pointer,
    step,
    result: pointer.state.result,
    outputs: pointer.state.cancelled === true ? [] : step.outputs,
    selectors: goesOn(session, pointer) ? step.selectNextStep : [],
  };
}

/** True if the step has successors. A step that its own condition stopped has them only with ProceedOnCancel. */
function goesOn(session: Session, pointer: Pointer): boolean {
  return pointer.isEnding !== true || proceedsInFlight(session, pointer);
}

/** Puts back work that could not be done now. It is returned first the next time. */
export function returnWork(session: Session, { pointer }: StepWork): void {
  session.instance.stepsWithoutWait -= 1;
  putBackReady(session, pointer);
}

/** Called if an expression of the work could not be evaluated. */
export function failWork(session: Session, { pointer }: StepWork, failure: Failure): void {
  failStep(session, pointer, failure);
  continueContainers(session);
}

export interface EvaluatedInputs {
  readonly inputs: JsonObject;
  /** The inputs as kept in the history. */
  readonly shown: Json;
  /** The keys of the step's limits, in their order; null for one without a key. Omitted: none has a key. */
  readonly keys?: readonly Json[];
}

/** Passes a step's evaluated inputs to its primitive, which decides what happens. */
export function enterStep(
  session: Session,
  pointer: Pointer,
  { inputs, keys, shown }: EvaluatedInputs,
): void {
  pointer.inputs = shown;
  session.dirty = true;
  session.grown += jsonLength(inputs);
  try {
    const { limits } = stepOf(session, pointer);
    if (limits.length > 0) requestSlots(session, pointer, limits, keys);
    primitiveOf(session, pointer).enter(session, pointer, inputs);
  } catch (error) {
    // It has neither taken them nor waited for them.
    delete pointer.slots;
    failStep(session, pointer, failureOf(error));
  }
  continueContainers(session);
}

function failureOf(error: unknown): Failure {
  if (error instanceof StepFailedError) return { ...error.failure, retryable: false };
  if (error instanceof InputError) return { type: 'InputError', message: error.message };
  throw error;
}

export interface StepResult {
  readonly outputs: readonly (readonly [key: string, value: Json])[];
  readonly selected: readonly string[];
  /** The outputs as kept in the history. */
  readonly shown: Json;
}

/** Applies evaluated outputs and selectors together, and continues the path. */
export function leaveStep(session: Session, pointer: Pointer, result: StepResult): void {
  const step = stepOf(session, pointer);
  const isCanceled = pointer.state.kind === 'finishing' && pointer.state.cancelled === true;
  for (const [key, value] of result.outputs) {
    setField(session.instance.data, key, value);
    session.grown += jsonLength(value);
  }
  if (result.outputs.length > 0) session.cancelCheckDue = true;
  if (traitsOf(step).hasSideEffects) session.commitDue = true;

  const next = step.nextStepId === null || !goesOn(session, pointer) ? [] : [step.nextStepId];
  const successors = [...next, ...result.selected];
  const primitive = primitiveOf(session, pointer);
  const mayStay = !isCanceled && pointer.isEnding !== true;
  if (mayStay && primitive.staysInBackground(pointer)) {
    pointer.inBackground = true;
    openSuccessors(session, pointer, successors);
    primitive.continueInBackground(session, pointer);
  } else {
    if (!isCanceled) noteCompleted(session, pointer);
    const status = isCanceled ? 'Cancelled' : 'Complete';
    endPointer(session, pointer, { status, successors, outputs: result.shown });
  }
  continueContainers(session);
}

/** Continues after a permanently failed step with the selected successors. */
export function leaveCompensated(
  session: Session,
  pointer: Pointer,
  selected: readonly string[],
): void {
  continueCompensated(session, pointer, selected);
  continueContainers(session);
}
