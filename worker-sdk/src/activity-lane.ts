/** One activity: its handler, and the number of concurrent polls for it. */
import type { RegisteredActivity } from './activity-handlers.js';

/** A response within this time means that work was already waiting, so there may be more. */
const QUICK_MS = 50;

/**
 * An idle worker has one poll for each activity. Every poll that returns immediately adds one, so their number doubles with each
 * round while there is much work. Every poll that has to wait removes one. A worker thus claims bursts in parallel, and causes
 * little traffic while it is idle.
 */
export class ActivityLane {
  readonly activity: RegisteredActivity;
  running = 0;
  polling = 0;
  lastPolledAtMs = 0;
  /** The number of consecutive rejected polls for this activity. */
  refusals = 0;
  isPaused = false;
  #width = 1;

  constructor(activity: RegisteredActivity) {
    this.activity = activity;
  }

  /** How many more polls may start for work that could begin immediately. */
  get room(): number {
    if (this.isPaused) return 0;
    return Math.min(this.#width, this.activity.concurrency - this.running) - this.polling;
  }

  get hasFreeSlot(): boolean {
    return this.running < this.activity.concurrency;
  }

  gotWork(tookMs: number): void {
    if (tookMs > QUICK_MS) this.gotNothing();
    else this.#width = Math.min(this.#width + 1, this.activity.concurrency);
  }

  gotNothing(): void {
    this.#width = Math.max(1, this.#width - 1);
  }
}
