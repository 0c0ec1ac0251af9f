/** The end of an instance as a whole, and the message about it to the instance that started it. */
import { isEnded, type InstanceOutcome, type JoinedBy, type Instance } from '../model/instance.js';
import { newerOf } from './pointers.js';
import type { Session } from './session.js';

/** Completes an instance that has nothing left open. */
export function completeInstance(session: Session): void {
  const outcome = session.instance.isCompensated ? 'Compensated' : 'Succeeded';
  endInstance(session, { status: 'Complete', outcome, at: session.now });
}

export interface InstanceEnd {
  readonly status: 'Complete' | 'Terminated';
  readonly outcome: InstanceOutcome;
  readonly at: number;
}

export function endInstance(session: Session, { at, outcome, status }: InstanceEnd): void {
  const { instance } = session;
  instance.status = status;
  instance.outcome = outcome;
  instance.endTime = at;
  // While the instance was open, only errors of open steps mattered. Now every unresolved error counts.
  instance.lastError = newerOf(instance.lostError, instance.lastError);
  withdrawAnnouncement(instance);
  if (instance.parent !== null) {
    const { attempt, pointerId, workflowId } = instance.parent;
    instance.outbox.push({ kind: 'child-ended', parentId: workflowId, pointerId, attempt });
  }
  for (const joiner of instance.joinedBy) announceEnd(instance, joiner);
  if (instance.concurrencyKey !== null) instance.outbox.push({ kind: 'free-place' });
  session.dirty = true;
}

/** Withdraws an end that was not committed, because an external change took precedence: it must not be announced. */
export function withdrawAnnouncement(instance: Instance): void {
  instance.outbox = instance.outbox.filter(
    (message) =>
      message.kind !== 'free-place' &&
      (message.kind !== 'child-ended' || message.joined === 'refused'),
  );
}

/** Maximum number of steps that may join one instance to wait for its end. */
export const JOINED_BY_MAX = 1000;

/** Registers a step of another instance that waits for the end of this one. */
export function joinInstance(session: Session, joiner: JoinedBy): void {
  const { instance } = session;
  const { attempt, pointerId, workflowId } = joiner;
  if (instance.joinedBy.some((known) => isSameStep(known, joiner))) return;
  session.dirty = true;
  if (joiner.queue === true) forgetMany(instance);
  else if (instance.joinedBy.length >= JOINED_BY_MAX) {
    const parentId = workflowId;
    instance.outbox.push({ kind: 'child-ended', parentId, pointerId, attempt, joined: 'refused' });
    return;
  }
  instance.joinedBy.push(joiner);
  if (isEnded(instance)) announceEnd(instance, joiner);
}

/**
 * Each instance in a queue waits for the one before it, so that hardly more than one waits here. Others have been terminated: when
 * there are many, all are told to ask for their places again, and those that still wait come back.
 */
function forgetMany(instance: Instance): void {
  const queued = instance.joinedBy.filter(({ queue }) => queue === true);
  if (queued.length < JOINED_BY_MAX) return;
  instance.joinedBy = instance.joinedBy.filter(({ queue }) => queue !== true);
  for (const { attempt, pointerId, workflowId: parentId } of queued) {
    const end = { kind: 'child-ended', parentId, pointerId, attempt, joined: 'refused' } as const;
    instance.outbox.push({ ...end, queue: true });
  }
}

/** Removes a step that no longer waits for the end of this instance. */
export function leaveInstance(session: Session, joiner: JoinedBy): void {
  const { instance } = session;
  const left = instance.joinedBy.filter((known) => !isSameStep(known, joiner));
  if (left.length === instance.joinedBy.length) return;
  instance.joinedBy = left;
  session.dirty = true;
}

function isSameStep(left: JoinedBy, right: JoinedBy): boolean {
  return (
    left.workflowId === right.workflowId &&
    left.pointerId === right.pointerId &&
    left.attempt === right.attempt
  );
}

function announceEnd(
  instance: Instance,
  { attempt, pointerId, queue, workflowId: parentId }: JoinedBy,
): void {
  const end = { kind: 'child-ended', parentId, pointerId, attempt, joined: 'ended' } as const;
  instance.outbox.push(queue === true ? { ...end, queue } : end);
}
