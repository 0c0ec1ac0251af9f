/**
 * A run: one stretch of work on one instance between two commits, with what the outside must do about it.
 *
 * Owns: the run queue, opening and ending of pointers, the list of changes. Must not know: what step types mean
 * (`primitives/`), how errors are handled (`fail-step.ts`), stores, Python.
 */
import type { EmitLevel } from '../values/input-choices.js';
import type { StepDefinition, WorkflowDefinition } from '../model/definition.js';
import type { WorkflowInstance } from '../model/instance.js';
import type { StepError, StepRecord, StepRecordStatus } from '../model/step-record.js';
import { invariant } from '../model/invariant.js';
import { jsonLength } from '../values/json-length.js';
import type { Json, JsonObject } from '../values/json.js';
import {
  executionKey,
  type KeptResult,
  type Pointer,
  type PointerState,
} from '../model/pointer.js';

/** What a pointer takes in the stored state, and a record with the values that it shows, by and large. */
const POINTER_LENGTH = 400;
const RECORD_LENGTH = 1000;

export interface Subscription {
  readonly id: string;
  readonly pointerId: number;
  readonly name: string;
  readonly key: string;
  readonly effectiveAt: number;
}

export interface ActivityOffer {
  readonly id: string;
  readonly stepId: string;
  readonly attempt: number;
  readonly undone?: number;
  readonly name: string;
  readonly parameters: Json;
}

export interface LogLine {
  readonly stepId: string;
  readonly pointerId: number;
  readonly level: EmitLevel;
  readonly message: Json;
}

/** What becomes of a step after an attempt that failed. */
export type NextAction =
  | { readonly kind: 'retry'; readonly at: number }
  | { readonly kind: 'suspended' }
  | { readonly kind: 'terminated' }
  | { readonly kind: 'compensating' }
  /** The failure stays in the history, and its path goes on. */
  | { readonly kind: 'goes-on' };

export interface FailedAttempt {
  readonly error: StepError;
  readonly action: NextAction;
}

/** An attempt of a step that has ended, in whatever way. */
export interface EndedAttempt {
  /** A built-in step type, or the name of a custom step. */
  readonly type: string;
  readonly status: StepRecordStatus;
  /** Milliseconds from its start to its end, waiting included. */
  readonly durationMs: number;
}

/** What a run asks of the outside. The first group is part of the commit, the second follows it. */
export interface Changes {
  subscriptions: Subscription[];
  removedSubscriptions: string[];
  activities: ActivityOffer[];
  removedActivities: string[];
  settledActivities: string[];

  logLines: LogLine[];
  /** For the log. */
  failedAttempts: FailedAttempt[];
  /** For the metrics. */
  endedAttempts: EndedAttempt[];
  /** Pointers whose effect is to be started. */
  effects: number[];
  /** Pointers whose effect is no longer wanted. */
  abortedEffects: number[];
}

export interface Run {
  readonly definition: WorkflowDefinition;
  readonly instance: WorkflowInstance;
  /** Taken out and replaced by the runner. */
  changes: Changes;
  /** Milliseconds since 1970; moved on by the runner. */
  now: number;
  /** The instance's queue: pointers in `ready` or `finishing`, first come first served. */
  readonly queue: Set<number>;
  /** Where the front of the queue is: a Set that loses its first member again and again is slow to find the next one. */
  front: SetIterator<number>;
  /** Containers with items that are still to be opened; see `waiting-items.ts`. */
  readonly opening: Set<number>;
  /** Open pointers whose step has a cancel condition. */
  readonly cancellable: Set<number>;
  /** Containers whose last path inside has ended; `settle.ts` lets them go on before anybody looks at the run again. */
  readonly joins: Set<number>;
  /** Something changed that is not committed yet. */
  dirty: boolean;
  /** The result of a side effect was taken in: commit it before anything else runs. */
  commitDue: boolean;
  /** Cancel conditions may have become true: data changed, or a step with one was reached. */
  cancelCheckDue: boolean;
  /** When conditions that could not be evaluated are checked again; null: there are none. */
  cancelRecheckAt: number | null;
  /** About how many bytes of JSON the instance and what it asks for have grown by since the last commit: never too few. */
  grown: number;
  /** When everything waited the last time: what was due by then was not waited for. Moved on by the runner. */
  restingSince: number;
}

/** Something came that was waited for. It ends the count of steps without a wait unless other paths went on meanwhile. */
export function endWait(run: Run): void {
  if (run.queue.size === 0) run.instance.stepsWithoutWait = 0;
}

export function noChanges(): Changes {
  return {
    subscriptions: [],
    removedSubscriptions: [],
    activities: [],
    removedActivities: [],
    settledActivities: [],
    logLines: [],
    failedAttempts: [],
    endedAttempts: [],
    effects: [],
    abortedEffects: [],
  };
}

/** Whether there is more to do before anything comes from outside: until this is false nobody may rest. */
export function canGoOn(run: Run): boolean {
  if (run.cancelCheckDue) return true;
  return run.queue.size > 0 && run.instance.status === 'Runnable';
}

/** Takes up an instance, fresh or from the store: whatever is ready is queued, effects that were cut off start again. */
export function createRun(
  definition: WorkflowDefinition,
  instance: WorkflowInstance,
  now: number,
): Run {
  const run: Run = {
    definition,
    instance,
    changes: noChanges(),
    now,
    queue: instance.queue,
    front: instance.queue.values(),
    opening: new Set(),
    cancellable: new Set(),
    joins: new Set(),
    dirty: false,
    commitDue: false,
    cancelCheckDue: true,
    cancelRecheckAt: null,
    grown: 0,
    restingSince: 0,
  };
  for (const pointer of instance.pointers.values()) {
    const { kind } = pointer.state;
    if (hasWaitingItems(pointer)) run.opening.add(pointer.id);
    if (stepOf(run, pointer).cancelCondition !== null) run.cancellable.add(pointer.id);
    // One that was handed out when the instance was stored has left the queue, and its turn has come.
    if (kind === 'ready' || kind === 'finishing') run.queue.add(pointer.id);
    if (kind === 'effect' || (kind === 'child' && !pointer.state.started)) {
      run.changes.effects.push(pointer.id);
    }
  }
  return run;
}

export function stepOf(run: Run, pointer: Pointer): StepDefinition {
  return stepById(run, pointer.stepId);
}

export function stepById(run: Run, stepId: string): StepDefinition {
  const step = run.definition.steps.get(stepId);
  invariant(step !== undefined, `step '${stepId}' is in the definition`);
  return step;
}

export function parentOf(run: Run, pointer: Pointer): Pointer | null {
  if (pointer.parentId === null) return null;
  const parent = run.instance.pointers.get(pointer.parentId);
  invariant(parent !== undefined, 'E1: the parent of an open pointer is open');
  return parent;
}

/** Where a new pointer stands: its container and the Foreach item that it sees. */
export interface Surroundings {
  readonly parentId: number | null;
  readonly item?: Json;
  readonly index?: number;
}

/** The surroundings that a pointer's successors share with it. */
export function surroundingsOf(pointer: Pointer): Surroundings {
  return { parentId: pointer.parentId, ...itemOf(pointer) };
}

/** The surroundings of a step inside a container. */
export function insideOf(container: Pointer): Surroundings {
  return { ...surroundingsOf(container), parentId: container.id };
}

export function itemOf(pointer: { readonly item?: Json; readonly index?: number }): {
  item?: Json;
  index?: number;
} {
  return {
    ...(pointer.item === undefined ? {} : { item: pointer.item }),
    ...(pointer.index === undefined ? {} : { index: pointer.index }),
  };
}

export function openPointer(run: Run, stepId: string, surroundings: Surroundings): Pointer {
  const { instance } = run;
  const step = stepById(run, stepId);
  const pointer: Pointer = {
    id: instance.nextPointerId,
    stepId,
    ...surroundings,
    openedAt: run.now,
    state: { kind: 'ready' },
    attempt: 1,
    retries: 0,
    attemptStartedAt: run.now,
    deadline: step.timeoutMs === null ? null : run.now + step.timeoutMs,
    children: 0,
    memo: null,
    inBackground: false,
    completed: [],
    inputs: null,
    error: null,
  };
  instance.nextPointerId += 1;
  instance.pointers.set(pointer.id, pointer);
  run.grown +=
    POINTER_LENGTH + (surroundings.item === undefined ? 0 : jsonLength(surroundings.item));
  const parent = parentOf(run, pointer);
  if (parent !== null) parent.children += 1;
  run.queue.add(pointer.id);
  if (step.cancelCondition !== null) {
    run.cancellable.add(pointer.id);
    run.cancelCheckDue = true;
  }
  run.dirty = true;
  return pointer;
}

/** Whether a Foreach has items that run side by side with the others and are not opened yet. */
export function hasWaitingItems({ memo, state }: Pointer): boolean {
  return state.kind === 'open' && memo?.kind === 'items' && memo.parallel === true;
}

/** Moves a pointer to another state, and into or out of the run queue. */
export function setState(run: Run, pointer: Pointer, state: PointerState): void {
  pointer.state = state;
  if (state.kind === 'ready' || state.kind === 'finishing') run.queue.add(pointer.id);
  else run.queue.delete(pointer.id);
  run.dirty = true;
}

/** The next pointer to run, or null. It leaves the queue; its state says what it needs. */
export function takeReady(run: Run): Pointer | null {
  let first = run.front.next();
  if (first.done === true) {
    // An iterator that has come to the end stays there, whatever was added afterwards.
    run.front = run.queue.values();
    first = run.front.next();
  }
  if (first.done === true) return null;
  run.queue.delete(first.value);
  const pointer = run.instance.pointers.get(first.value);
  invariant(pointer !== undefined, 'E3: a queued pointer is open');
  return pointer;
}

/** What was taken is ready after all, and the first in the queue. */
export function putBackReady(run: Run, pointer: Pointer): void {
  const others = [...run.queue];
  run.queue.clear();
  for (const id of [pointer.id, ...others]) run.queue.add(id);
  run.front = run.queue.values();
}

export function finish(run: Run, pointer: Pointer, result: JsonObject): void {
  run.grown += jsonLength(result);
  setState(run, pointer, { kind: 'finishing', result });
}

export function sleep(run: Run, pointer: Pointer, until: number): void {
  setState(run, pointer, { kind: 'sleeping', until, reason: 'step' });
}

/**
 * Lets the step begin again at `at`, as the next attempt; see `beginAttempt`. One that has its result keeps it (E9), any
 * other begins as if it had just been reached.
 */
export function restart(run: Run, pointer: Pointer, at: number): void {
  const kept = resultOf(pointer);
  pointer.attempt += 1;
  pointer.attemptStartedAt = run.now;
  pointer.deadline = null;
  if (kept === null) {
    pointer.memo = null;
    pointer.completed = [];
    delete pointer.lostError;
    delete pointer.isCompensated;
  }
  if (stepOf(run, pointer).cancelCondition !== null) run.cancelCheckDue = true;
  const pause = { kind: 'sleeping', until: at, reason: 'retry' } as const;
  setState(run, pointer, kept === null ? pause : { ...pause, kept });
}

/** Cancelled or given up: what follows is all that is left to be decided. */
export function isOver(state: PointerState): boolean {
  return state.kind === 'finishing' && (state.cancelled === true || state.compensated === true);
}

function resultOf({ attempt, state }: Pointer): KeptResult | null {
  if (state.kind !== 'finishing' || isOver(state)) return null;
  return { result: state.result, bodyAttempt: state.bodyAttempt ?? attempt };
}

/** The pause before the next attempt is over. Its Timeout counts from here, however long the instance was suspended. */
export function beginAttempt(run: Run, pointer: Pointer): void {
  const { timeoutMs, cancelCondition } = stepOf(run, pointer);
  pointer.attemptStartedAt = run.now;
  pointer.deadline = timeoutMs === null ? null : run.now + timeoutMs;
  if (cancelCondition !== null) run.cancelCheckDue = true;
  const kept = pointer.state.kind === 'sleeping' ? pointer.state.kept : undefined;
  setState(run, pointer, kept === undefined ? { kind: 'ready' } : { kind: 'finishing', ...kept });
}

/** The outside has answered: nothing that the pointer waited for is left to be given up. */
export function stopWaitingAnswered(run: Run, pointer: Pointer): void {
  setState(run, pointer, { kind: 'open' });
}

/** Gives up whatever the pointer waits for outside the engine; asked again, there is nothing left to give up. */
export function stopWaiting(run: Run, pointer: Pointer): void {
  const { changes, instance } = run;
  switch (pointer.state.kind) {
    case 'event':
      changes.removedSubscriptions.push(executionKey(instance.id, pointer));
      break;
    case 'activity':
      changes.removedActivities.push(executionKey(instance.id, pointer));
      break;
    case 'effect':
      changes.abortedEffects.push(pointer.id);
      break;
    case 'child':
      changes.abortedEffects.push(pointer.id);
      instance.outbox.push({ kind: 'terminate-child', workflowId: pointer.state.workflowId });
      break;
    case 'ready':
    case 'finishing':
    case 'sleeping':
    case 'open':
    case 'compensating':
      return;
  }
  stopWaitingAnswered(run, pointer);
}

export function writeRecord(
  run: Run,
  pointer: Pointer,
  status: StepRecordStatus,
  details: { readonly outputs?: Json; readonly error?: StepError | null } = {},
): void {
  const record: StepRecord = {
    pointerId: pointer.id,
    stepId: pointer.stepId,
    status,
    attempt: pointer.attempt,
    startTime: pointer.attemptStartedAt,
    endTime: run.now,
    ...itemOf(pointer),
    inputs: pointer.inputs,
    outputs: details.outputs ?? null,
    error: details.error ?? null,
    ...bodyAttemptOf(pointer),
  };
  run.instance.recent.push(record);
  const { typeName: type } = stepOf(run, pointer);
  run.changes.endedAttempts.push({ type, status, durationMs: run.now - record.startTime });
  run.grown += RECORD_LENGTH + (record.error === null ? 0 : jsonLength(record.error.data));
  run.dirty = true;
}

/** Noted only where the result is older than the attempt whose outputs were evaluated. */
function bodyAttemptOf({ state }: Pointer): Pick<StepRecord, 'bodyAttempt'> {
  if (state.kind === 'finishing' && state.bodyAttempt !== undefined) {
    return { bodyAttempt: state.bodyAttempt };
  }
  const kept = state.kind === 'sleeping' ? state.kept : undefined;
  return kept === undefined ? {} : { bodyAttempt: kept.bodyAttempt };
}

/**
 * Takes a pointer out of the instance; the caller sees to the container around it. Errors that nothing has made good are
 * kept with the container, or with the instance.
 */
export function removePointer(run: Run, pointer: Pointer, hasSucceeded: boolean): void {
  const { instance } = run;
  instance.pointers.delete(pointer.id);
  run.queue.delete(pointer.id);
  run.joins.delete(pointer.id);
  run.opening.delete(pointer.id);
  run.cancellable.delete(pointer.id);
  const parent = parentOf(run, pointer);
  if (parent !== null) parent.children -= 1;
  const lost = newerOf(hasSucceeded ? null : errorOf(pointer), pointer.lostError ?? null);
  const keeper = parent ?? instance;
  if (lost !== null) keeper.lostError = newerOf(keeper.lostError ?? null, lost);
  if (pointer.isCompensated === true) keeper.isCompensated = true;
  if (instance.lastError?.pointerId === pointer.id) instance.lastError = newestError(instance);
  run.dirty = true;
}

/** The newest error that an open pointer still has to do with. */
function newestError({ pointers }: WorkflowInstance): StepError | null {
  let newest: StepError | null = null;
  for (const pointer of pointers.values()) newest = newerOf(newest, errorOf(pointer));
  return newest;
}

/** A container that compensates has the error of the step that failed inside of it. */
function errorOf({ error, id }: Pointer): StepError | null {
  return error === null ? null : { ...error, pointerId: id };
}

/** Of two of the same time the second. */
export function newerOf(first: StepError | null, second: StepError | null): StepError | null {
  if (first === null || second === null) return first ?? second;
  return second.time < first.time ? first : second;
}
