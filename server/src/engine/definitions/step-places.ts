/** The place of each step in its definition: the container whose Do it is in, or the step that it compensates. */
import type { StepDefinition, WorkflowDefinition } from '../model/definition.js';

export interface StepPlace {
  /** The id of the innermost container around the step; null at the top level. */
  readonly container: string | null;
  /** The id of the step whose CompensateWith the step is part of; null if it is not. */
  readonly compensates: string | null;
}

const TOP_LEVEL: StepPlace = { container: null, compensates: null };

const cache = new WeakMap<WorkflowDefinition, ReadonlyMap<string, StepPlace>>();

/** The place of a step. Unreachable steps count as top-level steps. */
export function placeOfStep(definition: WorkflowDefinition, stepId: string): StepPlace {
  let places = cache.get(definition);
  if (places === undefined) {
    places = placesOf(definition);
    cache.set(definition, places);
  }
  return places.get(stepId) ?? TOP_LEVEL;
}

/** Breadth-first, so that a step that several sequences lead to belongs to the outermost of them. */
function placesOf({ entryStepId, steps }: WorkflowDefinition): ReadonlyMap<string, StepPlace> {
  const places = new Map<string, StepPlace>([[entryStepId, TOP_LEVEL]]);
  // Iterating over a map includes entries that are added during the iteration.
  for (const [id, place] of places) {
    const step = steps.get(id);
    if (step === undefined) continue;
    for (const [next, at] of reachedFrom(step, place)) if (!places.has(next)) places.set(next, at);
  }
  return places;
}

function* reachedFrom(
  step: StepDefinition,
  place: StepPlace,
): Generator<readonly [string, StepPlace]> {
  if (step.nextStepId !== null) yield [step.nextStepId, place];
  for (const { stepId } of step.selectNextStep) yield [stepId, place];
  for (const entry of step.do) yield [entry, { container: step.id, compensates: null }];
  if (step.compensateWith !== null) {
    yield [step.compensateWith, { container: place.container, compensates: step.id }];
  }
}
