/**
 * Marks events as delivered, in batches shortly after their delivery, so that no caller waits for it.
 *
 * An event that a node has not marked before it stops counts as undelivered. Housekeeping delivers it again, and each instance
 * takes it once.
 */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { EventDelivery, FoundEvent } from '../../store/records/events.js';
import type { Store } from '../../store/store.js';

/** Short enough that clients rarely see an unmarked event, long enough to batch the events of a busy node. */
const FLUSH_AFTER_MS = 20;
const MARKS_MAX = 500;
/** Further ones are left to housekeeping. */
const PENDING_MAX = 10_000;

export interface EventDeliveriesOptions {
  readonly store: Pick<Store, 'markEventsDelivered'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called if an instance subscribed at the moment of the insert and must also receive the event. */
  readonly deliverAgain: (event: FoundEvent, reached: readonly string[]) => Promise<unknown>;
}

interface Pending {
  /** Without its data, so that many of them need little memory. */
  readonly event: FoundEvent;
  readonly delivery: EventDelivery;
}

export class EventDeliveries {
  readonly #options: EventDeliveriesOptions;
  readonly #pending = new Map<string, Pending>();
  /** Marked during a read of events that may have missed the mark. */
  readonly #marked = new Map<string, EventDelivery>();
  #readers = 0;
  #cancelTimer: (() => void) | null = null;
  #flushing: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: EventDeliveriesOptions) {
    this.#options = options;
  }

  /** The delivery of this event that is yet to be stored, or was stored during a read in progress. */
  find(eventId: string): EventDelivery | undefined {
    return this.#pending.get(eventId)?.delivery ?? this.#marked.get(eventId);
  }

  /** During `read`, `find` also returns marks that are stored in the meantime, so that no mark is missed. */
  async whileReading<Result>(read: () => Promise<Result>): Promise<Result> {
    this.#readers += 1;
    try {
      return await read();
    } finally {
      this.#readers -= 1;
      if (this.#readers === 0) this.#marked.clear();
    }
  }

  add(event: FoundEvent, delivery: EventDelivery): void {
    if (this.#pending.size >= PENDING_MAX) return;
    this.#pending.set(event.id, { event: { ...event, data: null }, delivery });
    this.#flushSoon();
  }

  /** Marks everything pending. Later deliveries are marked immediately. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    await this.#flushing;
    while (this.#pending.size > 0) await this.#flush();
  }

  #flushSoon(): void {
    if (this.#flushing !== null || this.#pending.size === 0) return;
    if (this.#isStopped || this.#pending.size >= MARKS_MAX) {
      this.#cancelTimer?.();
      this.#cancelTimer = null;
      void this.#flush();
    } else if (this.#cancelTimer === null) {
      const { clock } = this.#options;
      this.#cancelTimer = clock.at(clock.now() + FLUSH_AFTER_MS, () => {
        this.#cancelTimer = null;
        void this.#flush();
      });
    }
  }

  /** Never rejects. */
  #flush(): Promise<void> {
    this.#flushing ??= this.#markBatch().finally(() => {
      this.#flushing = null;
      this.#flushSoon();
    });
    return this.#flushing;
  }

  async #markBatch(): Promise<void> {
    const { deliverAgain, logger, store } = this.#options;
    const batch = [...this.#pending.values()].slice(0, MARKS_MAX);
    try {
      const missing = await store.markEventsDelivered(batch.map(({ delivery }) => delivery));
      this.#keepMarked(batch);
      for (const id of missing) {
        const pending = this.#pending.get(id);
        if (pending !== undefined) await deliverAgain(pending.event, pending.delivery.takenBy);
      }
    } catch (error) {
      logger.warn(
        { err: error },
        'could not mark events as delivered; they will be delivered again',
      );
    }
    for (const each of batch) {
      if (this.#pending.get(each.event.id) === each) this.#pending.delete(each.event.id);
    }
  }

  /** If there are always readers, the oldest are dropped: no read takes as long as this many events. */
  #keepMarked(batch: readonly Pending[]): void {
    if (this.#readers === 0) return;
    for (const { delivery, event } of batch) this.#marked.set(event.id, delivery);
    for (const id of this.#marked.keys()) {
      if (this.#marked.size <= PENDING_MAX) return;
      this.#marked.delete(id);
    }
  }
}
