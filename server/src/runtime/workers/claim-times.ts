/**
 * The times at which this node delivered the work items that workers hold. The store has the holder and the lease end, but not
 * the start. Bounded: if there are too many, the oldest times are dropped.
 */

const TIMES_MAX = 5000;

export interface ClaimTime {
  readonly activityId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export class ClaimTimes {
  /** In order of time. */
  readonly #times = new Map<string, number>();

  add(activityId: string, at: number): void {
    this.#times.delete(activityId);
    this.#times.set(activityId, at);
    if (this.#times.size <= TIMES_MAX) return;
    const [oldest] = this.#times.keys();
    if (oldest !== undefined) this.#times.delete(oldest);
  }

  /** Null: this node has not delivered it, or has dropped its time. */
  timeOf(activityId: string): number | null {
    return this.#times.get(activityId) ?? null;
  }

  remove(activityId: string): void {
    this.#times.delete(activityId);
  }

  /** The newest last. */
  newest(limit: number): readonly ClaimTime[] {
    return [...this.#times].slice(-limit).map(([activityId, at]) => ({ activityId, at }));
  }
}
