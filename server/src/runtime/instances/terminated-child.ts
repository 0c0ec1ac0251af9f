/** The entry in a child's audit that names who terminated it when its parent no longer waits for it. */
import type { Instance } from '../../engine/model/instance.js';
import type { AuditEntry } from '../../store/records/control.js';
import { WITH_COMPENSATION } from './termination.js';

/**
 * @param actions the parent's actions, newest first; null if the parent no longer exists
 * @returns the child's entry: by the caller who terminated the parent, or else by the parent itself
 */
export function terminationWith(
  parent: Pick<Instance, 'id' | 'status' | 'cleanUp'>,
  actions: readonly AuditEntry[] | null,
  now: number,
): AuditEntry {
  const isCleanedUp = parent.cleanUp !== null && parent.status !== 'Terminated';
  const isOver = parent.status === 'Terminated' || isCleanedUp;
  const ended = isOver ? actions?.find(({ action }) => action === 'terminate') : undefined;
  return {
    time: now,
    actor: ended?.actor ?? `workflow ${parent.id}`,
    action: 'terminate',
    detail: isOver
      ? `with its parent ${parent.id}${isCleanedUp ? `, ${WITH_COMPENSATION}` : ''}`
      : `its parent ${parent.id} stopped waiting`,
  };
}
