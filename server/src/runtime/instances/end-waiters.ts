/** Callers that wait for an instance to end. */
import type { InstanceView } from '../operations/instance-types.js';

export interface EndWait {
  /**
   * Resolves when the instance has ended, the time is over, the signal fires or the wait is cancelled, whichever comes
   * first; with how the instance ended, where that is known without looking.
   */
  readonly over: Promise<InstanceView | null>;
  readonly cancel: () => void;
}

type Wake = (view: InstanceView | null) => void;

export class EndWaiters {
  readonly #waiters = new Map<string, Set<Wake>>();

  wait(id: string, timer: (wake: () => void) => () => void, signal: AbortSignal): EndWait {
    let wake: Wake = () => undefined;
    const over = new Promise<InstanceView | null>((resolve) => {
      wake = resolve;
    });
    let cancelTimer = (): void => undefined;
    const done: Wake = (view) => {
      cancelTimer();
      signal.removeEventListener('abort', cancel);
      const waiters = this.#waiters.get(id);
      waiters?.delete(done);
      if (waiters?.size === 0) this.#waiters.delete(id);
      wake(view);
    };
    const cancel = (): void => done(null);
    const waiters = this.#waiters.get(id) ?? new Set();
    waiters.add(done);
    this.#waiters.set(id, waiters);
    cancelTimer = timer(cancel);
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel);
    return { over, cancel };
  }

  /** @param view how the instance ended; only asked for when somebody waits, null when it has to be looked up */
  ended(id: string, view: () => InstanceView | null = () => null): void {
    const waiters = this.#waiters.get(id);
    if (waiters === undefined) return;
    const shown = view();
    for (const done of [...waiters]) done(shown);
  }

  endAll(): void {
    for (const id of [...this.#waiters.keys()]) this.ended(id);
  }
}
