/** Who ended a child whose parent no longer waits for it: noted in the child's own record of actions. */
import type { WorkflowInstance } from '../../engine/model/instance.js';
import type { AuditEntry } from '../../store/records/control.js';
import { WITH_COMPENSATION } from '../operations/termination.js';

/**
 * @param actions of the parent, newest first; null: it is gone
 * @returns the entry of the child: by whoever terminated the parent, or by the parent itself where nobody did
 */
export function terminationWith(
  parent: Pick<WorkflowInstance, 'id' | 'status' | 'cleanUp'>,
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
