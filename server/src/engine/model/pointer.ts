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
 *   With Limits:  [ primitive.enter ] --> effect or child, with slots, if the commit gets them
 *                                     \-> limited: waits for its slots --> effect or child
 *                                     \-> activity: the item waits for its slots in its queue
 *
 *   From every state:  failed --> sleeping until the next attempt (after `finishing`: with the result, back to
 *                                 `finishing`) | the same and the instance Suspended
 *                                 | instance Terminated
 *                                 | compensating --> (ended) or restart
 *                      canceled --> (ended), or finishing with ProceedOnCancel
 *                      stopped   --> what is in flight ends, nothing new begins; then compensating, canceled or failed
 *
 * Invariants (property tests in test/engine/ cite them):
 *  E1 An open pointer's parent is open, and is in the state `open` or `compensating`.
 *  E2 `children` is the number of open pointers whose parent it is.
 *  E3 A pointer in `ready` or `finishing` is in the run queue exactly once.
 *  E4 Pointer ids come from a counter in the instance and the queue is part of it: the same inputs produce the same pointers,
 *     even if the instance was stored and loaded in between.
 *  E5 A pointer ends once; its record is written when it ends, and one more for each earlier failed attempt.
 *  E6 An instance is Complete exactly when no pointer is open and nothing ended it before. An instance that is being cleaned up
 *     is then Terminated.
 *  E7 Subscriptions and activities exist for exactly the pointers that are in `event` or `activity`.
 *  E8 Compensation steps of a saga run one after another, in reverse order of the undone executions' ends. An open container
 *     counts as ended just before the oldest of the steps inside it.
 *  E9 A result is produced once: when outputs or selectors fail, a retry or a resume evaluates them again with the same result.
 *  E10 A clean-up compensates each begun step once, newest first, one after another.
 *  E14 While something is stopped, nothing begins inside it. Each execution in it that had begun and has CompensateWith is in
 *      the plan, with its outcome.
 *  E15 `slots` is set exactly while the current attempt of a step with Limits takes, waits for or holds its slots: in the states
 *      `effect`, `child`, `limited` and `activity`. It names that attempt. Every request is freed once: with the change that ends
 *      the attempt, or, for an activity with a result, by the store.
 */
import type { LimitKey, SlotRequest } from './slots.js';
import type { StepError } from './step-record.js';
import type { Json, JsonObject } from '../values/json.js';

/** What the first step of an instance waits for: those with the same reference and then its place, or only its place. */
export type QueueReason = 'reference' | 'place';

export type PointerState =
  /** Inputs are evaluated next. */
  | { readonly kind: 'ready' }
  /**
   * The body has completed: outputs and selectors are evaluated next. `cancelled` (the stored spelling): outputs are
   * skipped. `compensated`: the step failed permanently, and only its successors are selected. `bodyAttempt`: the attempt
   * that produced the result, if it was an earlier one.
   */
  | {
      readonly kind: 'finishing';
      readonly result: JsonObject;
      readonly cancelled?: true;
      readonly compensated?: true;
      readonly bodyAttempt?: number;
    }
  /**
   * A timer; `reason` says why. `kept`: only outputs and selectors are retried. `isStart`: the first attempt, which begins at
   * the start time that the caller chose. It is stored as a retry, so that earlier versions of the server begin it. `queues`: at
   * that time, it waits for its place.
   */
  | {
      readonly kind: 'sleeping';
      readonly until: number;
      readonly reason: 'step' | 'retry';
      readonly kept?: KeptResult;
      readonly isStart?: true;
      readonly queues?: QueueReason;
    }
  /**
   * The first step waits for a place among the instances with its key that may run at a time, if it has one. `reference`: first,
   * it waits until the instances with the same reference that are before it have ended. `at` and the id of the instance are its
   * position.
   */
  | { readonly kind: 'queued'; readonly at: number; readonly reference?: true }
  | {
      readonly kind: 'event';
      readonly name: string;
      readonly key: string;
      readonly effectiveAt: number;
      readonly until: number | null;
      /**
       * True if the store has been searched for events that were published before the subscription existed. The name is
       * stored.
       */
      readonly looked: boolean;
    }
  /** `leaseUntil`: the step is stopped, and the worker that holds the item has it until then; null: until it answers. */
  | {
      readonly kind: 'activity';
      readonly name: string;
      readonly until: number | null;
      readonly leaseUntil?: number | null;
    }
  /** A side effect is running outside the engine, or must be started (again) after a restart. */
  | { readonly kind: 'effect'; readonly inputs: JsonObject }
  /** A child is running; `started` once it is known to exist. */
  | {
      readonly kind: 'child';
      readonly workflowId: string;
      readonly inputs: JsonObject;
      readonly wait: boolean;
      readonly started: boolean;
    }
  /**
   * The step waits for its slots, and begins with `next`. Nothing external has begun. `on`: the first need that could not be met
   * when it began to wait; the store may have found another one since.
   */
  | {
      readonly kind: 'limited';
      readonly since: number;
      readonly on: LimitKey;
      readonly next: BegunState;
    }
  /** Steps inside it are running. */
  | { readonly kind: 'open' }
  /** Compensations run one after another; `plan[next]` is the one that starts when the current one has ended. */
  | {
      readonly kind: 'compensating';
      readonly plan: readonly CompensationEntry[];
      readonly next: number;
    };

/** A state in which work outside of the engine is under way. */
export type BegunState = Extract<PointerState, { readonly kind: 'effect' | 'child' }>;

/** The result of a step whose outputs or selectors then failed: an event, a worker's result, a response. */
export interface KeptResult {
  readonly result: JsonObject;
  readonly bodyAttempt: number;
}

/** How an undone execution ended. `Unknown`: it may or may not have had an effect. */
export type UndoneOutcome = 'Completed' | 'Failed' | 'Unknown';

/** A step whose CompensateWith chain must run, in the surroundings in which the step ran. */
export interface CompensationEntry {
  readonly stepId: string;
  /** The execution that is undone. Omitted by earlier versions of the server. */
  readonly executionId?: number;
  readonly item?: Json;
  readonly index?: number;
  /** Omitted: Completed. */
  readonly outcome?: Exclude<UndoneOutcome, 'Completed'>;
  /** Omitted if there was none. */
  readonly error?: UndoneError;
  /** The position of its record in the history: compensations run from the newest to the oldest. */
  readonly sequence?: number;
}

export type UndoneError = Pick<StepError, 'type' | 'message' | 'data'>;

/** The stop of a pointer: nothing new begins inside it, and `then` applies once its work in flight has ended. */
export interface Stopping {
  /** The end of the grace: work still in flight then has an unknown outcome. Null: the grace has ended. */
  readonly until: number | null;
  readonly then: AfterStop;
}

export type AfterStop =
  | { readonly kind: 'compensate' }
  /** Its CancelCondition was true. */
  | { readonly kind: 'cancel' }
  /** The error behavior applies. */
  | { readonly kind: 'fail'; readonly retryAfterMs?: number };

export interface Pointer {
  readonly id: number;
  stepId: string;
  readonly parentId: number | null;
  /** The item of the innermost enclosing Foreach; absent outside one. */
  readonly item?: Json;
  readonly index?: number;
  readonly openedAt: number;
  state: PointerState;
  /** From 1; incremented whenever the step runs again after a failure. */
  attempt: number;
  /** Retries since the first failure or the last resume. */
  retries: number;
  /** Number of times it was compensated and restarted; omitted if never. The name is stored, and part of idempotency keys. */
  undone?: number;
  attemptStartedAt: number;
  /** The deadline from the step's Timeout; null if it has none. */
  deadline: number | null;
  /** Number of open pointers whose parent this is. */
  children: number;
  /** The primitive's state between turns. */
  memo: Memo | null;
  /** True if the successors have been opened and only a background sequence is still running. */
  inBackground: boolean;
  /** Saga only: completed steps inside it that can be compensated, in order of completion. */
  completed: CompensationEntry[];
  /** Evaluated inputs as the history shows them. */
  inputs: Json;
  /** Why the last attempt failed. */
  error: StepError | null;
  /** True if the failed part has since succeeded in a round of this loop: the next failure is a new one. */
  hasRecovered?: true;
  /**
   * The most recent error of an execution that ended inside without succeeding later; absent if none. A new attempt of the
   * container resolves it, the container's own success does not.
   */
  lostError?: StepError | null;
  /** True if a failure inside was compensated for good in the current attempt. */
  isCompensated?: boolean;
  /** The reason of the modification that opened it; absent if a step did. */
  startedBecause?: string;
  /** The instance that this SubWorkflow step waits for without having started it; absent if it started one. */
  joined?: string;
  /** It or an enclosing step is stopped: it ends once its work in flight has ended, without successors. */
  isEnding?: true;
  /** Set if it was stopped itself, not together with an enclosing step. */
  stopping?: Stopping;
  /** An attempt has ended with an unknown outcome since the step was last reached or compensated. */
  isUncertain?: true;
  /** The slots of the current attempt (E15). */
  slots?: SlotRequest;
  /** The position in the history of the oldest step inside that can be compensated; absent if there is none. */
  oldestInside?: number;
}

export type Memo =
  /**
   * Foreach: the items, and the index of the next one to open. With `parallel`, all may be open at once, with `maxParallel` so
   * many, with neither one. A node of a version that doesn't know `maxParallel` opens them one after another.
   */
  | {
      readonly kind: 'items';
      readonly items: readonly Json[];
      readonly next: number;
      readonly parallel?: true;
      readonly maxParallel?: number;
    }
  /** Recur: when the current round started, and the interval between rounds. */
  | { readonly kind: 'round'; readonly startedAt: number; readonly intervalMs: number }
  /** Schedule in the background: when Do runs. */
  | { readonly kind: 'scheduled'; readonly at: number };

/**
 * Identifies one execution of a step externally. It is the same for all attempts, so that a callee can detect repeated calls. A
 * step that was compensated and runs again makes a new call, which the callee must not confuse with the compensated one.
 */
export function idempotencyKey(
  instanceId: string,
  { id, undone = 0 }: Pick<Pointer, 'id' | 'undone'>,
): string {
  return undone === 0 ? `${instanceId}/${id}` : `${instanceId}/${id}/undone-${undone}`;
}

/** Identifies one attempt of one pointer externally: for subscriptions and activities. */
export function executionKey(
  instanceId: string,
  { attempt, id }: Pick<Pointer, 'id' | 'attempt'>,
): string {
  return `${instanceId}/${id}/${attempt}`;
}
