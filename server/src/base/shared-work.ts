/**
 * Work whose result simultaneous callers share, such as an explanation that a thousand callers ask for at once.
 *
 * Invariants:
 *  SW1 The work for a key runs once at a time, and begins after every caller who gets its result has called: so the result
 *      contains whatever was answered to that caller before. Who calls while it runs shares the next one.
 *  SW2 Work that nobody waits for when its turn comes is not begun. It is the server's own once it runs: a caller who leaves ends
 *      it for nobody.
 *  SW3 Callers continue one by one, each in a turn of the event loop of its own.
 */
import { currentCaller, runForServer } from './limits/current-caller.js';
import { CanceledError, nextSlice } from './slices.js';

interface Round<Result> {
  readonly result: Promise<Result>;
  /** Of the callers; null: one cannot leave. */
  readonly callers: (AbortSignal | null)[];
}

/** Does the work. `begins` is called when it is about to read what it works on, and throws if nobody wants the result. */
type Work<Result> = (begins: () => void) => Promise<Result>;

export class SharedWork<Result> {
  /** The rounds that have not begun, by key. */
  readonly #next = new Map<string, Round<Result>>();
  readonly #running = new Map<string, Promise<unknown>>();

  /** @throws CanceledError if every caller has gone before the work began; what the work throws */
  async get(key: string, work: Work<Result>): Promise<Result> {
    const round = this.#next.get(key) ?? this.#add(key, work);
    round.callers.push(currentCaller()?.gone ?? null);
    const result = await round.result;
    await nextSlice();
    return result;
  }

  #add(key: string, work: Work<Result>): Round<Result> {
    const callers: (AbortSignal | null)[] = [];
    const before = this.#running.get(key);
    const result = runForServer(() => this.#run(key, { before, callers, work }));
    const round: Round<Result> = { callers, result };
    this.#next.set(key, round);
    // Each caller gets the error itself.
    result.catch(() => undefined);
    return round;
  }

  async #run(
    key: string,
    {
      before,
      callers,
      work,
    }: {
      readonly before: Promise<unknown> | undefined;
      readonly callers: readonly (AbortSignal | null)[];
      readonly work: Work<Result>;
    },
  ): Promise<Result> {
    const state = { hasBegun: false };
    let ended = (): void => undefined;
    const begins = (): void => {
      state.hasBegun = true;
      this.#next.delete(key);
      if (callers.every((gone) => gone?.aborted === true)) throw new CanceledError();
    };
    // Its callers join before it begins, also those of this turn of the event loop.
    await (before ?? Promise.resolve());
    const running = new Promise<void>((resolve) => {
      ended = resolve;
    });
    this.#running.set(key, running);
    try {
      return await work(begins);
    } finally {
      if (!state.hasBegun) this.#next.delete(key);
      if (this.#running.get(key) === running) this.#running.delete(key);
      ended();
    }
  }
}
