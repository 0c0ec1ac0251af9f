/** One activity name: its handler, and how many polls for it wait at a time. */
import type { RegisteredActivity } from './activity-handlers.js';

/** An answer within this time means that work was waiting, so that there may be more. */
const QUICK_MS = 50;

/**
 * An idle worker has one poll for each name. While polls are answered at once the number doubles, up to what is free; when
 * they have to wait it shrinks again. So a burst is taken in parallel, and an idle worker is hardly heard of.
 */
export class ActivityLane {
  readonly activity: RegisteredActivity;
  running = 0;
  polling = 0;
  lastPolledAtMs = 0;
  #width = 1;

  constructor(activity: RegisteredActivity) {
    this.activity = activity;
  }

  /** How many more polls it may have for work that it could begin. */
  get room(): number {
    return Math.min(this.#width, this.activity.concurrency - this.running) - this.polling;
  }

  get hasFreeSlot(): boolean {
    return this.running < this.activity.concurrency;
  }

  gotWork(tookMs: number): void {
    if (tookMs > QUICK_MS) this.#narrow();
    else this.#width = Math.min(this.#width * 2, this.activity.concurrency);
  }

  gotNothing(): void {
    this.#narrow();
  }

  #narrow(): void {
    this.#width = Math.max(1, Math.floor(this.#width / 2));
  }
}
