/** A clock that stands still until it is moved. Its timers fire in order, and exactly when they are due. */
import type { Clock } from '../base/clock.js';

interface Timer {
  readonly time: number;
  readonly order: number;
  readonly callback: () => void;
}

export class VirtualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #now: number;
  #made = 0;
  #fired = 0;

  constructor(now: number) {
    this.#now = now;
  }

  /** Number of timers that have fired. */
  get fired(): number {
    return this.#fired;
  }

  now(): number {
    return this.#now;
  }

  /** Routine is left out: days of heartbeats and scans would change nothing. */
  at(time: number, callback: () => void, isRoutine = false): () => void {
    if (isRoutine) return () => undefined;
    this.#made += 1;
    const timer = { time, order: this.#made, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Fires the next timer that is due until `time`, and moves to its time. Returns false if there is none. */
  fireNext(time: number): boolean {
    let next: Timer | null = null;
    for (const timer of this.#timers) {
      if (timer.time <= time && (next === null || isBefore(timer, next))) next = timer;
    }
    if (next === null) return false;
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.time);
    this.#fired += 1;
    next.callback();
    return true;
  }

  moveTo(time: number): void {
    this.#now = Math.max(this.#now, time);
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.time < other.time || (one.time === other.time && one.order < other.order);
}
