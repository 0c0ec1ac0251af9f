/**
 * An execution pointer: one position of an instance in its definition.
 *
 *                       inputs evaluated
 *   (opened) --> ready ------------------> [ primitive.enter ] ----------------+-----------+
 *                 ^                          |      |       |                   |           |
 *                 |                  sleeping|  event,      |effect          open|           |
 *      retry,     |                  (timer) |  activity,   |(HTTP, script)  (children run)  |
 *      next turn, |                          |  child       |                   |           |
 *      restart    |                          v      v       v                   v           |
 *                 +-- [ primitive.woken / a result / primitive.joined ] --------+           |
 *                                            |                                              |
 *                                            v                                              |
 *                                        finishing <----------------------------------------+
 *                                            |  outputs and selectors evaluated
 *                                            v
 *                                     (ended: successors opened, record written, removed)
 *
 *   From every state:  failed --> sleeping until the next attempt (after `finishing`: with the result, back to
 *                                 `finishing`) | the same and the instance Suspended
 *                                 | instance Terminated
 *                                 | compensating --> (ended) or restart
 *                      cancelled --> (ended), or finishing with ProceedOnCancel
 *
 * Invariants (property tests in test/engine/ cite them):
 *  E1 An open pointer's parent is open, and is in the state `open` or `compensating`.
 *  E2 `children` is the number of open pointers whose parent it is.
 *  E3 A pointer in `ready` or `finishing` is in the run queue exactly once.
 *  E4 Pointer ids come from a counter in the instance and the queue is part of it: the same inputs give the same
 *     pointers, also when the instance was stored and read in between.
 *  E5 A pointer ends once; its record is written when it ends, and one more for every failed attempt before.
 *  E6 An instance is Complete exactly when no pointer is open and nothing ended it before; one that is being cleaned up
 *     is Terminated then.
 *  E7 Subscriptions and activities exist for exactly the pointers that are in `event` or `activity`.
 *  E8 Compensation steps of a saga run one after another, in reverse order of completion.
 *  E9 A result is got once: when outputs or selectors fail, a retry or a resume evaluates them again with the same result.
 *  E10 A clean-up compensates each step that completed once, the newest first, one after another.
 */
import type { StepError } from './step-record.js';
import type { Json, JsonObject } from '../values/json.js';

export type PointerState =
  /** Inputs are evaluated next. */
  | { readonly kind: 'ready' }
  /**
   * The body is done: outputs and selectors are evaluated next. `cancelled`: outputs are left out. `compensated`: the
   * step failed for good, and only what follows is to be chosen. `bodyAttempt`: the attempt that got the result, where it
   * was an earlier one.
   */
  | {
      readonly kind: 'finishing';
      readonly result: JsonObject;
      readonly cancelled?: true;
      readonly compensated?: true;
      readonly bodyAttempt?: number;
    }
  /** A timer; `reason` says what for. `kept`: only outputs and selectors are left to be tried again. */
  | {
      readonly kind: 'sleeping';
      readonly until: number;
      readonly reason: 'step' | 'retry';
      readonly kept?: KeptResult;
    }
  | {
      readonly kind: 'event';
      readonly name: string;
      readonly key: string;
      readonly effectiveAt: number;
      readonly until: number | null;
      /** Stored events were looked at after the subscription was there. */
      readonly looked: boolean;
    }
  | { readonly kind: 'activity'; readonly name: string; readonly until: number | null }
  /** A side effect is under way outside the engine, or must be started (again) after a restart. */
  | { readonly kind: 'effect'; readonly inputs: JsonObject }
  /** Another instance runs; `started` once it is known to exist. */
  | {
      readonly kind: 'child';
      readonly workflowId: string;
      readonly inputs: JsonObject;
      readonly wait: boolean;
      readonly started: boolean;
    }
  /** Steps inside of it run. */
  | { readonly kind: 'open' }
  /** Compensations run one after another; `plan[next]` is the one that starts when the present one has ended. */
  | {
      readonly kind: 'compensating';
      readonly plan: readonly CompensationEntry[];
      readonly next: number;
    };

/** What a step has got before its outputs or selectors failed: an event, a worker's result, the answer of a call. */
export interface KeptResult {
  readonly result: JsonObject;
  readonly bodyAttempt: number;
}

/** A step whose CompensateWith chain is to run, in the surroundings in which the step ran. */
export interface CompensationEntry {
  readonly stepId: string;
  readonly item?: Json;
  readonly index?: number;
  /** Ids of the open containers that it ran in, outermost first; orders compensations level by level. */
  readonly within: readonly number[];
  /** The place of its record in the history, by which a clean-up orders what completed in different sagas. */
  readonly sequence?: number;
}

export interface Pointer {
  readonly id: number;
  readonly stepId: string;
  readonly parentId: number | null;
  /** Of the innermost enclosing Foreach; absent outside of one. */
  readonly item?: Json;
  readonly index?: number;
  readonly openedAt: number;
  state: PointerState;
  /** From 1; raised whenever the step runs again after a failure. */
  attempt: number;
  /** Retries since the first failure or the last resume. */
  retries: number;
  /** How often it was compensated and began again; left out for never. */
  undone?: number;
  attemptStartedAt: number;
  /** The step's Timeout; null: none. */
  deadline: number | null;
  /** Open pointers whose parent this is. */
  children: number;
  /** What the primitive has to remember between turns. */
  memo: Memo | null;
  /** The successors were opened already; what still runs is a background sequence. */
  inBackground: boolean;
  /** Saga only: steps inside that completed and can be compensated, in order of completion. */
  completed: CompensationEntry[];
  /** Evaluated inputs as the history shows them. */
  inputs: Json;
  /** Why the last attempt failed. */
  error: StepError | null;
  /**
   * The newest error of an execution that ended inside without having succeeded later; absent: none. A new attempt of
   * the container makes it good, the container's own success does not.
   */
  lostError?: StepError | null;
  /** A failure inside was given up after its compensation, in the present attempt. */
  isCompensated?: boolean;
  /** The instance is being cleaned up: this ends together with what is under way in it, and nothing follows. */
  isEnding?: true;
}

export type Memo =
  /** Foreach: the items, and which comes next: one after the other, or, with `parallel`, as soon as there is room. */
  | {
      readonly kind: 'items';
      readonly items: readonly Json[];
      readonly next: number;
      readonly parallel?: true;
    }
  /** Recur: when the present round began, and how far rounds are apart. */
  | { readonly kind: 'round'; readonly startedAt: number; readonly intervalMs: number }
  /** Schedule in the background: when Do runs. */
  | { readonly kind: 'scheduled'; readonly at: number };

/**
 * Identifies one execution of a step to the outside: the same for all of its attempts, so that a callee can tell a repeat.
 * A step that was compensated and then runs again makes a new call, which the callee must not take for the one undone.
 */
export function idempotencyKey(
  instanceId: string,
  { id, undone = 0 }: Pick<Pointer, 'id' | 'undone'>,
): string {
  return undone === 0 ? `${instanceId}/${id}` : `${instanceId}/${id}/undone-${undone}`;
}

/** Identifies one attempt of one pointer to the outside: subscriptions, activities. */
export function executionKey(
  instanceId: string,
  { attempt, id }: Pick<Pointer, 'id' | 'attempt'>,
): string {
  return `${instanceId}/${id}/${attempt}`;
}
