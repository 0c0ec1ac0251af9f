/**
 * Finds out when nothing moves any more, without polling the clock.
 *
 * The engine, the store and the step bodies of a test server work in promises, which all run before the event loop turns.
 * What takes longer is counted here: calls of Python and of handlers. Work in slices takes one turn for each slice. So
 * nothing moves if no call is in progress, no slice is waiting, and a few turns in a row have begun no call.
 */
import { setImmediate } from 'node:timers/promises';
import { hasWaitingSlices } from '../base/slices.js';

/** A request of the engine to itself takes one turn of the loop. */
const QUIET_TURNS = 3;

export class Quiescence {
  #inProgress = 0;
  #begun = 0;
  #ended: (() => void) | null = null;

  /** Number of calls so far. */
  get begun(): number {
    return this.#begun;
  }

  /** Something moves until the promise settles. */
  async during<Value>(call: () => Value | Promise<Value>): Promise<Value> {
    this.#begun += 1;
    this.#inProgress += 1;
    try {
      return await call();
    } finally {
      this.#inProgress -= 1;
      this.#ended?.();
      this.#ended = null;
    }
  }

  async wait(): Promise<void> {
    let known = this.#begun;
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      if (this.#inProgress > 0) await new Promise<void>((resolve) => (this.#ended = resolve));
      else await setImmediate();
      if (this.#inProgress > 0 || this.#begun !== known || hasWaitingSlices()) quiet = -1;
      known = this.#begun;
    }
  }
}
