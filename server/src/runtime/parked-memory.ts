/** How much of the memory parked instances take, by number and by the length of their states. */
export class ParkedMemory {
  readonly #lengthMax: number;
  readonly #lengths = new Map<string, number>();
  #length = 0;

  /** @param lengthMax bytes of all states; in memory they take several times that */
  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get isFull(): boolean {
    return this.#length > this.#lengthMax;
  }

  parked(id: string, length: number): void {
    this.forget(id);
    this.#lengths.set(id, length);
    this.#length += length;
  }

  forget(id: string): void {
    this.#length -= this.#lengths.get(id) ?? 0;
    this.#lengths.delete(id);
  }
}
