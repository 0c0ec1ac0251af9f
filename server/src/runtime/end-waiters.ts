/** Callers that wait for an instance to end. */
export class EndWaiters {
  readonly #waiters = new Map<string, Set<() => void>>();

  /** Resolves when the instance has ended, the time is over or the signal fires, whichever comes first. */
  async wait(
    id: string,
    timer: (wake: () => void) => () => void,
    signal: AbortSignal,
  ): Promise<void> {
    await new Promise<void>((resolve) => {
      let cancelTimer = (): void => undefined;
      const done = (): void => {
        cancelTimer();
        signal.removeEventListener('abort', done);
        const waiters = this.#waiters.get(id);
        waiters?.delete(done);
        if (waiters?.size === 0) this.#waiters.delete(id);
        resolve();
      };
      const waiters = this.#waiters.get(id) ?? new Set();
      waiters.add(done);
      this.#waiters.set(id, waiters);
      cancelTimer = timer(done);
      if (signal.aborted) done();
      else signal.addEventListener('abort', done);
    });
  }

  ended(id: string): void {
    for (const done of [...(this.#waiters.get(id) ?? [])]) done();
  }

  endAll(): void {
    for (const id of [...this.#waiters.keys()]) this.ended(id);
  }

  get size(): number {
    return this.#waiters.size;
  }
}
