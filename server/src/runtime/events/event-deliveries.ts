/**
 * Marks events as delivered, several at once and a little after their delivery: no caller waits for that.
 *
 * An event that a node did not mark before it stopped counts as undelivered. Housekeeping delivers it again, and each
 * instance takes it once.
 */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { EventDelivery, FoundEvent } from '../../store/records/events.js';
import type { Store } from '../../store/store.js';

/** Short enough that a client hardly sees an event without its mark, long enough to mark the events of a busy node together. */
const FLUSH_AFTER_MS = 20;
const MARKS_MAX = 500;
/** More are left to housekeeping. */
const PENDING_MAX = 10_000;

export interface EventDeliveriesOptions {
  readonly store: Pick<Store, 'markEventsDelivered'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called if an instance subscribed at the moment of the insert and must receive the event, too. */
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
  /** Marked while somebody read events, who may not have seen the mark. */
  readonly #marked = new Map<string, EventDelivery>();
  #readers = 0;
  #cancelTimer: (() => void) | null = null;
  #flushing: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: EventDeliveriesOptions) {
    this.#options = options;
  }

  /** The delivery of this event that is still to be stored, or was stored during a read that has not ended. */
  find(eventId: string): EventDelivery | undefined {
    return this.#pending.get(eventId)?.delivery ?? this.#marked.get(eventId);
  }

  /** While events are read, `find` also knows what is stored in the meantime: nothing falls between the two. */
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

  /** Marks everything that is pending. What comes later is marked immediately. */
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
      logger.warn({ err: error }, 'could not mark events as delivered; they are delivered again');
    }
    for (const each of batch) {
      if (this.#pending.get(each.event.id) === each) this.#pending.delete(each.event.id);
    }
  }

  /** With readers at all times, the oldest are dropped: a read takes less time than so many events. */
  #keepMarked(batch: readonly Pending[]): void {
    if (this.#readers === 0) return;
    for (const { delivery, event } of batch) this.#marked.set(event.id, delivery);
    for (const id of this.#marked.keys()) {
      if (this.#marked.size <= PENDING_MAX) return;
      this.#marked.delete(id);
    }
  }
}
