/**
 * Polls the server for work while there are free slots.
 *
 * Owns: the open polls, and the pauses while the server is unavailable. Must not know: what happens to the work.
 *
 * Invariants:
 *  PO1 Open polls and running handlers together never exceed `concurrency`, for each activity and for the worker.
 *  PO2 While the server is failing, there is one poll at a time, after growing pauses, and it does not wait for work.
 *     Pending results are reported first.
 *  PO3 Every activity is polled regularly, however few slots there are.
 */
import { isApiError, pause, type StepwrightClient, type WorkItem } from '@stepwright/sdk';
import { ActivityLane } from './activity-lane.js';
import type { RegisteredActivity } from './activity-handlers.js';
import { aborted, backoffMs, type BackoffRange } from './backoff.js';
import type { EventHub } from './worker-events.js';
import type { WorkerIdentity } from './worker-identity.js';

/** The wait of polls that may block another activity (PO3): further polls of an activity, or all polls if slots are scarce. */
const SHORT_POLL_SECONDS = 1;
/** A poll fails if the server has not responded this long after the waiting time. */
const POLL_MARGIN_MS = 10_000;

/** How long open polls may still return work when the worker stops. */
const LINGER_MS = 100;

export interface PollerOptions {
  readonly client: StepwrightClient;
  readonly identity: WorkerIdentity;
  readonly activities: readonly RegisteredActivity[];
  readonly concurrency: number;
  readonly pollSeconds: number;
  readonly backoff: BackoffRange;
  readonly events: EventHub;
  /** Resolves once all pending results are reported, which may take as long as the server is unavailable. */
  readonly reportsAreIn: () => Promise<unknown>;
  /** Takes an item. Resolves when its slot is free again. */
  readonly take: (item: WorkItem, activity: RegisteredActivity) => Promise<void>;
}

export class Poller {
  readonly #options: PollerOptions;
  readonly #lanes: readonly ActivityLane[];
  readonly #stopped = new AbortController();
  readonly #open = new Set<Promise<void>>();
  #running = 0;
  #polling = 0;
  #failures = 0;
  #isPaused = false;
  #isStopping = false;
  #disconnectedAtMs = 0;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#lanes = options.activities.map((activity) => new ActivityLane(activity));
  }

  get running(): number {
    return this.#running;
  }

  get polling(): number {
    return this.#polling;
  }

  start(): void {
    this.#fill();
  }

  /** Starts no more polls. Resolves when the open polls have ended. Items that still arrive are passed to `take`. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    // Aborting a poll would lose a response that is on its way, and its item would be held until the lease ends.
    const over = new AbortController();
    await Promise.race([Promise.all(this.#open), pause(LINGER_MS, over.signal)]);
    over.abort();
    this.#stopped.abort();
    await Promise.all(this.#open);
  }

  /** Starts as many polls as PO1 and PO2 allow. */
  #fill(): void {
    for (;;) {
      if (this.#isStopping || this.#isPaused) return;
      if (this.#failures > 0 && this.#polling > 0) return;
      if (this.#running + this.#polling >= this.#options.concurrency) return;
      const lane = this.#nextLane();
      if (lane === undefined) return;
      const open = this.#poll(lane, this.#waitSeconds(lane)).finally(() => {
        this.#open.delete(open);
        this.#fill();
      });
      this.#open.add(open);
    }
  }

  /** The activity with the fewest polls; among several, the one that was polled least recently. */
  #nextLane(): ActivityLane | undefined {
    return this.#lanes
      .filter((lane) => lane.room > 0)
      .sort((a, b) => a.polling - b.polling || a.lastPolledAtMs - b.lastPolledAtMs)[0];
  }

  #waitSeconds(lane: ActivityLane): number {
    if (this.#failures > 0) return 0;
    const names = this.#lanes.filter(({ hasFreeSlot }) => hasFreeSlot).length;
    const slots = this.#options.concurrency - this.#running;
    return lane.polling > 0 || names > slots ? SHORT_POLL_SECONDS : this.#options.pollSeconds;
  }

  async #poll(lane: ActivityLane, waitSeconds: number): Promise<void> {
    const { name: activityName } = lane.activity;
    const began = performance.now();
    lane.lastPolledAtMs = began;
    this.#count(lane, 'polling', 1);
    try {
      const item = await this.#pull(lane, waitSeconds);
      const tookMs = performance.now() - began;
      this.#count(lane, 'polling', -1);
      const outcome = item === null ? 'empty' : 'work';
      this.#options.events.emit('polled', { activityName, outcome, tookMs });
      this.#reconnected();
      lane.refusals = 0;
      if (item === null) {
        lane.gotNothing();
        // Do not poll again immediately if the server did not wait, for example because it is stopping.
        if (tookMs < waitSeconds * 500) await this.#pauseAfterFailure(null);
      } else {
        lane.gotWork(tookMs);
        this.#begin(item, lane);
      }
    } catch (error) {
      this.#count(lane, 'polling', -1);
      if (this.#stopped.signal.aborted) return;
      const tookMs = performance.now() - began;
      this.#options.events.emit('polled', { activityName, outcome: 'failed', tookMs });
      if (isRefusal(error)) await this.#pauseLane(lane, error);
      else await this.#pauseAfterFailure(error);
    }
  }

  #pull(lane: ActivityLane, waitSeconds: number): Promise<WorkItem | null> {
    const { client, identity } = this.#options;
    const polled = client.activities.pull(lane.activity.name, {
      workerId: identity.workerId,
      version: identity.version,
      ...(identity.host !== undefined && { host: identity.host }),
      waitSeconds,
      leaseSeconds: lane.activity.leaseSeconds,
      signal: this.#stopped.signal,
      timeoutMs: waitSeconds * 1000 + POLL_MARGIN_MS,
      // The worker pauses all of its polls, so the client must not retry.
      retry: false,
    });
    return polled.catch((error: unknown) => {
      // The token expired while the poll waited: there was no work, and the next poll has a new token.
      if (isApiError(error, 'authorization_ended')) return null;
      throw error;
    });
  }

  #begin(item: WorkItem, lane: ActivityLane): void {
    this.#count(lane, 'running', 1);
    const done = this.#options.take(item, lane.activity).finally(() => {
      this.#count(lane, 'running', -1);
      this.#fill();
    });
    void done;
  }

  #count(lane: ActivityLane, what: 'running' | 'polling', change: 1 | -1): void {
    lane[what] += change;
    if (what === 'running') this.#running += change;
    else this.#polling += change;
  }

  #reconnected(): void {
    if (this.#failures === 0) return;
    this.#failures = 0;
    const afterMs = performance.now() - this.#disconnectedAtMs;
    this.#options.events.emit('connected', { afterMs });
  }

  /** The server rejects polls for this activity only: the others continue. */
  async #pauseLane(lane: ActivityLane, error: unknown): Promise<void> {
    this.#reconnected();
    if (lane.isPaused) return;
    lane.isPaused = true;
    const retryInMs = backoffMs((lane.refusals += 1), this.#options.backoff);
    this.#options.events.emit('refused', { activityName: lane.activity.name, error, retryInMs });
    await pause(retryInMs, this.#stopped.signal);
    lane.isPaused = false;
  }

  /** Polls that fail at the same time cause one pause. An error of null means that the response came too early. */
  async #pauseAfterFailure(error: unknown): Promise<void> {
    if (this.#isPaused) return;
    this.#isPaused = true;
    const failures = error === null ? 1 : (this.#failures += 1);
    if (failures === 1) this.#disconnectedAtMs = performance.now();
    const wished = isApiError(error) ? (error.retryAfterMs ?? 0) : 0;
    const retryInMs = Math.max(backoffMs(failures, this.#options.backoff), wished);
    if (error !== null) this.#options.events.emit('disconnected', { error, retryInMs });
    await pause(retryInMs, this.#stopped.signal);
    // Report first: the server may offer the same work again, and this worker would do it a second time.
    await Promise.race([this.#options.reportsAreIn(), aborted(this.#stopped.signal)]);
    this.#isPaused = false;
  }
}

/** The call is invalid or forbidden, so the next one would be too. */
function isRefusal(error: unknown): boolean {
  return isApiError(error) && error.status >= 400 && error.status < 500 && error.status !== 429;
}
