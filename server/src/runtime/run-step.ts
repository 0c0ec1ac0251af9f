/** One piece of the engine's work: its expressions are evaluated, and the engine gets the values, or why there are none. */
import { failStep } from '../engine/fail-step.js';
import { stepOf, type Run } from '../engine/run.js';
import { enterStep, leaveCompensated, leaveStep, type StepWork } from '../engine/step-work.js';
import type { ActorEnvironment } from './actor-environment.js';
import { shownInputs } from './shown-value.js';

type StepEnvironment = Pick<ActorEnvironment, 'clock' | 'evaluator' | 'metrics'>;

export async function runStep(
  { clock, evaluator, metrics }: StepEnvironment,
  run: Run,
  work: StepWork,
): Promise<void> {
  const { pointer } = work;
  if (work.kind === 'inputs') {
    const evaluated = evaluator.inputs(run.instance, pointer, work.inputs);
    const inputs = evaluated instanceof Promise ? await evaluated : evaluated;
    run.now = clock.now();
    const { type } = stepOf(run, pointer);
    if (inputs.ok) enterStep(run, pointer, inputs.value, shownInputs(type, inputs.value));
    else failStep(run, pointer, inputs.failure);
    return;
  }
  if (work.kind === 'selectors') {
    const selected = await selectedOf(evaluator, run, work);
    run.now = clock.now();
    leaveCompensated(run, pointer, selected);
    return;
  }
  const evaluated = evaluator.outputs(run.instance, pointer, work);
  const result = evaluated instanceof Promise ? await evaluated : evaluated;
  run.now = clock.now();
  metrics.stepEnded(work.step.typeName, result.ok, run.now - pointer.attemptStartedAt);
  if (result.ok) leaveStep(run, pointer, result.value);
  else failStep(run, pointer, result.failure);
}

async function selectedOf(
  evaluator: StepEnvironment['evaluator'],
  run: Run,
  { pointer, selectors }: Extract<StepWork, { kind: 'selectors' }>,
): Promise<readonly string[]> {
  const selected: string[] = [];
  for (const { condition, stepId } of selectors) {
    const result = await evaluator.condition(run.instance, pointer, condition);
    if (result.ok && result.value) selected.push(stepId);
  }
  return selected;
}
