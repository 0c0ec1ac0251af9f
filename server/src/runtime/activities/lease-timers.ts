/**
 * Offers work items again when their leases end, so that waiting polls get them.
 *
 *  AC6 Each lease that this node grants or extends has a timer at its newest end. On several nodes, another node may have
 *      extended the lease in the meantime: then the search for work finds nothing, and that node's timer follows.
 */
import type { Clock } from '../../base/clock.js';

export interface LeaseTimersOptions {
  readonly clock: Clock;
  /** Work of this name is available again. */
  readonly offer: (name: string) => void;
}

export class LeaseTimers {
  readonly #options: LeaseTimersOptions;
  readonly #cancels = new Map<string, () => void>();

  constructor(options: LeaseTimersOptions) {
    this.#options = options;
  }

  /** @param endsAt null: the item is held until its worker reports a result */
  watch(activityId: string, name: string, endsAt: number | null): void {
    this.forget(activityId);
    if (endsAt === null) return;
    const { clock, offer } = this.#options;
    const cancel = clock.at(endsAt, () => {
      this.#cancels.delete(activityId);
      offer(name);
    });
    this.#cancels.set(activityId, cancel);
  }

  /** The item is done, or is in the queue again. */
  forget(activityId: string): void {
    this.#cancels.get(activityId)?.();
    this.#cancels.delete(activityId);
  }

  stop(): void {
    for (const activityId of this.#cancels.keys()) this.forget(activityId);
  }
}
