/** Finds the execution that a compensation step undoes. */
import type { Instance } from '../model/instance.js';
import type { CompensationEntry, Pointer } from '../model/pointer.js';
import type { JsonObject } from '../values/json.js';

/** The entry of the plan to which a pointer belongs; null if it is not part of a compensation. */
export function undoneBy(
  { instance }: { readonly instance: Pick<Instance, 'cleanUp' | 'pointers'> },
  pointer: Pointer,
): CompensationEntry | null {
  const { cleanUp, pointers } = instance;
  let at = pointer;
  while (at.parentId !== null) {
    const parent = pointers.get(at.parentId);
    // A container has a lower id than the pointers inside it, except in a corrupt stored state.
    if (parent === undefined || parent.id >= at.id) return null;
    if (parent.state.kind === 'compensating') {
      return parent.state.plan[parent.state.next - 1] ?? null;
    }
    at = parent;
  }
  return cleanUp?.plan?.[cleanUp.next - 1] ?? null;
}

/** `context.Compensating` in expressions: the execution that the step undoes; null if it isn't part of a compensation. */
export function compensatingOf(
  run: { readonly instance: Pick<Instance, 'cleanUp' | 'pointers'> },
  pointer: Pointer,
): JsonObject | null {
  const entry = undoneBy(run, pointer);
  if (entry === null) return null;
  const { error, outcome, stepId } = entry;
  return {
    StepId: stepId,
    Outcome: outcome ?? 'Completed',
    Error:
      error === undefined ? null : { Type: error.type, Message: error.message, Data: error.data },
  };
}
