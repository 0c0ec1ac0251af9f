/** Cancels pointers without continuing their paths. */
import { passOnCompleted } from './completed-steps.js';
import type { Pointer } from '../model/pointer.js';
import { stopWaiting } from '../flow/pointer-states.js';
import { removePointer } from '../flow/pointers.js';
import type { Run } from '../flow/run.js';
import { writeRecord } from '../flow/step-records.js';

/** Ends everything inside a container; the container stays. `recorded` already has its record. */
export function cancelInside(run: Run, container: Pointer, recorded?: Pointer): void {
  if (container.children === 0) return;
  const inside = [...run.instance.pointers.values()].filter((pointer) =>
    isInside(run, pointer, container.id),
  );
  cancelEach(run, inside, { recorded });
  run.joins.delete(container.id);
}

/** Ends everything. `recorded` already has its record. */
export function cancelAll(run: Run, recorded?: Pointer): void {
  cancelEach(run, [...run.instance.pointers.values()], { recorded });
}

/**
 * Expects containers before the pointers inside them.
 * @param how `recorded` already has its record; the records of the others show the `reason`
 */
export function cancelEach(
  run: Run,
  pointers: readonly Pointer[],
  how: { readonly recorded?: Pointer | undefined; readonly reason?: string } = {},
): void {
  const { recorded, ...details } = how;
  // Children have higher ids than their container, so the reverse order takes the innermost first.
  for (const pointer of [...pointers].reverse()) {
    stopWaiting(run, pointer);
    if (pointer !== recorded) writeRecord(run, pointer, 'Cancelled', details);
    passOnCompleted(run, pointer);
    removePointer(run, pointer, false);
  }
}

function isInside(run: Run, pointer: Pointer, containerId: number): boolean {
  let { parentId } = pointer;
  while (parentId !== null) {
    if (parentId === containerId) return true;
    parentId = run.instance.pointers.get(parentId)?.parentId ?? null;
  }
  return false;
}
