/**
 * Values of several owners, who alternate: the first of each, then the second of each. Adding and removing take constant
 * time.
 */
import { Queue } from './queue.js';

interface Owner<Value> {
  readonly id: string;
  readonly waiting: Queue<Value>;
}

export class AlternatingQueue<Value> {
  readonly #byId = new Map<string, Owner<Value>>();
  /** Owners that have a value here, starting with the one that is next. */
  readonly #owners = new Queue<Owner<Value>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(ownerId: string, value: Value): void {
    let owner = this.#byId.get(ownerId);
    if (owner === undefined) {
      owner = { id: ownerId, waiting: new Queue() };
      this.#byId.set(ownerId, owner);
      this.#owners.push(owner);
    }
    owner.waiting.push(value);
    this.#length += 1;
  }

  shift(): Value | undefined {
    const owner = this.#owners.shift();
    const next = owner?.waiting.shift();
    if (owner === undefined || next === undefined) return undefined;
    this.#length -= 1;
    if (owner.waiting.isEmpty) this.#byId.delete(owner.id);
    else this.#owners.push(owner);
    return next;
  }
}
