/** The end of an instance as a whole, and its news for the instance that started it. */
import type { WorkflowInstance } from './instance.js';
import type { Run } from './run.js';

export function endInstance(run: Run, status: 'Complete' | 'Terminated', at: number): void {
  const { instance } = run;
  instance.status = status;
  instance.endTime = at;
  withdrawAnnouncement(instance);
  if (instance.parent !== null) {
    const { attempt, pointerId, workflowId } = instance.parent;
    instance.outbox.push({ kind: 'child-ended', parentId: workflowId, pointerId, attempt });
  }
  run.dirty = true;
}

/** An end that was not committed gave way to something from outside: nobody may hear of it. */
export function withdrawAnnouncement(instance: WorkflowInstance): void {
  instance.outbox = instance.outbox.filter(({ kind }) => kind !== 'child-ended');
}
