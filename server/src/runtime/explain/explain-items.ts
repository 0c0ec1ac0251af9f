/** Explains why items of a Foreach with MaxParallel have not been opened. */
import type { Instance } from '../../engine/model/instance.js';
import type { Pointer } from '../../engine/model/pointer.js';
import { hasWaitingItems } from '../../engine/session/session.js';
import type { InstanceFacts } from './explanation.js';

/**
 * About the outermost Foreach that is at its limit and encloses an explained step; null if there is none. This is part of the
 * summary: items that wait have no execution, and containers are no reasons.
 */
export function explainItems({ instance, leaves }: InstanceFacts): string | null {
  if (instance === null) return null;
  const around = new Set(leaves.flatMap((leaf) => containersOf(instance, leaf)));
  const texts = [...around]
    .toSorted((a, b) => a.id - b.id)
    .map((container) => explainForeach(container));
  return texts.find((text) => text !== null) ?? null;
}

function containersOf({ pointers }: Instance, { parentId }: Pointer): readonly Pointer[] {
  const containers: Pointer[] = [];
  for (let id = parentId; id !== null;) {
    const container = pointers.get(id);
    if (container === undefined) break;
    containers.push(container);
    id = container.parentId;
  }
  return containers;
}

function explainForeach(pointer: Pointer): string | null {
  const { memo, stepId } = pointer;
  if (memo?.kind !== 'items' || memo.maxParallel === undefined) return null;
  if (!hasWaitingItems(pointer)) return null;
  const { items, maxParallel, next } = memo;
  const which =
    next + 1 === items.length
      ? `item ${next + 1} of ${items.length} waits`
      : `items ${next + 1} to ${items.length} of ${items.length} wait`;
  return `${stepId}: ${which}, at most ${maxParallel} ${maxParallel === 1 ? 'is' : 'are'} open at once`;
}
