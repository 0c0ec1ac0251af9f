/**
 * A queued or running Python evaluation that a stretch of work waits for, and its cancellation.
 *
 * Evaluations have no side effects, so a canceled one can simply be repeated.
 */
import type { Clock } from '../../base/clock.js';

export class PendingEvaluation {
  readonly #clock: Clock;
  /** Created when Python is called: most evaluations do not need it. */
  #controller: AbortController | null = null;
  #isCalledOff = false;
  #isWaiting = false;
  #isAsking = false;
  #hasEnded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isCalledOff) this.#controller.abort();
    return this.#controller.signal;
  }

  get isCalledOff(): boolean {
    return this.#isCalledOff;
  }

  /** True if Python must not be called any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** True if the result only reports that the evaluation was canceled. */
  wasCalledOff(
    result: { readonly ok: true } | { readonly ok: false; readonly failure: { type: string } },
  ): boolean {
    return this.isCalledOff && !result.ok && result.failure.type === 'Aborted';
  }

  /** Cancels the current evaluation, and all further calls to Python until `renew`. */
  callOff(): void {
    this.#isCalledOff = true;
    this.#controller?.abort();
  }

  /** If the check fails or never resolves, the evaluation continues until it ends by itself. */
  callOffUnless(isWanted: () => Promise<boolean>): void {
    if (!this.#isWaiting || this.#isAsking) return;
    this.#isAsking = true;
    void isWanted()
      .catch(() => true)
      .then((wanted) => {
        this.#isAsking = false;
        if (!wanted) this.callOff();
      });
  }

  /** When the signal fires, cancels the current evaluation and all further ones. */
  endWith(signal: AbortSignal): void {
    const end = (): void => {
      this.#hasEnded = true;
      this.callOff();
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  }

  /** Called when a new stretch of work starts. */
  renew(): void {
    if (!this.#isCalledOff || this.#hasEnded) return;
    this.#isCalledOff = false;
    this.#controller = null;
  }

  /** Waits for an evaluation that was started with `signal`, at most until the deadline. */
  async wait<Value>(evaluated: Promise<Value>, deadline: number | null): Promise<Value> {
    const cancel =
      deadline === null ? () => undefined : this.#clock.at(deadline, () => this.callOff());
    this.#isWaiting = true;
    try {
      return await evaluated;
    } finally {
      this.#isWaiting = false;
      cancel();
    }
  }
}
