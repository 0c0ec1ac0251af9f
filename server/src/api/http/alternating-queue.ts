/** Entries of several callers, who alternate: the first of each, then the second of each. */
export class AlternatingQueue<Entry> {
  /** By caller, starting with the one whose entry is next. */
  readonly #byCaller = new Map<string, Entry[]>();

  get isEmpty(): boolean {
    return this.#byCaller.size === 0;
  }

  add(caller: string, entry: Entry): void {
    const ofCaller = this.#byCaller.get(caller);
    if (ofCaller === undefined) this.#byCaller.set(caller, [entry]);
    else ofCaller.push(entry);
  }

  /** Null: the queue is empty. */
  next(): Entry | null {
    for (const [caller, ofCaller] of this.#byCaller) {
      const entry = ofCaller.shift();
      // The next entry of the caller comes after those of the others.
      this.#byCaller.delete(caller);
      if (ofCaller.length > 0) this.#byCaller.set(caller, ofCaller);
      if (entry !== undefined) return entry;
    }
    return null;
  }
}
