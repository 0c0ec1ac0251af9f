/**
 * A run: one stretch of work on one instance between two commits, with what the outside must do about it.
 *
 * Owns: the queue of pointers that are ready, the list of changes. How pointers open and end is pointers.ts, how they
 * change state pointer-states.ts. Must not know: what step types mean, how errors are handled, stores, Python.
 */
import type { EmitLevel } from '../values/input-choices.js';
import type { StepDefinition, WorkflowDefinition } from '../model/definition.js';
import type { WorkflowInstance } from '../model/instance.js';
import { invariant } from '../model/invariant.js';
import type { Pointer } from '../model/pointer.js';
import type { StepError, StepRecordStatus } from '../model/step-record.js';
import type { Json } from '../values/json.js';

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

/** Whether a Foreach has items that run side by side with the others and are not opened yet. */
export function hasWaitingItems({ memo, state }: Pointer): boolean {
  return state.kind === 'open' && memo?.kind === 'items' && memo.parallel === true;
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
