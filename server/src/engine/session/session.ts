/**
 * A session: the engine's work on an instance while a node has it in memory. It contains the instance with its definition, the
 * queue of ready pointers, and the changes that it requests from outside the engine. It lasts from the start or load of the
 * instance until its eviction.
 *
 * Owns: the queue of ready pointers, the list of changes. `pointers.ts` opens and ends pointers, and `pointer-states.ts`
 * changes their states. Must not know: what step types mean, how errors are handled, stores, Python.
 */
import type { EmitLevel } from '../values/input-choices.js';
import type { StepDefinition, WorkflowDefinition } from '../model/definition.js';
import type { Instance } from '../model/instance.js';
import { invariant } from '../model/invariant.js';
import type { Pointer } from '../model/pointer.js';
import type { LimitKey, SlotRequest } from '../model/slots.js';
import type { StepError, StepRecord, StepRecordStatus } from '../model/step-record.js';
import type { AppliedRepair } from '../model/modification.js';
import type { Json } from '../values/json.js';
import { OpenItems } from './open-items.js';

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
  /** The slots that its holder needs; omitted: none. The claim takes them, and the store frees them with the result. */
  readonly needs?: SlotRequest['needs'];
}

/** An execution that waits for its slots. */
export interface WaitingSlots extends SlotRequest {
  readonly since: number;
  /** The first of its needs that can't be met. */
  readonly on: LimitKey;
}

export interface LogLine {
  readonly stepId: string;
  readonly pointerId: number;
  readonly level: EmitLevel;
  readonly message: Json;
}

/** The next action for a step after a failed attempt. */
export type NextAction =
  | { readonly kind: 'retry'; readonly at: number }
  | { readonly kind: 'suspended' }
  | { readonly kind: 'terminated' }
  | { readonly kind: 'compensating' }
  /** The failure stays in the history, and its path continues. */
  | { readonly kind: 'goes-on' };

export interface FailedAttempt {
  readonly error: StepError;
  readonly action: NextAction;
}

/** An attempt of a step that has ended, with or without success. */
export interface EndedAttempt {
  /** A built-in step type, or the name of a custom step. */
  readonly type: string;
  readonly status: StepRecordStatus;
  /** Milliseconds from its start to its end, including waits. */
  readonly durationMs: number;
  readonly startsInstance: boolean;
  readonly record: StepRecord;
}

/** The result of a start that was sent to an instance with a window. */
export interface WindowJoin {
  /** Of the start. */
  readonly id: string;
  readonly instanceId: string;
  /** False: the window had closed before. */
  readonly joined: boolean;
}

/** A wait of a traced instance that has ended. */
export interface EndedWait {
  /** In its state during the wait. */
  readonly pointer: Pointer;
  readonly until: number;
  /** The span that published the event that ended the wait; null if unknown, or if it waited for something else. */
  readonly endedBy: string | null;
}

/**
 * The changes that a session requests from outside the engine. The first group is part of the commit, the second follows it.
 */
export interface Changes {
  subscriptions: Subscription[];
  removedSubscriptions: string[];
  activities: ActivityOffer[];
  removedActivities: string[];
  settledActivities: string[];
  /** The commit must get these, or it is refused; see `refuseSlots`. Not those of activities. */
  takenSlots: SlotRequest[];
  waitingSlots: WaitingSlots[];
  /** Executions that waited, and have begun with slots that the store gave them. */
  begunSlots: string[];
  /**
   * Requests that the store may know and that hold or wait for nothing any more. They come first: an execution that is also among
   * the waiting ones gives its slots back, and waits again.
   */
  freedSlots: SlotRequest[];
  /** For the audit. */
  repairs: AppliedRepair[];
  /** Starts that have joined the window of the instance, or came too late. */
  joins: WindowJoin[];

  logLines: LogLine[];
  /** For the log. */
  failedAttempts: FailedAttempt[];
  /** For the metrics and traces. */
  endedAttempts: EndedAttempt[];
  /** For traces. */
  endedWaits: EndedWait[];
  /** For the metrics: steps that got the slots for which they have waited. */
  endedSlotWaits: { readonly limit: string; readonly waitedMs: number }[];
  /** Pointers whose effect must be started. */
  effects: number[];
  /** Pointers whose effect is no longer needed. */
  abortedEffects: number[];
}

export interface Session {
  /** Replaced when a modification moves the instance to another version. */
  definition: WorkflowDefinition;
  readonly instance: Instance;
  /** Taken out and replaced by the runner. */
  changes: Changes;
  /** Milliseconds since 1970; advanced by the runner. */
  now: number;
  /** The instance's queue: pointers in `ready` or `finishing`, first in, first out. */
  readonly queue: Set<number>;
  /** The front of the queue. A Set whose first member is removed repeatedly becomes slow to find the next one. */
  front: SetIterator<number>;
  /** Containers that may open more of their items; see `waiting-items.ts`. */
  readonly opening: Set<number>;
  readonly openItems: OpenItems;
  /** Open pointers whose step has a cancel condition. */
  readonly cancelable: Set<number>;
  /** Containers whose last inner path has ended. `continue-containers.ts` continues them before the session is inspected again. */
  readonly joins: Set<number>;
  /** True if there are changes that are not committed yet. */
  dirty: boolean;
  /** True if the result of a side effect was applied: it must be committed before anything else runs. */
  commitDue: boolean;
  /** True if cancel conditions may have become true: data changed, or a step with one was reached. */
  cancelCheckDue: boolean;
  /** When conditions that could not be evaluated are checked again; null if there are none. */
  cancelRecheckAt: number | null;
  /** Approximate growth of the instance and its requests since the last commit, in bytes of JSON; never too low. */
  grown: number;
  /** The last time at which every path was waiting: timers due by then did not cause a wait. Advanced by the runner. */
  restingSince: number;
  /** The span that published the event being applied; null if there is none. */
  appliedSpan: string | null;
  /** Effects to start that another node may already have started: they may have had their effect. */
  readonly interrupted: Set<number>;
}

/**
 * Called when an awaited message or result arrives. Resets the count of steps without a wait, unless other paths continued in
 * the meantime.
 */
export function endWait(session: Session): void {
  if (session.queue.size === 0) session.instance.stepsWithoutWait = 0;
}

export function noChanges(): Changes {
  return {
    subscriptions: [],
    removedSubscriptions: [],
    activities: [],
    removedActivities: [],
    settledActivities: [],
    takenSlots: [],
    waitingSlots: [],
    begunSlots: [],
    freedSlots: [],
    repairs: [],
    joins: [],
    logLines: [],
    failedAttempts: [],
    endedAttempts: [],
    endedWaits: [],
    endedSlotWaits: [],
    effects: [],
    abortedEffects: [],
  };
}

/** Whether the session can continue without external input. The instance must not rest while this is true. */
export function canContinue(session: Session): boolean {
  if (session.cancelCheckDue) return true;
  return session.queue.size > 0 && session.instance.status === 'Runnable';
}

/** Creates the session of a new or stored instance: queues the ready pointers, and restarts interrupted effects. */
export function createSession(
  definition: WorkflowDefinition,
  instance: Instance,
  now: number,
): Session {
  const session: Session = {
    definition,
    instance,
    changes: noChanges(),
    now,
    queue: instance.queue,
    front: instance.queue.values(),
    opening: new Set(),
    openItems: new OpenItems(),
    cancelable: new Set(),
    joins: new Set(),
    dirty: false,
    commitDue: false,
    cancelCheckDue: true,
    cancelRecheckAt: null,
    grown: 0,
    restingSince: 0,
    appliedSpan: null,
    interrupted: new Set(),
  };
  for (const pointer of instance.pointers.values()) {
    const { kind } = pointer.state;
    const container = pointer.parentId === null ? null : instance.pointers.get(pointer.parentId);
    if (container != null) session.openItems.add(container, pointer);
    if (hasWaitingItems(pointer)) session.opening.add(pointer.id);
    if (stepOf(session, pointer).cancelCondition !== null) session.cancelable.add(pointer.id);
    // A pointer that was being processed when the instance was stored is no longer in the queue: it runs next.
    if (kind === 'ready' || kind === 'finishing') session.queue.add(pointer.id);
    if (isStartedAgain(pointer)) {
      session.changes.effects.push(pointer.id);
      session.interrupted.add(pointer.id);
    }
  }
  return session;
}

/** Calls of a stopped step aren't repeated. The start of a child is, because only a started child can be stopped. */
function isStartedAgain({ isEnding, state }: Pointer): boolean {
  if (state.kind === 'effect') return isEnding !== true;
  return state.kind === 'child' && !state.started;
}

export function stepOf(session: Session, pointer: Pointer): StepDefinition {
  return stepById(session, pointer.stepId);
}

export function stepById(session: Session, stepId: string): StepDefinition {
  const step = session.definition.steps.get(stepId);
  invariant(step !== undefined, `step '${stepId}' is in the definition`);
  return step;
}

/** True if a Foreach has unopened items. */
export function hasWaitingItems({ memo, state }: Pointer): boolean {
  return state.kind === 'open' && memo?.kind === 'items' && memo.next < memo.items.length;
}

/** Removes and returns the next pointer to run, or null. Its state says which values it needs. */
export function takeReady(session: Session): Pointer | null {
  let first = session.front.next();
  if (first.done === true) {
    // An iterator that has reached the end stays there, even if members are added later.
    session.front = session.queue.values();
    first = session.front.next();
  }
  if (first.done === true) return null;
  session.queue.delete(first.value);
  const pointer = session.instance.pointers.get(first.value);
  invariant(pointer !== undefined, 'E3: a queued pointer is open');
  return pointer;
}

/** Returns a taken pointer to the front of the queue. */
export function putBackReady(session: Session, pointer: Pointer): void {
  const others = [...session.queue];
  session.queue.clear();
  for (const id of [pointer.id, ...others]) session.queue.add(id);
  session.front = session.queue.values();
}
