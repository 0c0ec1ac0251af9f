/** The end of an instance as a whole, and the message about it to the instance that started it. */
import type { InstanceOutcome, WorkflowInstance } from '../model/instance.js';
import { newerOf } from './pointers.js';
import type { Run } from './run.js';

/** Completes an instance that has nothing open any more. */
export function completeInstance(run: Run): void {
  const outcome = run.instance.isCompensated ? 'Compensated' : 'Succeeded';
  endInstance(run, { status: 'Complete', outcome, at: run.now });
}

export interface InstanceEnd {
  readonly status: 'Complete' | 'Terminated';
  readonly outcome: InstanceOutcome;
  readonly at: number;
}

export function endInstance(run: Run, { at, outcome, status }: InstanceEnd): void {
  const { instance } = run;
  instance.status = status;
  instance.outcome = outcome;
  instance.endTime = at;
  // While the instance was open, only errors of open steps mattered. Now every error counts that was not resolved.
  instance.lastError = newerOf(instance.lostError, instance.lastError);
  withdrawAnnouncement(instance);
  if (instance.parent !== null) {
    const { attempt, pointerId, workflowId } = instance.parent;
    instance.outbox.push({ kind: 'child-ended', parentId: workflowId, pointerId, attempt });
  }
  run.dirty = true;
}

/** Withdraws an end that was not committed, because an external change took precedence: nobody may learn of it. */
export function withdrawAnnouncement(instance: WorkflowInstance): void {
  instance.outbox = instance.outbox.filter(({ kind }) => kind !== 'child-ended');
}
