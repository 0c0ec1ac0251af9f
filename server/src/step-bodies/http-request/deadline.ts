/** One time limit over everything that a call does: waiting for a connection, redirects, the last byte of the answer. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #unwanted: AbortSignal;
  readonly #abort = (): void => this.#controller.abort();
  readonly timeoutMs: number;
  #isOver = false;

  /** `unwanted` fires when nobody wants the result any more. */
  constructor(timeoutMs: number, unwanted: AbortSignal) {
    this.timeoutMs = timeoutMs;
    this.#unwanted = unwanted;
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#controller.abort();
    }, timeoutMs);
    unwanted.addEventListener('abort', this.#abort, { once: true });
    if (unwanted.aborted) this.#abort();
  }

  /** Fires at the time limit, or when the result is unwanted. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#unwanted.removeEventListener('abort', this.#abort);
  }
}
