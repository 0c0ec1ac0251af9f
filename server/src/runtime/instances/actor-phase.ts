/**
 * Whether an actor works. It is parked at first; once abandoned, it stays so.
 *
 *   parked <--> working --> abandoned
 *      +-----------------------^
 */
export type Phase = Parked | Working | Abandoned;

/** The store has all of the instance but its effects, and everything that follows its commits was done. */
export interface Parked {
  readonly kind: 'parked';
  /** Of the timer that wakes it. */
  readonly cancelTimer: () => void;
}

export interface Working {
  readonly kind: 'working';
  /** Something may be in the store since then that not everything has followed yet. */
  readonly since: number;
  /** What comes after the present turn; `refresh`: something was changed in the store, and is read first. */
  next: 'park' | 'turn' | 'refresh';
}

/** It writes nothing more; the work in hand runs out. */
export interface Abandoned {
  readonly kind: 'abandoned';
  /** As it was when it worked; null: it was parked. */
  readonly since: number | null;
  /** The instance is still this node's. What the actor has of it is not what the store has, or there is no memory for it. */
  isOutdated: boolean;
}

export const NO_TIMER = (): void => undefined;
export const NOT_STARTED: Parked = { kind: 'parked', cancelTimer: NO_TIMER };

/** There is more to do after this turn. */
export function goOn(phase: Working): void {
  if (phase.next === 'park') phase.next = 'turn';
}
