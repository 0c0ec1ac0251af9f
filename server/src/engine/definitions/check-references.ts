/** Checks that need all steps: referenced steps must exist, and every step must be reachable. */
import { quoteText } from '../values/convert-input.js';
import type { StepDefinition } from '../model/definition.js';
import type { ParseState } from './parse-state.js';
import { builtInStepType } from './step-types.js';

export function checkReferences(state: ParseState): void {
  let idsByLowerCase: ReadonlyMap<string, string> | null = null;
  for (const { stepId, pointer } of state.references) {
    if (state.stepPointers.has(stepId)) continue;
    idsByLowerCase ??= new Map([...state.stepPointers.keys()].map((id) => [normalize(id), id]));
    const similar = idsByLowerCase.get(normalize(stepId));
    const hint = similar === undefined ? '' : ` Did you mean ${quoteText(similar)}?`;
    const message = `There is no step with the id ${quoteText(stepId)}.${hint}`;
    state.errors.add('unknown_next_step', pointer, message);
  }
}

function normalize(id: string): string {
  return id.trim().toLowerCase();
}

/** Warns about unreachable steps; usually, a NextStepId is missing. */
export function checkReachability(entryStepId: string, state: ParseState): void {
  const reached = new Set<string>([entryStepId]);
  // Iterating over a set includes items that are added during the iteration.
  for (const id of reached) {
    const step = state.steps.get(id);
    if (step === undefined) continue;
    for (const successor of successors(step)) reached.add(successor);
  }
  for (const [id, pointer] of state.stepPointers) {
    if (reached.has(id)) continue;
    const message = `The step ${quoteText(id)} is unreachable: a step runs after another only if that step's NextStepId or SelectNextStep names it.`;
    state.warnings.add('unreachable_step', pointer, message);
  }
}

function* successors(step: StepDefinition): Iterable<string> {
  if (step.nextStepId !== null) yield step.nextStepId;
  for (const { stepId } of step.selectNextStep) yield stepId;
  if (step.type !== null && builtInStepType(step.type).runsDo) yield* step.do;
  if (step.compensateWith !== null) yield step.compensateWith;
}
