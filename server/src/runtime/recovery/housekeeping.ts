/**
 * Periodic work: finishing what a node left incomplete between two writes, and removing old records.
 *
 * The former only recovers from crashes and the latter only tidies up; an instance never waits for either while its node is
 * alive.
 */
import type { Logger } from '../../base/logger.js';
import type { Store } from '../../store/store.js';
import type { ResultResender } from '../activities/result-resender.js';
import type { Clock } from '../../base/clock.js';
import type { EventPublisher } from '../events/event-publisher.js';
import { PeriodicTask } from '../../base/periodic-task.js';
import type { Service } from '../../base/service.js';

export interface HousekeepingOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly publisher: EventPublisher;
  readonly results: Pick<ResultResender, 'resend'>;
  readonly instanceRetentionMs: number;
  readonly eventRetentionMs: number;
  readonly repairIntervalMs: number;
  readonly purgeIntervalMs: number;
}

/** After this time, unfinished work is considered abandoned by the node that started it. */
const UNFINISHED_AFTER_MS = 5000;
/** How long a completed activity is kept, so that a repeated result is recognized. */
const ACTIVITY_MEMORY_MS = 5 * 60_000;
const PURGE_BATCH = 500;
/**
 * How much longer an instance is kept whose end was not reported to others, such as its parent: nodes may have been down
 * for the whole retention period. An instance that cannot run will never report its end, and is then removed too.
 */
const UNTOLD_MS = 7 * 24 * 60 * 60_000;

export class Housekeeping implements Service {
  readonly #options: HousekeepingOptions;
  readonly #repair: PeriodicTask;
  readonly #purge: PeriodicTask;
  #isFirstRepair = true;
  #stopping = false;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#repair = new PeriodicTask({
      name: 'finish interrupted work',
      clock,
      logger,
      intervalMs: options.repairIntervalMs,
      run: () => this.#repairOnce(),
    });
    this.#purge = new PeriodicTask({
      name: 'remove expired records',
      clock,
      logger,
      intervalMs: options.purgeIntervalMs,
      run: () => this.purge(),
    });
  }

  /** Continues in the background: a node with much to repair or remove is ready anyway. */
  start(): Promise<void> {
    this.#repair.startInBackground();
    this.#purge.startInBackground();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#repair.stop();
    await this.#purge.stop();
  }

  /** At the start, everything unfinished is repaired, however new: on a single node, nobody else is working on it. */
  async #repairOnce(): Promise<void> {
    const now = this.#options.clock.now();
    await this.repair(this.#isFirstRepair ? now + 1 : now - UNFINISHED_AFTER_MS);
    this.#isFirstRepair = false;
  }

  async repair(before: number): Promise<void> {
    await this.#options.publisher.deliverLeftOver(before);
    await this.#options.results.resend(before);
  }

  /** Removes in batches, so that a large removal does not block others. */
  async purge(): Promise<void> {
    const { clock, eventRetentionMs, instanceRetentionMs, logger, store } = this.#options;
    const now = clock.now();
    for (;;) {
      const removed = await store.purge({
        instancesEndedBefore: now - instanceRetentionMs,
        untoldEndedBefore: now - instanceRetentionMs - UNTOLD_MS,
        eventsPublishedBefore: now - eventRetentionMs,
        activitiesDoneBefore: now - ACTIVITY_MEMORY_MS,
        limit: PURGE_BATCH,
      });
      const total = removed.instances + removed.events + removed.activities;
      if (total > 0) logger.debug({ ...removed }, 'removed expired records');
      const mayHaveMore = Object.values(removed).some((count) => count >= PURGE_BATCH);
      if (!mayHaveMore || this.#stopping) return;
    }
  }
}
