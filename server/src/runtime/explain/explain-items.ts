/** Explains why items of a Foreach with MaxParallel have not been opened. */
import type { Instance } from '../../engine/model/instance.js';
import type { Pointer } from '../../engine/model/pointer.js';
import { hasWaitingItems } from '../../engine/session/session.js';
import type { InstanceFacts, WaitReason } from './explanation.js';
import { placeOf } from './step-place.js';

/** The reasons of each Foreach that is at its limit and encloses an explained step. */
export function explainItems(facts: InstanceFacts): readonly WaitReason[] {
  const { endTime, instance, leaves } = facts;
  if (endTime !== null || instance === null) return [];
  const around = new Set(leaves.flatMap((leaf) => containersOf(instance, leaf)));
  return [...around]
    .toSorted((a, b) => a.id - b.id)
    .map((container) => explainForeach(container, facts))
    .filter((reason) => reason !== null);
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

function explainForeach(pointer: Pointer, facts: InstanceFacts): WaitReason | null {
  const { memo } = pointer;
  if (memo?.kind !== 'items' || memo.maxParallel === undefined) return null;
  if (!hasWaitingItems(pointer)) return null;
  const { items, maxParallel, next } = memo;
  const which =
    next + 1 === items.length
      ? `item ${next + 1} of ${items.length} waits`
      : `items ${next + 1} to ${items.length} of ${items.length} wait`;
  return {
    kind: 'scheduled',
    text: `${which}: at most ${maxParallel} ${maxParallel === 1 ? 'is' : 'are'} open at once`,
    since: pointer.attemptStartedAt,
    until: null,
    error: null,
    ...placeOf(pointer, facts),
    actions: [],
  };
}
