/** Executes the next step of a run as a server does, with expressions in JavaScript. */
import { failStep } from '../../../src/engine/failure/fail-step.js';
import type { Run } from '../../../src/engine/flow/run.js';
import {
  enterStep,
  leaveCompensated,
  leaveStep,
  nextWork,
  type StepWork,
} from '../../../src/engine/flow/step-work.js';
import type { Pointer } from '../../../src/engine/model/pointer.js';
import {
  EvaluationError,
  evaluateCondition,
  evaluateInputs,
  evaluateOutputs,
  type World,
} from './evaluate.js';

/** Returns false if no step is ready. */
export function runStep(run: Run, world: World): boolean {
  const work = nextWork(run);
  if (work === null) return false;
  try {
    apply(run, work, world);
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    failStep(run, work.pointer, { type: 'EvaluationError', message: error.message });
  }
  return true;
}

function apply(run: Run, work: StepWork, world: World): void {
  const { instance } = run;
  if (work.kind === 'inputs') {
    const inputs = evaluateInputs(instance, work, world);
    enterStep(run, work.pointer, inputs, inputs);
  } else if (work.kind === 'selectors') {
    const { pointer, selectors } = work;
    const selected = selectors.filter(({ condition }) => isTrue(run, pointer, condition, world));
    leaveCompensated(
      run,
      pointer,
      selected.map(({ stepId }) => stepId),
    );
  } else {
    leaveStep(run, work.pointer, evaluateOutputs(instance, work, world));
  }
}

/** A condition that cannot be evaluated is not true. */
export function isTrue(
  { instance }: Run,
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
