/**
 * The places of a step: the containers that it can run in.
 *
 * A step has a position in its document. But NextStepId and SelectNextStep may name any step, even in another container, and a
 * step runs in the container in which its predecessor ran. So it can also run in the container of any step that a path to it
 * starts from.
 */
import type { StepDefinition, StepPlace, WorkflowDefinition } from '../model/definition.js';

export const TOP_LEVEL: StepPlace = { container: null, compensates: null };

/** For each step, the steps whose NextStepId or SelectNextStep names it. */
type Predecessors = ReadonlyMap<string, readonly StepDefinition[]>;

const cache = new WeakMap<WorkflowDefinition, Predecessors>();

/** The position of the step in the document, even if no path leads to it: it may be meant for repairs. */
export function placeOfStep({ steps }: WorkflowDefinition, stepId: string): StepPlace {
  return steps.get(stepId)?.place ?? TOP_LEVEL;
}

/** Every place in which the step can run: first its own position, then the others, nearest first. */
export function placesOfStep(definition: WorkflowDefinition, stepId: string): readonly StepPlace[] {
  const predecessors = predecessorsIn(definition);
  const places = new Map<string, StepPlace>();
  const leading = new Set([stepId]);
  // Iterating over a set includes members that are added during the iteration.
  for (const id of leading) {
    const place = placeOfStep(definition, id);
    places.set(JSON.stringify([place.container, place.compensates]), place);
    for (const before of predecessors.get(id) ?? []) leading.add(before.id);
  }
  return [...places.values()];
}

function predecessorsIn(definition: WorkflowDefinition): Predecessors {
  const known = cache.get(definition);
  if (known !== undefined) return known;
  const found = new Map<string, StepDefinition[]>();
  for (const step of definition.steps.values()) {
    for (const next of new Set(successorsOf(step))) {
      const before = found.get(next);
      if (before === undefined) found.set(next, [step]);
      else before.push(step);
    }
  }
  cache.set(definition, found);
  return found;
}

/** All steps that can run inside a container: the steps in it, at any depth, and their successors. */
export function stepsInside(
  { steps }: WorkflowDefinition,
  containerId: string,
): ReadonlySet<string> {
  const standing = new Map<string | null, string[]>();
  for (const { id, place } of steps.values()) {
    const around = place.compensates ?? place.container;
    const others = standing.get(around);
    if (others === undefined) standing.set(around, [id]);
    else others.push(id);
  }
  const undoes = (id: string): boolean => steps.get(id)?.place.compensates === containerId;
  const inside = new Set(standing.get(containerId)?.filter((id) => !undoes(id)));
  for (const id of inside) {
    const step = steps.get(id);
    if (step === undefined) continue;
    for (const next of [...successorsOf(step), ...(standing.get(id) ?? [])]) inside.add(next);
  }
  return inside;
}

/** The steps that NextStepId and SelectNextStep name. */
export function successorsOf({ nextStepId, selectNextStep }: StepDefinition): readonly string[] {
  const selected = selectNextStep.map(({ stepId }) => stepId);
  return nextStepId === null ? selected : [nextStepId, ...selected];
}
