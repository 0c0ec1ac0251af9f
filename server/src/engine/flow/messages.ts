/** Messages that an instance receives: events, results of activities, ends of other instances, results of effects. */
import { beginCleanUp } from '../failure/clean-up.js';
import { cutOff, endNotBegun, graceOf, isAwaited } from '../failure/in-flight.js';
import { GRACE_MS, notifyChild } from '../failure/stop.js';
import { joinInstance, leaveInstance } from '../session/end-instance.js';
import { completeIfDone } from '../session/end-path.js';
import { failStep, type Failure } from '../failure/fail-step.js';
import type { WorkflowDefinition } from '../model/definition.js';
import { isEnded, type InstanceStatus } from '../model/instance.js';
import { isAnswered, keepAnswer, noteDropped } from '../repair/answers.js';
import type { KeyedRequest, Modification, Repair } from '../model/modification.js';
import { describeModification } from '../repair/describe-modification.js';
import { modifyInstance } from '../repair/modify.js';
import type { Json, JsonObject } from '../values/json.js';
import { executionKey, type Pointer, type PointerState } from '../model/pointer.js';
import {
  askForPlaces,
  beginAttempt,
  finish,
  setState,
  stopWaitingAnswered,
} from '../session/pointer-states.js';
import { endWait, type Session } from '../session/session.js';
import { suspend } from '../session/slot-waits.js';
import { continueContainers } from '../primitives/continue-containers.js';
import { applyChildEnd, type ChildMessage } from './child-end.js';
import { joinWindow, type DebounceMessage } from './debounce.js';
import { applySlots, type SlotsMessage } from './slots.js';
import { eventKey, isTaken, markTaken } from './taken-events.js';

export interface EventMessage {
  readonly kind: 'event';
  readonly eventId: string;
  readonly name: string;
  readonly key: string;
  readonly publishedAt: number;
  readonly data: Json;
  /** The span that published it, if traces are recorded. */
  readonly traceparent?: string;
}

export interface ActivityMessage {
  readonly kind: 'activity';
  /** The execution that offered the activity, see `executionKey`. */
  readonly activityId: string;
  readonly succeeded: boolean;
  readonly data: Json;
  /** Set only for a failure that must not be retried. */
  readonly retryable?: boolean;
  /** The holder of a withdrawn item gave it back. */
  readonly released?: true;
}

/** Ends the wait for the next attempt of all failed steps. */
export interface RetryNowMessage {
  readonly kind: 'retry-now';
}

/** The first step of a queued instance begins. */
export interface BeginMessage {
  readonly kind: 'begin';
}

/** The instance before a queued one has ended. */
export interface PlaceFreeMessage {
  readonly kind: 'place-free';
}

/** Terminates the instance with clean-up; see `clean-up.ts`. */
export interface CleanUpMessage {
  readonly kind: 'clean-up';
  /** When work in flight is given up. Default: after the default grace. */
  readonly graceUntil?: number;
}

/** A step of another instance, which did not start this one, waits for its end. */
export interface JoinMessage {
  readonly kind: 'join';
  readonly workflowId: string;
  readonly pointerId: number;
  readonly attempt: number;
  /** The step no longer waits. */
  readonly left?: true;
  /** It waits for its place. */
  readonly queue?: true;
}

/** Messages did not fit into the inbox. Events among them are in the store; others will be sent again. */
export interface OverflowMessage {
  readonly kind: 'overflow';
}

/** Modifies the instance; see `repair/modify.ts`. */
export interface ModifyMessage {
  readonly kind: 'modify';
  readonly id: string;
  readonly modification: Modification;
  /** The version of the definition that applies afterwards; null: the instance's own. */
  readonly target: WorkflowDefinition | null;
  /** True if the same request has resumed the instance. It is suspended again if the modification is impossible. */
  readonly hasResumed: boolean;
  readonly repair: Repair;
  /** Set if the request has an idempotency key. */
  readonly keyed?: KeyedRequest;
}

export type Message =
  | EventMessage
  | ActivityMessage
  | ChildMessage
  | RetryNowMessage
  | BeginMessage
  | PlaceFreeMessage
  | CleanUpMessage
  | JoinMessage
  | DebounceMessage
  | ModifyMessage
  | SlotsMessage
  | OverflowMessage;

/**
 * Applies a message. A message that no step waits for is dropped: events can be found in the store later.
 * @param status the stored status, which may differ from the one in memory
 */
export function applyMessage(
  session: Session,
  message: Message,
  status: InstanceStatus = session.instance.status,
): void {
  if (message.kind === 'join') {
    const { attempt, left, pointerId, queue, workflowId } = message;
    const changeJoiners = left === true ? leaveInstance : joinInstance;
    const joiner = { workflowId, pointerId, attempt };
    changeJoiners(session, queue === true ? { ...joiner, queue } : joiner);
    return;
  }
  if (message.kind === 'debounce') {
    joinWindow(session, message, status);
    return;
  }
  endWait(session);
  switch (message.kind) {
    case 'event':
      applyEvent(session, message);
      break;
    case 'activity':
      applyActivity(session, message);
      break;
    case 'child':
      applyChild(session, message);
      break;
    case 'retry-now':
      applyRetryNow(session);
      break;
    case 'begin':
      applyBegin(session);
      break;
    case 'place-free':
      askForPlaces(session);
      session.dirty = true;
      break;
    case 'clean-up':
      beginCleanUp(session, status, message.graceUntil ?? session.now + GRACE_MS);
      completeIfDone(session);
      break;
    case 'slots':
      applySlots(session, message);
      break;
    case 'modify':
      applyModification(session, message, status);
      break;
    case 'overflow':
      searchAgain(session);
      break;
  }
  continueContainers(session);
}

/** An instance that was ended in the store isn't reopened here: the caller sees the end, and modifies the ended instance. */
function applyModification(session: Session, message: ModifyMessage, status: InstanceStatus): void {
  const { keyed } = message;
  // A repetition.
  if (isAnswered(session.instance, { id: message.id, requestHash: keyed?.requestHash })) return;
  if (isEnded({ status })) {
    noteDropped(session, message.id);
    return;
  }
  const { hasResumed, id, modification, repair, target } = message;
  const from = session.instance.version;
  const result = modifyInstance(session, modification, target ?? session.definition);
  if (result.outcome === 'applied') {
    const detail = describeModification(
      { modification, from, to: session.instance.version },
      result,
    );
    session.changes.repairs.push({ ...repair, time: session.now, detail });
  }
  if (result.outcome === 'impossible' && hasResumed && session.instance.status === 'Runnable') {
    suspend(session);
  }
  keepAnswer(session, { id, keyed, result });
}

function applyEvent(session: Session, message: EventMessage): void {
  const key = eventKey(message.name, message.key);
  const position = { publishedAt: message.publishedAt, id: message.eventId };
  if (isTaken(session.instance, key, position)) return;
  for (const pointer of session.instance.pointers.values()) {
    const { state } = pointer;
    if (state.kind !== 'event' || state.name !== message.name || state.key !== message.key)
      continue;
    // The store may have older events for a wait that has not searched yet. Its search will find this one too.
    if (!state.looked || state.effectiveAt > message.publishedAt) continue;
    markTaken(session.instance, key, position);
    session.appliedSpan = message.traceparent ?? null;
    session.changes.removedSubscriptions.push(executionKey(session.instance.id, pointer));
    finish(session, pointer, { EventData: message.data, TimedOut: false });
    session.appliedSpan = null;
    return;
  }
}

/** Makes every wait search the stored events again. Until then, it takes no events from the inbox. */
function searchAgain(session: Session): void {
  for (const pointer of session.instance.pointers.values()) {
    const { state } = pointer;
    if (state.kind === 'event' && state.looked)
      setState(session, pointer, { ...state, looked: false });
  }
}

function applyActivity(session: Session, message: ActivityMessage): void {
  // The result has arrived and must not be sent again, whether or not a step still waits for it.
  session.changes.settledActivities.push(message.activityId);
  session.dirty = true;
  const pointer = waitingFor(session, message.activityId);
  if (pointer === null) return;
  if (message.succeeded) {
    finish(session, pointer, { Result: message.data });
    return;
  }
  if (message.released === true && isAwaited(pointer)) {
    cutOff(session, pointer, 'its worker gave the item back');
    return;
  }
  stopWaitingAnswered(session, pointer);
  failStep(session, pointer, {
    type: 'ActivityFailed',
    message: failureText(message.data),
    data: message.data,
    retryable: message.retryable ?? true,
  });
}

function waitingFor(session: Session, activityId: string): Pointer | null {
  const pointerId = Number(activityId.split('/')[1]);
  const pointer = session.instance.pointers.get(pointerId);
  if (pointer?.state.kind !== 'activity') return null;
  return executionKey(session.instance.id, pointer) === activityId ? pointer : null;
}

function failureText(data: Json): string {
  if (typeof data === 'string') return data;
  if (typeof data === 'object' && data !== null && 'message' in data) {
    const { message } = data;
    if (typeof message === 'string') return message;
  }
  return 'the worker reported a failure';
}

function applyChild(session: Session, message: ChildMessage): void {
  const pointer = session.instance.pointers.get(message.pointerId);
  // From a node of an earlier version, which doesn't know queues.
  if (pointer?.state.kind === 'queued') askForPlaces(session);
  else if (pointer !== undefined) applyChildEnd(session, pointer, message);
}

function applyBegin(session: Session): void {
  for (const pointer of session.instance.pointers.values()) {
    if (pointer.state.kind === 'queued') beginAttempt(session, pointer);
  }
}

/** Ends every wait for a next attempt immediately; the timers, which are processed next, do the rest. */
function applyRetryNow(session: Session): void {
  if (session.instance.status !== 'Runnable') return;
  for (const pointer of session.instance.pointers.values()) {
    const { state } = pointer;
    if (!waitsForRetry(state) || state.until <= session.now) continue;
    setState(session, pointer, { ...state, until: session.now });
  }
}

/** True if a failed step will be retried. */
export function waitsForRetry(
  state: PointerState,
): state is Extract<PointerState, { kind: 'sleeping' }> {
  return state.kind === 'sleeping' && state.reason === 'retry' && state.isStart !== true;
}

/** The result of an effect: the variables of `step`, or a failure. */
export type EffectResult =
  | { readonly ok: true; readonly values: JsonObject }
  | { readonly ok: false; readonly failure: Failure };

/** Applies the result of an effect, unless its step has since been canceled or retried. */
export function applyEffect(
  session: Session,
  execution: { readonly pointerId: number; readonly attempt: number },
  result: EffectResult,
): void {
  const pointer = session.instance.pointers.get(execution.pointerId);
  if (pointer?.attempt !== execution.attempt) return;
  // Many failures occur before an external call is made. A loop of such failures never waits for anything.
  if (result.ok) endWait(session);
  if (pointer.state.kind === 'effect') {
    applyBody(session, pointer, result);
  } else if (pointer.state.kind === 'child') {
    applyChildStarted(session, pointer, result);
  }
  continueContainers(session);
}

function applyBody(session: Session, pointer: Pointer, result: EffectResult): void {
  if (result.ok) {
    finish(session, pointer, result.values);
  } else {
    stopWaitingAnswered(session, pointer);
    failStep(session, pointer, result.failure);
  }
}

function applyChildStarted(session: Session, pointer: Pointer, result: EffectResult): void {
  if (pointer.state.kind !== 'child') return;
  if (!result.ok) {
    if (pointer.isEnding === true) {
      endNotBegun(session, pointer);
      return;
    }
    stopWaitingAnswered(session, pointer);
    failStep(session, pointer, result.failure);
    return;
  }
  const joined = result.values['WorkflowId'];
  if (typeof joined === 'string') applyJoined(session, pointer, joined);
  else if (pointer.state.wait) {
    setState(session, pointer, { ...pointer.state, started: true });
    if (pointer.isEnding === true) notifyChild(session, pointer, graceOf(session, pointer));
  } else finishWithoutWait(session, pointer, pointer.state.workflowId);
}

/** Called if another instance has the reference: the step uses that instance instead of a new one. */
function applyJoined(session: Session, pointer: Pointer, workflowId: string): void {
  if (pointer.state.kind !== 'child') return;
  pointer.joined = workflowId;
  if (pointer.isEnding === true) endNotBegun(session, pointer);
  else if (pointer.state.wait) {
    setState(session, pointer, { ...pointer.state, workflowId, started: true });
    const { attempt, id: pointerId } = pointer;
    session.instance.outbox.push({ kind: 'join', workflowId, pointerId, attempt });
  } else finishWithoutWait(session, pointer, workflowId);
}

function finishWithoutWait(session: Session, pointer: Pointer, workflowId: string): void {
  finish(session, pointer, {
    WorkflowId: workflowId,
    Status: 'Runnable',
    Outcome: null,
    Data: null,
  });
}
