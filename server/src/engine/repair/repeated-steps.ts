/** Finds the steps with external effects that will or may run because of a modification. */
import { successorsOf } from '../definitions/step-places.js';
import { traitsOf } from '../definitions/step-types.js';
import type { StepDefinition, WorkflowDefinition } from '../model/definition.js';
import type { RepeatedStep } from '../model/modification.js';

/** A started step, and the containers that it is opened in, innermost first. */
export interface StartedStep {
  readonly stepId: string;
  readonly containers: readonly string[];
}

/** Steps with external calls among the started steps and all their possible successors. */
export function externalCallsFrom(
  definition: WorkflowDefinition,
  started: readonly StartedStep[],
): readonly RepeatedStep[] {
  // Each of these starts a path: the steps, and the containers that end after them, with their successors and repeated steps.
  const beginnings = new Set<string>();
  const ended = new Set<string>();
  for (const { containers, stepId } of started) {
    beginnings.add(stepId);
    for (const id of containers) {
      ended.add(id);
      const container = definition.steps.get(id);
      if (container !== undefined && traitsOf(container).repeatsDo) beginnings.add(id);
    }
  }
  for (const id of ended) {
    const container = definition.steps.get(id);
    if (container !== undefined) for (const next of successorsOf(container)) beginnings.add(next);
  }
  const reached = everythingFrom(definition, beginnings);
  return [...definition.steps.values()]
    .filter((step) => reached.has(step.id) && callsOutside(step))
    .map(({ id, typeName }) => ({ stepId: id, stepType: typeName }));
}

/** These steps, the steps inside them, and all their successors. */
function everythingFrom(
  { steps }: WorkflowDefinition,
  beginnings: Iterable<string>,
): ReadonlySet<string> {
  const reached = new Set(beginnings);
  // Iterating over a set includes members that are added during the iteration.
  for (const id of reached) {
    const step = steps.get(id);
    if (step === undefined) continue;
    for (const next of [...successorsOf(step), ...step.do]) reached.add(next);
  }
  return reached;
}

function callsOutside(step: StepDefinition): boolean {
  const { body, startsInstance, offersWork } = traitsOf(step);
  return body !== null || startsInstance || offersWork;
}
