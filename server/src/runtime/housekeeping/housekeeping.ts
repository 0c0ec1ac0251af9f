/**
 * Periodic work: completes operations that a node left incomplete between two writes, and removes old records.
 *
 * An instance never waits for either while its node is alive.
 */
import type { Logger } from '../../base/logger.js';
import {
  isBeingRemoved,
  type EndedInstance,
  type ExpiryLimits,
  type Removal,
} from '../../store/records/housekeeping.js';
import type { Store } from '../../store/store.js';
import type { RunArchive } from '../archive/run-archive.js';
import type { ResultResender } from '../activities/result-resender.js';
import type { Clock } from '../../base/clock.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { EventPublisher } from '../events/event-publisher.js';
import { PeriodicTask } from '../../base/periodic-task.js';
import type { Service } from '../../base/service.js';

export interface HousekeepingOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'instancesRemoved'>;
  readonly publisher: EventPublisher;
  readonly results: Pick<ResultResender, 'resend'>;
  /** Null: expired instances are removed without a copy. */
  readonly archive: RunArchive | null;
  /** True if this node is the one that archives, among the nodes that can. */
  readonly isChosen: () => boolean;
  /** True if another node archives. Then this one removes only instances that it has archived itself. */
  readonly isArchivedElsewhere: () => boolean;
  readonly instanceRetentionMs: number;
  readonly eventRetentionMs: number;
  readonly repairIntervalMs: number;
  readonly purgeIntervalMs: number;
}

/** Unfinished work is considered abandoned by its node after this time. */
const UNFINISHED_AFTER_MS = 5000;
/** How long a completed activity is kept, so that a repeated result is recognized. */
const ACTIVITY_MEMORY_MS = 5 * 60_000;
const PURGE_BATCH = 500;
/** Number of instances in one batch of the archive. */
const ARCHIVE_BATCH = 100;
/**
 * Extra retention of an instance whose end was not reported to others, such as its parent: nodes may have been down for the
 * whole retention period. An instance that can't run never reports its end, and is then also removed.
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

  /** Continues in the background: a node with much to repair or remove is ready immediately. */
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

  /** At the start, everything unfinished is repaired, however new: on a single node, no other node is working on it. */
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
    const { archive, clock, eventRetentionMs, isArchivedElsewhere, logger, metrics, store } =
      this.#options;
    const now = clock.now();
    for (;;) {
      const { isComplete, ...removed } = await store.purge({
        ...this.#limitsAt(now),
        ...((archive !== null || isArchivedElsewhere()) && { keepsInstances: true }),
        eventsPublishedBefore: now - eventRetentionMs,
        activitiesDoneBefore: now - ACTIVITY_MEMORY_MS,
        limit: PURGE_BATCH,
      });
      metrics.instancesRemoved('retention', removed.instances);
      const total = removed.instances + removed.events + removed.activities;
      if (total > 0) logger.debug({ ...removed }, 'removed expired records');
      const mayHaveMore =
        !isComplete || Object.values(removed).some((count) => count >= PURGE_BATCH);
      if (!mayHaveMore || this.#stopping) break;
    }
    while (!this.#stopping && (await store.purgeResources(now, PURGE_BATCH)) >= PURGE_BATCH);
    if (archive !== null) await this.#removeArchived(archive, now);
  }

  #limitsAt(now: number): ExpiryLimits {
    const { instanceRetentionMs } = this.#options;
    return {
      instancesEndedBefore: now - instanceRetentionMs,
      untoldEndedBefore: now - instanceRetentionMs - UNTOLD_MS,
      ownRetentionBefore: now,
      untoldOwnRetentionBefore: now - UNTOLD_MS,
    };
  }

  /** Only one node does this, so that each instance is usually archived once. */
  async #removeArchived(archive: RunArchive, now: number): Promise<void> {
    const { isChosen, store } = this.#options;
    const limits = this.#limitsAt(now);
    while (isChosen() && !this.#stopping) {
      const skipped = archive.skipped;
      const found = await store.findExpiredInstances(limits, ARCHIVE_BATCH + skipped.size);
      const expired = found.filter(({ id }) => !skipped.has(id));
      if (expired.length === 0) return;
      // Already archived, or purged by a user.
      const begun = expired.filter(isBeingRemoved);
      if (begun.length > 0) {
        if ((await this.#remove(begun)) === 0) return;
        continue;
      }
      const archived = await archive.append(expired.slice(0, ARCHIVE_BATCH));
      if (archived.length === 0) return;
      await this.#remove(archived);
    }
  }

  async #remove(instances: readonly EndedInstance[]): Promise<number> {
    const { metrics, store } = this.#options;
    let removed = 0;
    let removal: Removal = { removed: 0, isComplete: false };
    while (!removal.isComplete) {
      removal = await store.removeInstances(instances);
      removed += removal.removed;
      metrics.instancesRemoved('retention', removal.removed);
    }
    return removed;
  }
}
