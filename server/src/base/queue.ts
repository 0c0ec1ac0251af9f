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

  shift(): Value | undefined {
    const first = this.#first;
    if (first === null) return undefined;
    this.#first = first.next;
    if (this.#first === null) this.#last = null;
    return first.value;
  }
}

interface Link<Value> {
  readonly value: Value;
  next: Link<Value> | null;
}
