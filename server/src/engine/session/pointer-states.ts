/** The state transitions of a pointer: finish, sleep, restart, or stop waiting. */
import {
  type BegunState,
  type QueueReason,
  executionKey,
  type KeptResult,
  type Pointer,
  type PointerState,
} from '../model/pointer.js';
import type { Instance } from '../model/instance.js';
import { jsonLength } from '../values/json-length.js';
import type { JsonObject } from '../values/json.js';
import { stepOf, type Session } from './session.js';
import { freeUnlessKept } from './slots.js';

/** Moves a pointer to another state, and into or out of the run queue. Slots that it doesn't need there are free. */
export function setState(session: Session, pointer: Pointer, state: PointerState): void {
  freeUnlessKept(session, pointer, state);
  if (session.instance.trace?.sampled === true) noteWait(session, pointer, state);
  pointer.state = state;
  if (state.kind === 'ready' || state.kind === 'finishing') session.queue.add(pointer.id);
  else session.queue.delete(pointer.id);
  session.dirty = true;
}

const NOTED_WAITS: ReadonlySet<PointerState['kind']> = new Set([
  'sleeping',
  'event',
  'child',
  'limited',
]);

/** Workers' spans show the waits for them. */
function noteWait(session: Session, pointer: Pointer, next: PointerState): void {
  const { kind } = pointer.state;
  if (kind === next.kind || !NOTED_WAITS.has(kind)) return;
  const endedBy = kind === 'event' ? session.appliedSpan : null;
  session.changes.endedWaits.push({ pointer: { ...pointer }, until: session.now, endedBy });
}

export function finish(session: Session, pointer: Pointer, result: JsonObject): void {
  session.grown += jsonLength(result);
  setState(session, pointer, { kind: 'finishing', result });
}

export function sleep(session: Session, pointer: Pointer, until: number): void {
  setState(session, pointer, { kind: 'sleeping', until, reason: 'step' });
}

/**
 * Restarts the step at `at`, as the next attempt; see `beginAttempt`. A pointer that has its result keeps it (E9). Any other
 * pointer starts as if it had just been reached.
 */
export function restart(session: Session, pointer: Pointer, at: number): void {
  const kept = resultOf(pointer);
  pointer.attempt += 1;
  pointer.attemptStartedAt = session.now;
  pointer.deadline = null;
  if (kept === null) {
    pointer.memo = null;
    pointer.completed = [];
    delete pointer.lostError;
    delete pointer.isCompensated;
    delete pointer.joined;
  }
  if (stepOf(session, pointer).cancelCondition !== null) session.cancelCheckDue = true;
  const pause = { kind: 'sleeping', until: at, reason: 'retry' } as const;
  setState(session, pointer, kept === null ? pause : { ...pause, kept });
}

/** The first step of a new instance waits until `at`, and then, if it `queues`, for its place. */
export function delayStart(
  session: Session,
  pointer: Pointer,
  at: number,
  queues: QueueReason | undefined,
): void {
  pointer.deadline = null;
  setState(session, pointer, {
    kind: 'sleeping',
    until: at,
    reason: 'retry',
    isStart: true,
    ...(queues !== undefined && { queues }),
  });
}

/** The first step of a new instance waits for its place. */
export function queueStart(
  session: Session,
  pointer: Pointer,
  { at, queues }: { readonly at: number; readonly queues: QueueReason },
): void {
  pointer.deadline = null;
  const isBehind = queues === 'reference';
  setState(session, pointer, { kind: 'queued', at, ...(isBehind && { reference: true }) });
  askForPlaces(session);
}

/** Asks for the place of a queued instance, again if something has changed since. */
export function askForPlaces(session: Session): void {
  const { outbox, pointers } = session.instance;
  if (outbox.some(({ kind }) => kind === 'take-place')) return;
  for (const { attempt, id: pointerId, state } of pointers.values()) {
    if (state.kind !== 'queued') continue;
    const { at, reference } = state;
    const asked = { kind: 'take-place', pointerId, attempt, at } as const;
    outbox.push(reference === true ? { ...asked, reference } : asked);
    session.dirty = true;
  }
}

/** Whether the pointer waits for the start time of its instance, or for its place. */
export function waitsForStart(state: PointerState): boolean {
  return state.kind === 'queued' || (state.kind === 'sleeping' && state.isStart === true);
}

/** True if the pointer was canceled or has failed for good: only its successors remain to be selected. */
export function isOver(state: PointerState): boolean {
  return state.kind === 'finishing' && (state.cancelled === true || state.compensated === true);
}

function resultOf({ attempt, state }: Pointer): KeptResult | null {
  if (state.kind !== 'finishing' || isOver(state)) return null;
  return { result: state.result, bodyAttempt: state.bodyAttempt ?? attempt };
}

/** Begins an attempt when the pause before it has ended. The step's Timeout starts here, even if the instance was suspended. */
export function beginAttempt(session: Session, pointer: Pointer): void {
  const { timeoutMs, cancelCondition } = stepOf(session, pointer);
  pointer.attemptStartedAt = session.now;
  pointer.deadline = timeoutMs === null ? null : session.now + timeoutMs;
  if (cancelCondition !== null) session.cancelCheckDue = true;
  const kept = pointer.state.kind === 'sleeping' ? pointer.state.kept : undefined;
  setState(
    session,
    pointer,
    kept === undefined ? { kind: 'ready' } : { kind: 'finishing', ...kept },
  );
}

/** Moves a pointer to a state in which work outside of the engine begins, once that is committed and it has its slots. */
export function request(session: Session, pointer: Pointer, state: BegunState): void {
  setState(session, pointer, state);
  const { changes, interrupted } = session;
  changes.effects.push(pointer.id);
  interrupted.delete(pointer.id);
  if (pointer.slots !== undefined) changes.takenSlots.push(pointer.slots);
}

/** Called when the response has arrived: no external wait is left to cancel. */
export function stopWaitingAnswered(session: Session, pointer: Pointer): void {
  setState(session, pointer, { kind: 'open' });
}

/** Terminates a child that this step started; a child that it only joined removes the step from its joiners. */
function leaveChild(instance: Instance, pointer: Pointer, workflowId: string): void {
  const { attempt, id: pointerId, joined } = pointer;
  instance.outbox.push(
    joined === undefined
      ? { kind: 'terminate-child', workflowId }
      : { kind: 'join', workflowId, pointerId, attempt, left: true },
  );
}

/** Removes the work item of an activity. */
export function withdrawItem({ changes, instance }: Session, pointer: Pointer): void {
  changes.removedActivities.push(executionKey(instance.id, pointer));
  if (pointer.slots !== undefined) changes.freedSlots.push(pointer.slots);
}

/** Cancels everything external that the pointer waits for. Idempotent. */
export function stopWaiting(session: Session, pointer: Pointer): void {
  const { changes, instance } = session;
  switch (pointer.state.kind) {
    case 'event':
      changes.removedSubscriptions.push(executionKey(instance.id, pointer));
      break;
    case 'activity':
      withdrawItem(session, pointer);
      break;
    case 'limited':
      break;
    case 'effect':
      changes.abortedEffects.push(pointer.id);
      break;
    case 'child':
      changes.abortedEffects.push(pointer.id);
      // If the step doesn't wait for it, the child is independent as soon as it has started.
      if (pointer.state.wait) leaveChild(instance, pointer, pointer.state.workflowId);
      break;
    case 'ready':
    case 'finishing':
    case 'sleeping':
    case 'queued':
    case 'open':
    case 'compensating':
      return;
  }
  stopWaitingAnswered(session, pointer);
}
