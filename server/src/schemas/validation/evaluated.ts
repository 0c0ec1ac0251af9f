/** Which members or items of one value have been evaluated: what `unevaluatedProperties` and `unevaluatedItems` leave alone. */
export class Evaluated {
  #hasAllItems = false;
  #hasAllNames = false;
  readonly #items = new Set<number>();
  readonly #names = new Set<string>();
  /** All items before this one. */
  #prefix = 0;

  add(other: Evaluated): void {
    this.#hasAllItems ||= other.#hasAllItems;
    this.#hasAllNames ||= other.#hasAllNames;
    this.#prefix = Math.max(this.#prefix, other.#prefix);
    for (const index of other.#items) this.#items.add(index);
    for (const name of other.#names) this.#names.add(name);
  }

  addAllItems(): void {
    this.#hasAllItems = true;
  }

  addAllNames(): void {
    this.#hasAllNames = true;
  }

  addItem(index: number): void {
    this.#items.add(index);
  }

  addItemsBefore(index: number): void {
    this.#prefix = Math.max(this.#prefix, index);
  }

  addName(name: string): void {
    this.#names.add(name);
  }

  hasItem(index: number): boolean {
    return this.#hasAllItems || index < this.#prefix || this.#items.has(index);
  }

  hasName(name: string): boolean {
    return this.#hasAllNames || this.#names.has(name);
  }
}
