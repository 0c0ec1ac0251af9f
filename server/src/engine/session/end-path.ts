/** Ends a pointer: opens its successors, and joins the container if this was its last path. */
import { nextCleanUp } from './clean-up-plan.js';
import { completeInstance } from './end-instance.js';
import type { StepRecordStatus } from '../model/step-record.js';
import type { Json } from '../values/json.js';
import type { Pointer } from '../model/pointer.js';
import { openPointer, parentOf, removePointer, surroundingsOf } from './pointers.js';
import { stepOf, type Session } from './session.js';
import { writeRecord } from './step-records.js';

export interface PathEnd {
  readonly status: StepRecordStatus;
  /** Ids of the next steps; several start in parallel. */
  readonly successors: readonly string[];
  readonly outputs?: Json;
}

export function endPointer(session: Session, pointer: Pointer, end: PathEnd): void {
  writeRecord(session, pointer, end.status, end);
  openSuccessors(session, pointer, end.successors);
  dropPointer(session, pointer, end.status === 'Complete');
}

/** Removes a pointer without its own record, and notifies the enclosing container. */
export function dropPointer(session: Session, pointer: Pointer, hasSucceeded = false): void {
  const parent = parentOf(session, pointer);
  removePointer(session, pointer, hasSucceeded);
  if (parent === null) completeIfDone(session);
  else if (parent.children === 0) session.joins.add(parent.id);
}

/** Ends a pointer without a result and without successors. */
export function endCanceled(session: Session, pointer: Pointer): void {
  writeRecord(session, pointer, 'Cancelled');
  dropPointer(session, pointer);
}

export function openSuccessors(
  session: Session,
  pointer: Pointer,
  stepIds: readonly string[],
): void {
  for (const stepId of stepIds) openPointer(session, stepId, surroundingsOf(pointer));
}

/** The unconditional next step. */
export function nextStepOf(session: Session, pointer: Pointer): readonly string[] {
  const { nextStepId } = stepOf(session, pointer);
  return nextStepId === null || pointer.inBackground ? [] : [nextStepId];
}

export function completeIfDone(session: Session): void {
  const { instance } = session;
  if (instance.status !== 'Runnable' || instance.pointers.size > 0) return;
  if (instance.cleanUp === null) completeInstance(session);
  else nextCleanUp(session, instance.cleanUp);
}
