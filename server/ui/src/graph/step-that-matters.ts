/** Finds the step at which the graph of a run is opened. Pure. */
import type { GraphModel } from './graph-model.js';
import { toneOf, type StepLiveStates, type StepTone } from './live-states.js';

const BY_IMPORTANCE: readonly StepTone[] = ['failed', 'waiting', 'running'];

/**
 * The node of the failed step, else of the waiting one, else of the running one; of several, the first in reading order
 * that encloses no other, because a container waits for its inner steps. Null if the run is at no step.
 */
export function nodeThatMatters(
  { nodes }: GraphModel,
  states: StepLiveStates | undefined,
): string | null {
  if (states === undefined) return null;
  for (const tone of BY_IMPORTANCE) {
    const found = nodes.filter(({ step }) => step !== null && toneOf(states.get(step.id)) === tone);
    // Parents precede their children, so the last container encloses no other.
    const best = found.find(({ kind }) => kind === 'step') ?? found.at(-1);
    if (best !== undefined) return best.id;
  }
  return null;
}

/** The node of a step, or null. */
export function nodeOfStep({ nodes }: GraphModel, stepId: string): string | null {
  return nodes.find(({ step }) => step?.id === stepId)?.id ?? null;
}
