/**
 * Spreads the calls of each caller over turns of the event loop: a turn begins one call, and callers alternate. However many
 * calls one caller makes at the same time, a call of another caller waits for the work of a few of them, not of all.
 *
 * A call that finds no other begins immediately.
 */
export class CallQueue {
  /** By caller, starting with the one whose turn is next. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** A call has begun in this turn. */
  #isTaken = false;

  /** Null: the call may begin now. */
  enter(caller: string): Promise<void> | null {
    if (!this.#isTaken) {
      this.#takeTurn();
      return null;
    }
    return new Promise((resolve) => {
      const line = this.#waiting.get(caller);
      if (line === undefined) this.#waiting.set(caller, [resolve]);
      else line.push(resolve);
    });
  }

  #takeTurn(): void {
    this.#isTaken = true;
    // An immediate that is set while immediates run fires after the next check of sockets and timers.
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#isTaken = false;
    for (const [caller, line] of this.#waiting) {
      const begin = line.shift();
      // Its next call comes after those of the others.
      this.#waiting.delete(caller);
      if (line.length > 0) this.#waiting.set(caller, line);
      this.#takeTurn();
      begin?.();
      return;
    }
  }
}
