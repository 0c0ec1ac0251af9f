/**
 * Writes without a waiting caller: they are collected and sent together a little later.
 *
 * Each is idempotent, and none is needed for correctness: a write lost in a crash leaves a record that a sweep finds
 * again or that is removed with its instance. Writes that can't be sent are kept for the next time, up to a limit.
 */
import type { Collections } from './collections.js';

const FLUSH_INTERVAL_MS = 100;
const KEPT_MAX = 10_000;

/** A claim that no worker knows about, because its response was lost. */
export interface LostClaim {
  /** As stored. */
  readonly activityId: string;
  readonly tokenHash: string;
  readonly createdAt: number;
}

export class LazyWrites {
  readonly #collections: Collections;
  readonly #settledActivities = new Set<string>();
  readonly #removedSubscriptions = new Set<string>();
  readonly #lostClaims = new Map<string, LostClaim>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(collections: Collections) {
    this.#collections = collections;
  }

  /** Takes ids as stored. */
  settleActivities(ids: readonly string[]): void {
    for (const id of ids) this.#settledActivities.add(id);
    this.#flushSoon();
  }

  removeSubscriptions(ids: readonly string[]): void {
    for (const id of ids) this.#removedSubscriptions.add(id);
    this.#flushSoon();
  }

  releaseLostClaim(claim: LostClaim): void {
    this.#lostClaims.set(`${claim.activityId} ${claim.tokenHash}`, claim);
    this.#flushSoon();
  }

  /** Sends the waiting writes and stops waiting for more. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#flush();
  }

  /** Runs after the current flush. */
  #flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushing = this.#flushing.then(async () => {
      await Promise.all([this.#settle(), this.#removeSubscriptions(), this.#releaseClaims()]);
    });
    return this.#flushing;
  }

  #isEmpty(): boolean {
    return (
      this.#settledActivities.size + this.#removedSubscriptions.size + this.#lostClaims.size === 0
    );
  }

  #flushSoon(): void {
    if (this.#isStopped || this.#timer !== null || this.#isEmpty()) return;
    this.#timer = setTimeout(() => void this.#flush(), FLUSH_INTERVAL_MS);
    // Waiting writes don't keep the process alive; `stop` sends them.
    this.#timer.unref();
  }

  #settle(): Promise<void> {
    return this.#send(this.#settledActivities, async (ids) => {
      const filter = { _id: { $in: ids }, done: true };
      await this.#collections.activities.updateMany(filter, { $set: { settled: true } });
    });
  }

  #removeSubscriptions(): Promise<void> {
    return this.#send(this.#removedSubscriptions, async (ids) => {
      await this.#collections.subscriptions.deleteMany({ _id: { $in: ids } });
    });
  }

  async #send(waiting: Set<string>, write: (ids: string[]) => Promise<void>): Promise<void> {
    if (waiting.size === 0) return;
    const ids = [...waiting];
    waiting.clear();
    try {
      await write(ids);
    } catch {
      for (const id of ids.slice(0, Math.max(0, KEPT_MAX - waiting.size))) waiting.add(id);
      this.#flushSoon();
    }
  }

  async #releaseClaims(): Promise<void> {
    for (const [key, { activityId, tokenHash, createdAt }] of [...this.#lostClaims]) {
      try {
        await this.#collections.activities.updateOne(
          { _id: activityId, tokenHash, done: false },
          {
            $set: { availableAt: createdAt, tokenHash: null, workerId: null },
            $unset: { slots: '' },
          },
        );
        this.#lostClaims.delete(key);
      } catch {
        this.#flushSoon();
        return;
      }
    }
  }
}
