/**
 * The evaluation that a stretch of work waits for while Python has it queued or runs it, and how it is called off.
 *
 * An evaluation changes nothing outside, so one that was called off is simply made again if it is wanted after all.
 */
import type { Clock } from '../../base/clock.js';

export class PendingEvaluation {
  readonly #clock: Clock;
  /** Made when Python is asked: most evaluations never ask it. */
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

  /** Nothing is asked of Python any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether a result says no more than that the evaluation was called off. */
  wasCalledOff(
    result: { readonly ok: true } | { readonly ok: false; readonly failure: { type: string } },
  ): boolean {
    return this.isCalledOff && !result.ok && result.failure.type === 'Aborted';
  }

  /** Ends what is waited for, and whatever else is asked of Python until `renew`. */
  callOff(): void {
    this.#isCalledOff = true;
    this.#controller?.abort();
  }

  /** Should the answer not come, the evaluation ends by itself. */
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

  /** When the signal fires, what is waited for is called off, and so is all that would follow. */
  endWith(signal: AbortSignal): void {
    const end = (): void => {
      this.#hasEnded = true;
      this.callOff();
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  }

  /** A new stretch of work begins. */
  renew(): void {
    if (!this.#isCalledOff || this.#hasEnded) return;
    this.#isCalledOff = false;
    this.#controller = null;
  }

  /** Waits for an evaluation that was asked for with `signal`, at most until the deadline. */
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
