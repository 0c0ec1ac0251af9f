/**
 * The phase of an actor. An actor starts parked. Once abandoned, it remains abandoned.
 *
 *   parked <--> working --> abandoned
 *      +-----------------------^
 */
export type Phase = Parked | Working | Abandoned;

/** The store has the whole instance except its effects, and all follow-up work of its commits is done. */
export interface Parked {
  readonly kind: 'parked';
  /** Cancels the timer that wakes the actor. */
  readonly cancelTimer: () => void;
}

export interface Working {
  readonly kind: 'working';
  /** Start of the period in which the store may hold commits whose follow-up work is not complete. */
  readonly since: number;
  /** The next action after the current turn. `refresh`: the store has changed and must be read first. */
  next: 'park' | 'turn' | 'refresh';
}

/** The actor writes nothing more. Its current work runs to its end. */
export interface Abandoned {
  readonly kind: 'abandoned';
  /** Carried over from the working phase; null if the actor was parked. */
  readonly since: number | null;
  /** True if this node still owns the instance, but the actor's copy differs from the store or does not fit into memory. */
  isOutdated: boolean;
}

export const NO_TIMER = (): void => undefined;
export const NOT_STARTED: Parked = { kind: 'parked', cancelTimer: NO_TIMER };

/** Requests another turn after this one. */
export function goOn(phase: Working): void {
  if (phase.next === 'park') phase.next = 'turn';
}
