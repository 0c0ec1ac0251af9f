/** One activity name: its handler, and how many polls for it wait at a time. */
import type { RegisteredActivity } from './activity-handlers.js';

/** An answer within this time means that work was waiting, so that there may be more. */
const QUICK_MS = 50;

/**
 * An idle worker has one poll for each name. Every poll that is answered at once adds one, so that their number doubles from
 * round to round while there is much to do; every one that has to wait takes one away. So a burst is taken in parallel, and
 * an idle worker is hardly heard of.
 */
export class ActivityLane {
  readonly activity: RegisteredActivity;
  running = 0;
  polling = 0;
  lastPolledAtMs = 0;
  /** Refusals in a row that concern this name alone. */
  refusals = 0;
  isPaused = false;
  #width = 1;

  constructor(activity: RegisteredActivity) {
    this.activity = activity;
  }

  /** How many more polls it may have for work that it could begin. */
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
