/** Values of several owners, who alternate: the first of each, then the second of each. Adding and taking is constant time. */
import { Queue } from '../queue.js';

export class AlternatingQueue<Value> {
  /** Owners that have a value here, starting with the one that is next. */
  #owners = new Map<string, Queue<Value>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(owner: string, value: Value): void {
    const waiting = this.#owners.get(owner) ?? new Queue<Value>();
    if (waiting.isEmpty) this.#owners.set(owner, waiting);
    waiting.push(value);
    this.#length += 1;
  }

  /** Puts a value before all others. */
  pushFirst(owner: string, value: Value): void {
    const waiting = this.#owners.get(owner) ?? new Queue<Value>();
    waiting.pushFirst(value);
    this.#owners.delete(owner);
    this.#owners = new Map([[owner, waiting], ...this.#owners]);
    this.#length += 1;
  }

  shift(): Value | undefined {
    for (const [owner, waiting] of this.#owners) {
      const value = waiting.shift();
      this.#owners.delete(owner);
      // Its next value comes after those of the others.
      if (!waiting.isEmpty) this.#owners.set(owner, waiting);
      this.#length -= 1;
      return value;
    }
    return undefined;
  }

  /** Returns false if the value isn't here. Takes as long as a search through all values. */
  remove(value: Value): boolean {
    for (const [owner, waiting] of this.#owners) {
      if (!waiting.remove(value)) continue;
      if (waiting.isEmpty) this.#owners.delete(owner);
      this.#length -= 1;
      return true;
    }
    return false;
  }

  /** Takes all values of an owner. */
  takeOwner(owner: string): readonly Value[] {
    const values = [...(this.#owners.get(owner) ?? [])];
    this.#owners.delete(owner);
    this.#length -= values.length;
    return values;
  }

  /** Takes all values, by owner. */
  takeAll(): readonly Value[] {
    return [...this.#owners.keys()].flatMap((owner) => this.takeOwner(owner));
  }
}
