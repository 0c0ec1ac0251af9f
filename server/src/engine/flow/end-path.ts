/** What happens when a pointer ends: its successors are opened, and a container whose last path has ended joins. */
import { nextCleanUp } from '../failure/clean-up-plan.js';
import { completeInstance } from './end-instance.js';
import type { StepRecordStatus } from '../model/step-record.js';
import type { Json } from '../values/json.js';
import type { Pointer } from '../model/pointer.js';
import { openPointer, parentOf, removePointer, surroundingsOf } from './pointers.js';
import { stepOf, type Run } from './run.js';
import { writeRecord } from './step-records.js';

export interface PathEnd {
  readonly status: StepRecordStatus;
  /** Ids of the next steps; several start in parallel. */
  readonly successors: readonly string[];
  readonly outputs?: Json;
}

export function endPointer(run: Run, pointer: Pointer, end: PathEnd): void {
  writeRecord(run, pointer, end.status, end);
  openSuccessors(run, pointer, end.successors);
  dropPointer(run, pointer, end.status === 'Complete');
}

/** Removes a pointer without a record of its own, and notifies the container around it. */
export function dropPointer(run: Run, pointer: Pointer, hasSucceeded = false): void {
  const parent = parentOf(run, pointer);
  removePointer(run, pointer, hasSucceeded);
  if (parent === null) completeIfDone(run);
  else if (parent.children === 0) run.joins.add(parent.id);
}

/** Ends a pointer without a result and without successors. */
export function endCancelled(run: Run, pointer: Pointer): void {
  writeRecord(run, pointer, 'Cancelled');
  dropPointer(run, pointer);
}

export function openSuccessors(run: Run, pointer: Pointer, stepIds: readonly string[]): void {
  for (const stepId of stepIds) openPointer(run, stepId, surroundingsOf(pointer));
}

/** The unconditional next step. */
export function nextStepOf(run: Run, pointer: Pointer): readonly string[] {
  const { nextStepId } = stepOf(run, pointer);
  return nextStepId === null || pointer.inBackground ? [] : [nextStepId];
}

export function completeIfDone(run: Run): void {
  const { instance } = run;
  if (instance.status !== 'Runnable' || instance.pointers.size > 0) return;
  if (instance.cleanUp === null) completeInstance(run);
  else nextCleanUp(run, instance.cleanUp);
}
