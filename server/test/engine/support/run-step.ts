/** Executes the next step of a run as a server does, with expressions in JavaScript. */
import type { Session } from '../../../src/engine/session/session.js';
import {
  enterStep,
  failWork,
  leaveCompensated,
  leaveStep,
  nextWork,
  type StepWork,
} from '../../../src/engine/flow/step-work.js';
import type { Pointer } from '../../../src/engine/model/pointer.js';
import { INVALID_LIMIT_KEY } from '../../../src/engine/primitives/request-slots.js';
import type { Json } from '../../../src/engine/values/json.js';
import {
  EvaluationError,
  evaluateCondition,
  evaluateInputs,
  evaluateKeys,
  evaluateOutputs,
  type World,
} from './evaluate.js';

/** Returns false if no step is ready. */
export function runStep(session: Session, world: World): boolean {
  const work = nextWork(session);
  if (work === null) return false;
  try {
    apply(session, work, world);
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    failWork(session, work, { type: 'EvaluationError', message: error.message });
  }
  return true;
}

function apply(session: Session, work: StepWork, world: World): void {
  const { instance } = session;
  if (work.kind === 'inputs') {
    const keys = keysOf(session, work, world);
    if (keys === null) return;
    const inputs = evaluateInputs(instance, work, world);
    enterStep(session, work.pointer, { inputs, shown: inputs, keys });
  } else if (work.kind === 'selectors') {
    const { pointer, selectors } = work;
    const selected = selectors.filter(({ condition }) =>
      isTrue(session, pointer, condition, world),
    );
    leaveCompensated(
      session,
      pointer,
      selected.map(({ stepId }) => stepId),
    );
  } else {
    leaveStep(session, work.pointer, evaluateOutputs(instance, work, world));
  }
}

/** Null: the step has failed. */
function keysOf(
  session: Session,
  work: Extract<StepWork, { kind: 'inputs' }>,
  world: World,
): readonly Json[] | null {
  try {
    return evaluateKeys(session.instance, work, world);
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    const { message } = error;
    failWork(session, work, { type: INVALID_LIMIT_KEY, message, retryable: false });
    return null;
  }
}

/** A condition that cannot be evaluated is not true. */
export function isTrue(
  { instance }: Session,
  pointer: Pointer,
  condition: Parameters<typeof evaluateCondition>[2],
  world: World,
): boolean {
  try {
    return evaluateCondition(instance, pointer, condition, world);
  } catch (error) {
    if (error instanceof EvaluationError) return false;
    throw error;
  }
}
