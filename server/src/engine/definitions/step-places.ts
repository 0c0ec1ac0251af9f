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

/**
 * Sequence by sequence, from the outside in: a step that several sequences lead to belongs to the outermost of them.
 */
function placesOf({ entryStepId, steps }: WorkflowDefinition): ReadonlyMap<string, StepPlace> {
  const places = new Map<string, StepPlace>();
  const sequences: (readonly [string, StepPlace])[] = [[entryStepId, TOP_LEVEL]];
  // Iterating over a list includes items that are added during the iteration.
  for (const [entry, place] of sequences) {
    for (const step of sequenceFrom(entry, steps)) {
      if (places.has(step.id)) continue;
      places.set(step.id, place);
      sequences.push(...innerSequences(step, place));
    }
  }
  return places;
}

function* sequenceFrom(
  entry: string,
  steps: WorkflowDefinition['steps'],
): Generator<StepDefinition> {
  const reached = new Set([entry]);
  for (const id of reached) {
    const step = steps.get(id);
    if (step === undefined) continue;
    yield step;
    if (step.nextStepId !== null) reached.add(step.nextStepId);
    for (const { stepId } of step.selectNextStep) reached.add(stepId);
  }
}

function innerSequences(
  step: StepDefinition,
  { container }: StepPlace,
): readonly (readonly [string, StepPlace])[] {
  const inside = { container: step.id, compensates: null };
  const inner = step.do.map((entry) => [entry, inside] as const);
  if (step.compensateWith === null) return inner;
  return [...inner, [step.compensateWith, { container, compensates: step.id }]];
}
