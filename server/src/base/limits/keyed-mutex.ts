/**
 * Work of this process with the same key runs one after the other, in order of arrival, so that it doesn't contend in the
 * database: only work of different nodes does.
 */
export class KeyedMutex {
  /** The last work of each key. */
  readonly #last = new Map<string, Promise<unknown>>();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    const settled = mine.catch(() => undefined);
    this.#last.set(key, settled);
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return mine;
  }
}
