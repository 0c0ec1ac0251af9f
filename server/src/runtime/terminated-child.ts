/** Who ended a child whose parent no longer waits for it: noted in the child's own record of actions. */
import type { WorkflowInstance } from '../engine/instance.js';
import type { AuditEntry } from '../store/store.js';

/**
 * @param actions of the parent, newest first; null: it is gone
 * @returns the entry of the child: by whoever terminated the parent, or by the parent itself where nobody did
 */
export function terminationWith(
  parent: Pick<WorkflowInstance, 'id' | 'status'>,
  actions: readonly AuditEntry[] | null,
  now: number,
): AuditEntry {
  const isOver = parent.status === 'Terminated';
  const ended = isOver ? actions?.find(({ action }) => action === 'terminate') : undefined;
  return {
    time: now,
    actor: ended?.actor ?? `workflow ${parent.id}`,
    action: 'terminate',
    detail: isOver ? `with its parent ${parent.id}` : `its parent ${parent.id} stopped waiting`,
  };
}
