/** First in, first out. Unlike `shift` of an array, removing the first item takes constant time. */
export class Queue<Value> {
  #first: Link<Value> | null = null;
  #last: Link<Value> | null = null;

  get isEmpty(): boolean {
    return this.#first === null;
  }

  push(value: Value): void {
    const link: Link<Value> = { value, next: null };
    if (this.#last === null) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
  }

  pushFirst(value: Value): void {
    this.#first = { value, next: this.#first };
    this.#last ??= this.#first;
  }

  shift(): Value | undefined {
    const first = this.#first;
    if (first === null) return undefined;
    this.#first = first.next;
    if (this.#first === null) this.#last = null;
    return first.value;
  }

  /** Returns false if the value isn't here. */
  remove(value: Value): boolean {
    let before: Link<Value> | null = null;
    for (let link = this.#first; link !== null; link = link.next) {
      if (link.value === value) {
        if (before === null) this.#first = link.next;
        else before.next = link.next;
        if (link.next === null) this.#last = before;
        return true;
      }
      before = link;
    }
    return false;
  }

  *[Symbol.iterator](): Iterator<Value> {
    for (let link = this.#first; link !== null; link = link.next) yield link.value;
  }
}

interface Link<Value> {
  readonly value: Value;
  next: Link<Value> | null;
}
