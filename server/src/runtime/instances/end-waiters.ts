/** Callers that wait for an instance to end, and the most recent ends. */
import type { Clock } from '../../base/clock.js';
import { nextSlice } from '../../base/slices.js';
import type { InstanceView } from '../model/instance-types.js';
import { RecentEnds } from './recent-ends.js';

export interface EndWait {
  /**
   * Resolves when the instance ends, the time is up, the signal fires or the wait is canceled, whichever comes first. The
   * value is the ended instance, if known without reading the store.
   */
  readonly over: Promise<InstanceView | null>;
  readonly cancel: () => void;
}

type Wake = (view: InstanceView | null) => void;

/** These callers are answered in the same turn of the event loop, unless the answer is long. */
const WOKEN_AT_ONCE = 16;

export class EndWaiters {
  readonly #waiters = new Map<string, Set<Wake>>();
  readonly #recent: RecentEnds;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#recent = new RecentEnds(clock);
    this.#clock = clock;
  }

  /** The ended instance, if it has just ended on this node. Other nodes may have changed it since. */
  recent(id: string): InstanceView | null {
    return this.#recent.get(id);
  }

  wait(id: string, timer: (wake: () => void) => () => void, signal: AbortSignal): EndWait {
    const beganAt = this.#clock.now();
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
      // A notification of an earlier end may arrive late, after the instance was reopened.
      wake(view !== null && view.lastChangeTime < beganAt ? null : view);
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

  /** @param view the ended instance; null if the store must be read */
  ended(id: string, view: InstanceView | null = null): void {
    // Each caller reads a large instance again, within its own memory.
    const known = view !== null && this.#recent.add(view) ? view : null;
    const waiters = [...(this.#waiters.get(id) ?? [])];
    for (const done of waiters.slice(0, WOKEN_AT_ONCE)) done(known);
    if (waiters.length > WOKEN_AT_ONCE) void wakeInTurns(waiters.slice(WOKEN_AT_ONCE), known);
  }

  /** Called when an ended instance has changed. */
  changed(id: string): void {
    this.#recent.forget(id);
  }

  endAll(): void {
    for (const id of [...this.#waiters.keys()]) this.ended(id);
  }
}

async function wakeInTurns(waiters: readonly Wake[], view: InstanceView | null): Promise<void> {
  for (let from = 0; from < waiters.length; from += WOKEN_AT_ONCE) {
    await nextSlice();
    for (const done of waiters.slice(from, from + WOKEN_AT_ONCE)) done(view);
  }
}
