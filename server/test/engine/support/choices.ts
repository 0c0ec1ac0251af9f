/** Decisions from a list of random numbers. When the list is used up, every decision is the first, simplest one. */
export class Choices {
  readonly #numbers: readonly number[];
  #used = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** From 0 to `bound` - 1. */
  below(bound: number): number {
    const number = this.#numbers[this.#used] ?? 0;
    this.#used += 1;
    return number % bound;
  }

  /** True with this probability; false when the list is used up. */
  percent(probability: number): boolean {
    return this.below(100) >= 100 - probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }
}
