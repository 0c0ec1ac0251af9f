/** Admits callers in their order while there is room for them; the others wait. */
export interface AdmissionRules {
  readonly hasRoom: () => boolean;
  /** Counts a caller who is admitted. */
  readonly admit: () => void;
}

export class AdmissionQueue {
  readonly #rules: AdmissionRules;
  readonly #waiting: (() => void)[] = [];

  constructor(rules: AdmissionRules) {
    this.#rules = rules;
  }

  /** Resolves when the caller is admitted. First come, first served. */
  async enter(): Promise<void> {
    if (this.#waiting.length > 0 || !this.#rules.hasRoom()) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    } else this.#rules.admit();
  }

  /** Call when there may be more room. */
  admitWaiting(): void {
    while (this.#rules.hasRoom()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#rules.admit();
      next();
    }
  }
}
