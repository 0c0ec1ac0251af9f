/**
 * Keeps the lease of a work item with heartbeats, and aborts a signal when the lease is lost or the work is canceled.
 *
 * Invariants:
 *  LE1 The signal is aborted no later than the end of the lease by this worker's clock: then another worker may claim the item.
 *  LE2 Heartbeats continue until `end`, even while a result is waiting to be reported, and after the work was canceled.
 */
import { isApiError, pause, type StepwrightClient, type WorkItem } from '@stepwright/sdk';
import { LeaseLostError, WorkCancelledError } from './errors.js';
import { backoffMs } from './backoff.js';

export interface LeaseOptions {
  readonly client: StepwrightClient;
  readonly item: WorkItem;
  readonly leaseSeconds: number;
  /** Called once, before the signal is aborted. */
  readonly onLost: () => void;
  /** Called at most once, before the signal is aborted. */
  readonly onCanceled: () => void;
}

/** Workers learn about cancellation only from heartbeat responses, so heartbeats are sent this often regardless of the lease. */
const HEARTBEAT_MS_MAX = 10_000;

export class Lease {
  readonly #options: LeaseOptions;
  readonly #work = new AbortController();
  readonly #ended = new AbortController();
  #expiresAtMs: number;
  #isTaken = false;
  #isWatched = true;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#expiresAtMs = performance.now() + options.leaseSeconds * 1000;
    void this.#keep();
  }

  /** The signal for the handler. */
  get signal(): AbortSignal {
    return this.#work.signal;
  }

  /** The remaining lease time in milliseconds, as far as this worker knows. */
  get remainingMs(): number {
    return this.#expiresAtMs - performance.now();
  }

  /** Extends the lease now. @throws LeaseLostError, WorkCancelledError */
  async extend(): Promise<void> {
    const { client, item, leaseSeconds } = this.#options;
    const sentAtMs = performance.now();
    try {
      const { cancelRequested } = await client.activities.heartbeat(item, {
        leaseSeconds,
        signal: this.#ended.signal,
        timeoutMs: Math.max(leaseSeconds * 1000, 1000),
      });
      // The server counts from a later time, so this estimate is safe.
      this.#expiresAtMs = sentAtMs + leaseSeconds * 1000;
      if (cancelRequested) this.#cancel();
    } catch (error) {
      const isCanceled = isApiError(error, 'work_cancelled');
      if (!isCanceled && !isApiError(error, 'activity_not_found')) throw error;
      this.#isTaken = true;
      throw isCanceled ? this.#cancel() : this.#lose();
    }
  }

  /** Aborts the signal for a reason other than the lease. */
  abort(reason: Error): void {
    this.#work.abort(reason);
  }

  /** Call this when the handler has ended: the callbacks are no longer called. Heartbeats continue until `end`. */
  unwatch(): void {
    this.#isWatched = false;
  }

  /** Stops the heartbeats. */
  end(): void {
    this.#ended.abort();
  }

  async #keep(): Promise<void> {
    const watch = this.#watchClock();
    let failures = 0;
    while (await this.#goesOnAfter(failures === 0 ? this.#regularMs() : this.#soonMs(failures))) {
      failures = await this.extend().then(
        () => 0,
        () => failures + 1,
      );
    }
    await watch;
  }

  async #goesOnAfter(waitMs: number): Promise<boolean> {
    await pause(waitMs, this.#ended.signal);
    return !this.#ended.signal.aborted && !this.#isTaken;
  }

  /** About a third of the lease, with jitter. */
  #regularMs(): number {
    const thirdMs = (this.#options.leaseSeconds * 1000) / 3;
    return Math.min(thirdMs, HEARTBEAT_MS_MAX) * (0.8 + Math.random() * 0.2);
  }

  #soonMs(failures: number): number {
    const leaseMs = this.#options.leaseSeconds * 1000;
    return backoffMs(failures, { firstMs: Math.min(200, leaseMs / 20), lastMs: leaseMs / 3 });
  }

  /** Guarantees LE1 even if heartbeats hang. */
  async #watchClock(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted && !this.#work.signal.aborted) {
      const { remainingMs } = this;
      if (remainingMs <= 0) this.#lose();
      else await pause(remainingMs, AbortSignal.any([signal, this.#work.signal]));
    }
  }

  #lose(): LeaseLostError {
    const { activityName, workflowId } = this.#options.item;
    const error = new LeaseLostError(activityName, workflowId);
    this.#abortFor(error, this.#options.onLost);
    return error;
  }

  #cancel(): WorkCancelledError {
    const { activityName, workflowId } = this.#options.item;
    const error = new WorkCancelledError(activityName, workflowId);
    this.#abortFor(error, this.#options.onCanceled);
    return error;
  }

  #abortFor(reason: Error, tell: () => void): void {
    if (this.#work.signal.aborted || this.#ended.signal.aborted) return;
    if (this.#isWatched) tell();
    this.#work.abort(reason);
  }
}
