/** What reaches an instance from outside: events, results of activities, ends of other instances, results of effects. */
import { addToPlan, beginCleanUp, tellChild } from '../failure/clean-up.js';
import { completeIfDone, endCancelled } from './end-path.js';
import { failStep, type Failure } from '../failure/fail-step.js';
import type { InstanceOutcome, InstanceStatus } from '../model/instance.js';
import type { StepError } from '../model/step-record.js';
import { acceptsOutcome } from '../primitives/effects.js';
import type { Json, JsonObject } from '../values/json.js';
import { executionKey, type Pointer, type PointerState } from '../model/pointer.js';
import { finish, setState, stopWaitingAnswered } from './pointer-states.js';
import { endWait, type Run } from './run.js';
import { settle } from './settle.js';
import { eventKey, isTaken, markTaken } from './taken-events.js';

export interface EventMessage {
  readonly kind: 'event';
  readonly eventId: string;
  readonly name: string;
  readonly key: string;
  readonly publishedAt: number;
  readonly data: Json;
}

export interface ActivityMessage {
  readonly kind: 'activity';
  /** The execution that offered it, see `executionKey`. */
  readonly activityId: string;
  readonly succeeded: boolean;
  readonly data: Json;
  /** Only for a failure that must not be retried. */
  readonly retryable?: boolean;
}

export interface ChildMessage {
  readonly kind: 'child';
  readonly pointerId: number;
  readonly attempt: number;
  readonly workflowId: string;
  readonly status: InstanceStatus;
  /** This and the error are left out by earlier versions of the server. */
  readonly outcome?: InstanceOutcome;
  readonly error?: Pick<StepError, 'stepId' | 'type' | 'message' | 'data'> | null;
  readonly data: JsonObject;
}

/** Somebody does not want to wait until failed steps are tried again. */
export interface RetryNowMessage {
  readonly kind: 'retry-now';
}

/** Somebody terminates the instance with clean-up; see `clean-up.ts`. */
export interface CleanUpMessage {
  readonly kind: 'clean-up';
}

export type Message =
  EventMessage | ActivityMessage | ChildMessage | RetryNowMessage | CleanUpMessage;

/**
 * Takes a message in. One that nobody waits for is dropped: events can still be found in the store later.
 * @param status the one in the store, which the instance may have left in memory
 */
export function applyMessage(
  run: Run,
  message: Message,
  status: InstanceStatus = run.instance.status,
): void {
  endWait(run);
  switch (message.kind) {
    case 'event':
      applyEvent(run, message);
      break;
    case 'activity':
      applyActivity(run, message);
      break;
    case 'child':
      applyChild(run, message);
      break;
    case 'retry-now':
      applyRetryNow(run);
      break;
    case 'clean-up':
      beginCleanUp(run, status);
      completeIfDone(run);
      break;
  }
  settle(run);
}

function applyEvent(run: Run, message: EventMessage): void {
  const key = eventKey(message.name, message.key);
  const position = { publishedAt: message.publishedAt, id: message.eventId };
  if (isTaken(run.instance, key, position)) return;
  for (const pointer of run.instance.pointers.values()) {
    const { state } = pointer;
    if (state.kind !== 'event' || state.name !== message.name || state.key !== message.key)
      continue;
    // Older events may be stored for a wait that has not looked yet; it will find this one too, in its turn.
    if (!state.looked || state.effectiveAt > message.publishedAt) continue;
    markTaken(run.instance, key, position);
    run.changes.removedSubscriptions.push(executionKey(run.instance.id, pointer));
    finish(run, pointer, { EventData: message.data, TimedOut: false });
    return;
  }
}

function applyActivity(run: Run, message: ActivityMessage): void {
  // Whether or not somebody still waits for it, the result has arrived and must not be sent again.
  run.changes.settledActivities.push(message.activityId);
  run.dirty = true;
  const pointer = waitingFor(run, message.activityId);
  if (pointer === null) return;
  if (message.succeeded) {
    finish(run, pointer, { Result: message.data });
    return;
  }
  stopWaitingAnswered(run, pointer);
  failStep(run, pointer, {
    type: 'ActivityFailed',
    message: failureText(message.data),
    data: message.data,
    retryable: message.retryable ?? true,
  });
}

function waitingFor(run: Run, activityId: string): Pointer | null {
  const pointerId = Number(activityId.split('/')[1]);
  const pointer = run.instance.pointers.get(pointerId);
  if (pointer?.state.kind !== 'activity') return null;
  return executionKey(run.instance.id, pointer) === activityId ? pointer : null;
}

function failureText(data: Json): string {
  if (typeof data === 'string') return data;
  if (typeof data === 'object' && data !== null && 'message' in data) {
    const { message } = data;
    if (typeof message === 'string') return message;
  }
  return 'the worker reported a failure';
}

function applyChild(run: Run, message: ChildMessage): void {
  const pointer = run.instance.pointers.get(message.pointerId);
  if (pointer?.state.kind !== 'child' || pointer.attempt !== message.attempt) return;
  if (pointer.state.workflowId !== message.workflowId) return;
  const { data, status, workflowId } = message;
  const outcome = message.outcome ?? (status === 'Complete' ? 'Succeeded' : 'Terminated');
  const isAccepted = acceptsOutcome(pointer.state.inputs, outcome);
  if (pointer.isEnding === true) {
    if (!pointer.state.started) run.changes.abortedEffects.push(pointer.id);
    if (isAccepted) addToPlan(run, pointer);
    endCancelled(run, pointer);
    return;
  }
  if (isAccepted) {
    finish(run, pointer, { WorkflowId: workflowId, Status: status, Outcome: outcome, Data: data });
    return;
  }
  // The end may have overtaken the answer to the start, which must not be taken for that of the next attempt.
  if (!pointer.state.started) run.changes.abortedEffects.push(pointer.id);
  stopWaitingAnswered(run, pointer);
  failStep(run, pointer, childFailure(workflowId, outcome, message.error ?? null));
}

function childFailure(
  workflowId: string,
  outcome: InstanceOutcome,
  error: NonNullable<ChildMessage['error']> | null,
): Failure {
  const because = error === null ? '' : `: step ${error.stepId} failed: ${error.message}`;
  const shown = error === null ? null : { ...error };
  return {
    type: 'ChildFailed',
    message: `run ${workflowId} ended with the outcome ${outcome}${because}`,
    data: { workflowId, outcome, error: shown },
  };
}

/** Every wait for a next attempt is over now; the timers, which come next, do the rest. */
function applyRetryNow(run: Run): void {
  if (run.instance.status !== 'Runnable') return;
  for (const pointer of run.instance.pointers.values()) {
    const { state } = pointer;
    if (!waitsForRetry(state) || state.until <= run.now) continue;
    setState(run, pointer, { ...state, until: run.now });
  }
}

/** Whether a failed step will be tried again. */
export function waitsForRetry(
  state: PointerState,
): state is Extract<PointerState, { kind: 'sleeping' }> {
  return state.kind === 'sleeping' && state.reason === 'retry';
}

/** How an effect ended: with the variables of `step`, or with a failure. */
export type EffectResult =
  | { readonly ok: true; readonly values: JsonObject }
  | { readonly ok: false; readonly failure: Failure };

/** Takes in how an effect ended, unless its step was cancelled or tried again meanwhile. */
export function applyEffect(
  run: Run,
  execution: { readonly pointerId: number; readonly attempt: number },
  result: EffectResult,
): void {
  const pointer = run.instance.pointers.get(execution.pointerId);
  if (pointer?.attempt !== execution.attempt) return;
  // Many failures come before anything was asked of the outside: a loop that only meets these waits for nothing.
  if (result.ok) endWait(run);
  if (pointer.state.kind === 'effect') {
    applyBody(run, pointer, result);
  } else if (pointer.state.kind === 'child') {
    applyChildStarted(run, pointer, result);
  }
  settle(run);
}

function applyBody(run: Run, pointer: Pointer, result: EffectResult): void {
  if (result.ok) {
    finish(run, pointer, result.values);
  } else {
    stopWaitingAnswered(run, pointer);
    failStep(run, pointer, result.failure);
  }
}

function applyChildStarted(run: Run, pointer: Pointer, result: EffectResult): void {
  if (pointer.state.kind !== 'child') return;
  if (!result.ok && pointer.isEnding === true) {
    endCancelled(run, pointer);
  } else if (!result.ok) {
    stopWaitingAnswered(run, pointer);
    failStep(run, pointer, result.failure);
  } else if (pointer.state.wait) {
    setState(run, pointer, { ...pointer.state, started: true });
    if (pointer.isEnding === true) tellChild(run, pointer);
  } else {
    const { workflowId } = pointer.state;
    finish(run, pointer, { WorkflowId: workflowId, Status: 'Runnable', Outcome: null, Data: null });
  }
}
