/** One time limit for everything that a call does: waiting for a connection, redirects, the last byte of the response. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #unwanted: AbortSignal;
  readonly #abort = (): void => this.#controller.abort();
  readonly timeoutMs: number;
  #isOver = false;

  /** `unwanted` fires when the result is no longer needed. */
  constructor(timeoutMs: number, unwanted: AbortSignal) {
    this.timeoutMs = timeoutMs;
    this.#unwanted = unwanted;
    // A real call takes real time; tests with virtual time replace the whole body.
    // eslint-disable-next-line no-restricted-globals
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#controller.abort();
    }, timeoutMs);
    unwanted.addEventListener('abort', this.#abort, { once: true });
    if (unwanted.aborted) this.#abort();
  }

  /** Fires at the time limit, or when the result is no longer needed. */
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
