/**
 * Modifies an instance: cancels executions, changes the data, moves to another version, starts steps and resumes, in this
 * order, all or nothing.
 *
 *  E11 A modification that meets an obstacle changes nothing.
 *  E12 An execution that a modification cancels has no successors and is not compensated. A container that stays open with
 *      nothing open inside it joins as usual.
 */
import { cancelEach } from '../failure/cancel-inside.js';
import { withdrawAnnouncement } from '../session/end-instance.js';
import { completeIfDone } from '../session/end-path.js';
import { openPointer } from '../session/pointers.js';
import type { Session } from '../session/session.js';
import { askForSlots } from '../session/slot-waits.js';
import { continueContainers } from '../primitives/continue-containers.js';
import type { WorkflowDefinition } from '../model/definition.js';
import { isEnded, type Instance } from '../model/instance.js';
import type { Pointer } from '../model/pointer.js';
import { jsonLength } from '../values/json-length.js';
import { mergePatch } from '../values/merge-patch.js';
import { planModification } from './find-obstacles.js';
import type {
  Execution,
  Modification,
  ModificationResult,
  ModificationWarning,
} from '../model/modification.js';
import { moveToVersion } from './move-version.js';

/** @param target the version of the definition that applies afterwards; the instance's own if it does not change */
export function modifyInstance(
  session: Session,
  modification: Modification,
  target: WorkflowDefinition,
): ModificationResult {
  const plan = planModification(session, modification, target);
  if (plan.obstacles.length > 0) return { outcome: 'impossible', obstacles: plan.obstacles };
  const warnings: ModificationWarning[] = [];
  const wasEnded = isEnded(session.instance);
  const cancelled = cancelPointers(session, plan.cancel, modification.reason);
  // An instance that has ended keeps its outcome unless it is opened again.
  const beginsAnew = wasEnded ? plan.start.length > 0 : modification.cancel === 'all';
  if (session.instance.pointers.size === 0 && beginsAnew) {
    const warning = forgetFailures(session, cancelled.length > 0);
    if (warning !== null) warnings.push(warning);
  }
  if (modification.data !== null) patchData(session, modification.data);
  if (target !== session.definition) move(session, target, modification.stepMap, warnings);
  if (wasEnded && plan.start.length > 0) reopen(session, warnings);
  const started = plan.start.map(({ stepId, surroundings }) => {
    const pointer = openPointer(session, stepId, surroundings);
    pointer.startedBecause = modification.reason;
    return executionOf(pointer);
  });
  goOn(session, modification, plan.cancel);
  return { outcome: 'applied', cancelled, started, warnings };
}

function cancelPointers(
  session: Session,
  pointers: readonly Pointer[],
  reason: string,
): readonly Execution[] {
  const canceled = pointers.map(executionOf);
  cancelEach(session, pointers, { reason });
  return canceled;
}

/**
 * Called when nothing is open any more: earlier errors, compensations and clean-ups must not affect the outcome of the steps
 * that start now.
 */
function forgetFailures({ instance }: Session, hasCanceled: boolean): ModificationWarning | null {
  instance.lastError = null;
  instance.lostError = null;
  instance.isCompensated = false;
  if (instance.cleanUp === null) return null;
  const { forgotten, next, plan } = instance.cleanUp;
  const left = plan?.slice(next) ?? instance.completed.toReversed();
  instance.completed = left.toReversed();
  instance.forgotten = forgotten;
  instance.cleanUp = null;
  // The open pointers were the compensation in progress.
  const unfinished = left.length + (hasCanceled ? 1 : 0);
  if (unfinished === 0) return null;
  const steps = unfinished === 1 ? '1 completed step is' : `${unfinished} completed steps are`;
  const message = `The termination with compensation was stopped: ${steps} not compensated`;
  return { code: 'clean_up_stopped', message };
}

function patchData(session: Session, patch: NonNullable<Modification['data']>): void {
  session.instance.data = mergePatch(session.instance.data, patch);
  session.grown += jsonLength(patch);
  session.cancelCheckDue = true;
  session.dirty = true;
}

function move(
  session: Session,
  target: WorkflowDefinition,
  stepMap: Modification['stepMap'],
  warnings: ModificationWarning[],
): void {
  const lost = moveToVersion(session, target, stepMap);
  session.dirty = true;
  if (lost === 0) return;
  const message = `${lost} completed steps have no CompensateWith in version ${target.version}; they can no longer be compensated`;
  warnings.push({ code: 'compensation_lost', message });
}

/** Other runs that waited for the end have received the result, and won't receive another. */
function reopen({ instance }: Session, warnings: ModificationWarning[]): void {
  for (const workflowId of notifiedOfEnd(instance)) {
    const message = `The run ${workflowId} waited for the end of this one. It has already been notified and is not notified again`;
    warnings.push({ code: 'parent_not_told', message });
  }
  withdrawAnnouncement(instance);
  instance.status = 'Runnable';
  instance.endTime = null;
  instance.outcome = null;
}

/** Maximum number of runs that warnings name. */
const NOTIFIED_MAX = 20;

/** The runs that waited for the end of this one and were notified of it. */
function notifiedOfEnd({ joinedBy, outbox, parent }: Instance): readonly string[] {
  const steps = joinedBy.filter(({ queue }) => queue !== true);
  const waited = [...(parent === null || parent.waiting === 0 ? [] : [parent]), ...steps];
  const notified = waited.filter(
    ({ attempt, pointerId, workflowId }) =>
      !outbox.some(
        (message) =>
          message.kind === 'child-ended' &&
          message.parentId === workflowId &&
          message.pointerId === pointerId &&
          message.attempt === attempt,
      ),
  );
  return [...new Set(notified.map(({ workflowId }) => workflowId))].slice(0, NOTIFIED_MAX);
}

function goOn(session: Session, modification: Modification, canceled: readonly Pointer[]): void {
  const { instance } = session;
  instance.stepsWithoutWait = 0;
  session.dirty = true;
  if (isEnded(instance)) return;
  for (const { parentId } of canceled) {
    const container = parentId === null ? undefined : instance.pointers.get(parentId);
    if (container?.children === 0) session.joins.add(container.id);
  }
  const endsHere = modification.cancel === 'all' && instance.pointers.size === 0;
  if (modification.resume || endsHere) {
    instance.status = 'Runnable';
    askForSlots(session);
  }
  completeIfDone(session);
  continueContainers(session);
}

function executionOf({ id, stepId }: Pointer): Execution {
  return { executionId: id, stepId };
}
