/** The steps with effects outside the server that will, or may, run because of a modification. */
import { placeOfStep } from '../definitions/step-places.js';
import { traitsOf } from '../definitions/step-types.js';
import type { StepDefinition, WorkflowDefinition } from '../model/definition.js';
import type { RepeatedStep } from './modification.js';

/** Steps that call something outside, among the started ones and all that can follow them. */
export function outsideCallsFrom(
  definition: WorkflowDefinition,
  started: readonly string[],
): readonly RepeatedStep[] {
  const reached = new Set(started);
  const ended = new Set(started);
  // Iterating over a set includes members that are added during the iteration.
  const enter = (stepId: string): void => {
    reached.add(stepId);
    ended.add(stepId);
  };
  for (const id of started) enterInside(definition, id, enter);
  for (const id of ended) {
    const step = definition.steps.get(id);
    if (step === undefined) continue;
    for (const next of successorsOf(step)) enterInside(definition, next, enter);
    const container = definition.steps.get(placeOfStep(definition, id).container ?? '');
    if (container === undefined) continue;
    ended.add(container.id);
    if (traitsOf(container).repeatsDo) enterInside(definition, container.id, enter);
  }
  return [...definition.steps.values()]
    .filter((step) => reached.has(step.id) && callsOutside(step))
    .map(({ id, typeName }) => ({ stepId: id, stepType: typeName }));
}

/** The step, and everything that can run inside it. */
function enterInside(
  definition: WorkflowDefinition,
  stepId: string,
  enter: (stepId: string) => void,
): void {
  const inside = new Set([stepId]);
  for (const id of inside) {
    enter(id);
    for (const entry of definition.steps.get(id)?.do ?? []) inside.add(entry);
  }
}

function successorsOf({ nextStepId, selectNextStep }: StepDefinition): readonly string[] {
  const selected = selectNextStep.map(({ stepId }) => stepId);
  return nextStepId === null ? selected : [nextStepId, ...selected];
}

function callsOutside(step: StepDefinition): boolean {
  const { body, startsInstance, offersWork } = traitsOf(step);
  return body !== null || startsInstance || offersWork;
}
