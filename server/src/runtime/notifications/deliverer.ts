/**
 * Sends due deliveries, on every node: the first node to claim a delivery tries it. Deliveries claimed by a dead node are due
 * again when their lease expires.
 */
import { PeriodicTask } from '../../base/periodic-task.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Service } from '../../base/service.js';
import type { DeliveryRecord } from '../../store/records/notifications.js';
import type { Store } from '../../store/store.js';
import type { Attempted, DeliveryAttempts } from './delivery-attempts.js';
import { DeliveryQueue } from './delivery-queue.js';
import type { NotificationList } from './notification-list.js';

export interface DelivererOptions {
  readonly store: Pick<Store, 'claimDeliveries' | 'purgeDeliveries'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly notifications: NotificationList;
  readonly attempts: Pick<DeliveryAttempts, 'make'>;
  /** True while other nodes share the store. */
  readonly isShared: () => boolean;
  /** True if this node isn't notified of changes that other nodes make. */
  readonly mayBeStale: () => boolean;
}

const LOOK_MS = 1000;
/** A node that is notified of changes. Notices may be lost. */
const REFRESH_MS_NOTIFIED = 5000;
/** A single node, which makes all changes itself. */
const REFRESH_MS_ALONE = 30_000;
const PURGE_MS = 60_000;
const PURGED_AT_ONCE = 500;
/** How long a delivery is kept after its end. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

export class Deliverer implements Service {
  readonly #options: DelivererOptions;
  readonly #lanes = new Map<string, DeliveryQueue>();
  readonly #stopping = new AbortController();
  readonly #look: PeriodicTask;
  readonly #purge: PeriodicTask;
  #refreshedAt = 0;
  /** True if a change on another node has not been read yet. */
  #isOutdated = false;

  constructor(options: DelivererOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#look = new PeriodicTask({
      name: 'deliver notifications',
      clock,
      logger,
      intervalMs: LOOK_MS,
      run: () => this.#lookOnce(),
    });
    this.#purge = new PeriodicTask({
      name: 'remove old deliveries',
      clock,
      logger,
      intervalMs: PURGE_MS,
      run: () => this.purge(),
    });
  }

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Reads the notifications. Afterwards, every commit is compared with them. */
  async start(): Promise<void> {
    await this.#refresh();
    this.#look.startInBackground();
    this.#purge.startInBackground();
  }

  /** Attempts in progress are released: another node tries them immediately. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#look.stop();
    await this.#purge.stop();
    await Promise.all([...this.#lanes.values()].map((lane) => lane.ended()));
  }

  /** Called when deliveries of this notification are due. */
  wake(name: string): void {
    if (!this.#stopping.signal.aborted) this.#laneOf(name).wake();
  }

  /** Reads the notifications again: another node has changed some. */
  refreshSoon(): void {
    this.#isOutdated = true;
    void this.#look.runOnce();
  }

  async purge(): Promise<void> {
    const { clock, store } = this.#options;
    const endedBefore = clock.now() - KEPT_MS;
    while (!this.#stopping.signal.aborted) {
      if ((await store.purgeDeliveries(endedBefore, PURGED_AT_ONCE)) < PURGED_AT_ONCE) return;
    }
  }

  async #lookOnce(): Promise<void> {
    const { clock, notifications } = this.#options;
    const isDue = clock.now() - this.#refreshedAt >= this.#refreshMs;
    if (isDue || this.#isOutdated) await this.#refresh();
    for (const { name, paused } of notifications.all) {
      if (paused === null) this.#laneOf(name).check();
    }
    for (const name of this.#lanes.keys()) {
      if (notifications.get(name) === null) this.#lanes.delete(name);
    }
  }

  async #refresh(): Promise<void> {
    const { clock, notifications } = this.#options;
    this.#refreshedAt = clock.now();
    this.#isOutdated = false;
    try {
      await notifications.refresh();
    } catch (error) {
      this.#isOutdated = true;
      throw error;
    }
  }

  get #refreshMs(): number {
    const { isShared, mayBeStale } = this.#options;
    if (mayBeStale()) return LOOK_MS;
    return isShared() ? REFRESH_MS_NOTIFIED : REFRESH_MS_ALONE;
  }

  #laneOf(name: string): DeliveryQueue {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const { clock, logger, notifications, store } = this.#options;
    const lane = new DeliveryQueue({
      name,
      store,
      clock,
      attempt: (delivery) => this.#attempt(delivery),
      isOpen: () => notifications.get(name)?.paused === null && !this.#stopping.signal.aborted,
      failed: (err: unknown) =>
        logger.warn({ err, notification: name }, 'could not deliver notifications'),
    });
    this.#lanes.set(name, lane);
    return lane;
  }

  async #attempt(delivery: DeliveryRecord): Promise<Attempted | null> {
    const { attempts, notifications } = this.#options;
    const notification = notifications.get(delivery.notification);
    if (notification === null) return null;
    return attempts.make(notification, delivery, this.#stopping.signal);
  }
}
