/** Which activities are polled on this node, and when each was last polled. Bounded: only the newest names are kept. */

/** Beyond this number, the least recently polled names are dropped. */
const NAMES_MAX = 1000;

export interface PollCount {
  readonly name: string;
  /** Polls that are waiting now. */
  readonly parked: number;
  /** When a poll last arrived or ended, in milliseconds since 1970. */
  readonly lastPollAt: number;
}

export class PollCounts {
  /** In order of their last poll, oldest first. */
  readonly #names = new Map<string, { parked: number; lastPollAt: number }>();

  pollBegan(name: string, now: number): void {
    this.#touch(name, 1, now);
  }

  pollEnded(name: string, now: number): void {
    this.#touch(name, -1, now);
  }

  /** Names with waiting polls first, then the most recently polled ones. */
  newest(limit: number): readonly PollCount[] {
    const counts = [...this.#names].map(([name, count]) => ({ name, ...count }));
    return counts
      .sort((a, b) => Number(b.parked > 0) - Number(a.parked > 0) || b.lastPollAt - a.lastPollAt)
      .slice(0, limit);
  }

  #touch(name: string, change: number, now: number): void {
    const parked = (this.#names.get(name)?.parked ?? 0) + change;
    this.#names.delete(name);
    this.#names.set(name, { parked: Math.max(parked, 0), lastPollAt: now });
    if (this.#names.size <= NAMES_MAX) return;
    for (const [oldest, count] of this.#names) {
      if (count.parked > 0) continue;
      this.#names.delete(oldest);
      return;
    }
  }
}
