/**
 * The deliveries of one notification on this node: claims the due ones, and tries a few concurrently.
 *
 * Each notification has its own queue, so a slow target delays no others. A target that doesn't respond gets one attempt at a
 * time, and costs the memory of one message.
 */
import type { Clock } from '../../base/clock.js';
import type { DeliveryRecord } from '../../store/records/notifications.js';
import type { Store } from '../../store/store.js';
import { DELIVERY_LEASE_MS, type Attempted } from './delivery-attempts.js';

/** Concurrent attempts, to a responding target and to a failing one. */
const WIDTH = { healthy: 32, failing: 1 };
/** How often a queue without known work checks for deliveries that other nodes have left. */
const RECHECK_MS = 5000;

export interface DeliveryQueueOptions {
  readonly name: string;
  readonly store: Pick<Store, 'claimDeliveries'>;
  readonly clock: Clock;
  /** Null: the notification must not be delivered now. */
  readonly attempt: (delivery: DeliveryRecord) => Promise<Attempted | null>;
  readonly isOpen: () => boolean;
  readonly failed: (error: unknown) => void;
}

export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions;
  readonly #running = new Set<Promise<void>>();
  #looking: Promise<void> | null = null;
  #isFailing = false;
  #lookAt = 0;

  constructor(options: DeliveryQueueOptions) {
    this.#options = options;
  }

  /** Called when a delivery is due. */
  wake(): void {
    this.#lookAt = 0;
    this.check();
  }

  /** Looks for work, if it is time. */
  check(): void {
    if (this.#limit <= 0) return;
    this.#looking ??= this.#claim().finally(() => {
      this.#looking = null;
    });
  }

  /** Number of attempts that may begin now. */
  get #limit(): number {
    return (this.#isFailing ? WIDTH.failing : WIDTH.healthy) - this.#running.size;
  }

  async ended(): Promise<void> {
    await this.#looking;
    await Promise.allSettled(this.#running);
  }

  async #claim(): Promise<void> {
    const { clock, failed, isOpen, name, store } = this.#options;
    for (;;) {
      const now = clock.now();
      const limit = this.#limit;
      if (limit <= 0 || now < this.#lookAt || !isOpen()) return;
      // A wake during the claim sets it to 0 again.
      this.#lookAt = now + RECHECK_MS;
      try {
        const until = now + DELIVERY_LEASE_MS;
        const claimed = await store.claimDeliveries({ notification: name, now, until, limit });
        for (const delivery of claimed) this.#start(delivery);
        if (claimed.length === limit) this.#lookAt = 0;
      } catch (error) {
        failed(error);
        return;
      }
    }
  }

  #start(delivery: DeliveryRecord): void {
    const { attempt, failed } = this.#options;
    const running = attempt(delivery)
      .then((attempted) => {
        if (attempted === null) return;
        this.#isFailing = !attempted.succeeded;
        if (attempted.retryAt !== null) this.#lookAt = Math.min(this.#lookAt, attempted.retryAt);
      })
      .catch(failed)
      .finally(() => {
        this.#running.delete(running);
        this.check();
      });
    this.#running.add(running);
  }
}
