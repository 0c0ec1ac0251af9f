/** The Foreach item of a step that a modification starts. */
import { builtInStepType } from '../definitions/step-types.js';
import type { WorkflowDefinition } from '../model/definition.js';
import type { Pointer } from '../model/pointer.js';
import { itemOf } from '../session/pointers.js';
import type { Json } from '../values/json.js';
import type { StepStart } from '../model/modification.js';

interface Item {
  readonly item?: Json;
  readonly index?: number;
}

/**
 * The item that the modification specifies, or the current item of a sequential Foreach. Null if an item is required but
 * unknown.
 */
export function foreachItemOf(
  definition: WorkflowDefinition,
  container: Pointer | null,
  wanted: StepStart,
): Item | null {
  if (wanted.item !== undefined) return { item: wanted.item, index: wanted.index ?? 0 };
  if (container === null) return {};
  const type = definition.steps.get(container.stepId)?.type ?? null;
  const hasItems = type !== null && builtInStepType(type).traits.hasItems;
  if (!hasItems) return itemOf(container);
  const { memo } = container;
  if (memo?.kind !== 'items' || memo.parallel === true || memo.maxParallel !== undefined)
    return null;
  const index = wanted.index ?? memo.next - 1;
  const item = memo.items[index];
  return item === undefined ? null : { item, index };
}
