/** Slots: shares of limits that an execution of a step needs. */

/** The budget of a limit for one key. An empty key: the one without a key. */
export interface LimitKey {
  readonly limit: string;
  readonly key: string;
}

export interface NeededSlot extends LimitKey {
  /** From 1. */
  readonly units: number;
}

/** All slots that one execution needs: each limit once, in the order of the names. */
export interface SlotRequest {
  /** See `executionKey`; followed by a number if the execution asks again, because it was suspended before it began. */
  readonly execution: string;
  readonly needs: readonly [NeededSlot, ...NeededSlot[]];
}
