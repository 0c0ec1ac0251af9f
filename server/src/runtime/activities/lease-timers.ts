/**
 * Offers work items again when their leases end, so that waiting polls get them.
 *
 *  AC6 Each lease that this node grants or extends has a timer at its newest end. On several nodes, another node may have
 *      extended the lease in the meantime: then the search for work finds nothing, and that node's timer follows.
 */
import type { Clock } from '../../base/clock.js';
import type { ActivityRecord } from '../../store/records/activities.js';
import type { LimitKey, NeededSlot } from '../../store/records/slots.js';

export interface LeaseTimersOptions {
  readonly clock: Clock;
  /** Work of this name is available again. */
  readonly offer: (name: string) => void;
  /** The slots of the item are free again. */
  readonly lookAtLimits: (keys: readonly LimitKey[]) => void;
}

interface Watched {
  readonly cancel: () => void;
  readonly needs: readonly NeededSlot[];
}

export class LeaseTimers {
  readonly #options: LeaseTimersOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: LeaseTimersOptions) {
    this.#options = options;
  }

  /**
   * @param item its needs may be omitted if the item is watched already
   * @param endsAt null: the item is held until its worker reports a result
   */
  watch(
    { id, name, needs = this.#watched.get(id)?.needs ?? [] }: WatchedItem,
    endsAt: number | null,
  ): void {
    this.forget(id);
    if (endsAt === null) return;
    const { clock, lookAtLimits, offer } = this.#options;
    const cancel = clock.at(endsAt, () => {
      this.#watched.delete(id);
      offer(name);
      lookAtLimits(needs);
    });
    this.#watched.set(id, { cancel, needs });
  }

  /** The item is done, or is in the queue again. */
  forget(activityId: string): void {
    this.#watched.get(activityId)?.cancel();
    this.#watched.delete(activityId);
  }

  stop(): void {
    for (const activityId of this.#watched.keys()) this.forget(activityId);
  }
}

type WatchedItem = Pick<ActivityRecord, 'id' | 'name' | 'needs'>;
