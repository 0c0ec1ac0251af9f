/**
 * Decides whether spares are worth their memory: from the first call that may break its interpreter until a while after the
 * last.
 */
export class SpareNeed {
  readonly #quietMs: number;
  readonly #over: () => void;

  #timer: NodeJS.Timeout | null = null;
  #lastAt = 0;

  /** @param over called once nothing has needed spares for `quietMs` */
  constructor(quietMs: number, over: () => void) {
    this.#quietMs = quietMs;
    this.#over = over;
  }

  get isThere(): boolean {
    return this.#timer !== null;
  }

  /** Something has happened that may destroy an interpreter, or has destroyed one. */
  renew(): void {
    this.#lastAt = performance.now();
    if (this.#timer === null) this.#lookAgainIn(this.#quietMs);
  }

  forget(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #lookAgainIn(pauseMs: number): void {
    this.#timer = setTimeout(() => {
      const leftMs = this.#lastAt + this.#quietMs - performance.now();
      if (leftMs > 0) {
        this.#lookAgainIn(leftMs);
        return;
      }
      this.#timer = null;
      this.#over();
    }, pauseMs);
    this.#timer.unref();
  }
}
