/**
 * Withdraws the work items of stopped steps once the stop is durable: a lost commit must not leave an item that no worker can
 * get.
 */
import {
  applyWithdrawn,
  stepsToAskAbout,
  type WithdrawnItem,
} from '../../engine/flow/withdrawn-items.js';
import type { Session } from '../../engine/session/session.js';
import { executionKey, type Pointer } from '../../engine/model/pointer.js';
import type { Clock } from '../../base/clock.js';
import type { ActivityRecord } from '../../store/records/activities.js';
import { FAR_FUTURE_MS, type Store } from '../../store/store.js';
import type { StoreRetry } from './store-retry.js';

/** Maximum number of items that one operation withdraws. */
const ITEMS_MAX = 500;

export class ItemWithdrawal {
  readonly #store: Pick<Store, 'withdrawActivities'>;
  readonly #clock: Clock;
  readonly #retry: StoreRetry;

  constructor(store: Pick<Store, 'withdrawActivities'>, clock: Clock, retry: StoreRetry) {
    this.#store = store;
    this.#clock = clock;
    this.#retry = retry;
  }

  /** See `ActorEnvironment.withdrawItems`. */
  async withdraw(session: Session): Promise<boolean> {
    const pointers = stepsToAskAbout(session);
    for (let from = 0; from < pointers.length; from += ITEMS_MAX) {
      await this.#withdraw(session, pointers.slice(from, from + ITEMS_MAX));
    }
    return pointers.length > 0;
  }

  async #withdraw(session: Session, pointers: readonly Pointer[]): Promise<void> {
    const ids = pointers.map((pointer) => executionKey(session.instance.id, pointer));
    const found = await this.#retry.untilAnswered(() => this.#store.withdrawActivities(ids));
    const items = new Map(found.map((item) => [item.id, item]));
    session.now = this.#clock.now();
    for (const [at, pointer] of pointers.entries()) {
      // An earlier answer may have ended others.
      if (session.instance.pointers.get(pointer.id) !== pointer) continue;
      applyWithdrawn(session, pointer, withdrawnItem(items.get(ids[at] ?? ''), session.now));
    }
  }
}

/**
 * The state of a step's item after the withdrawal. A missing one was removed with a tombstone or by hand: a worker may have
 * held it.
 */
export function withdrawnItem(item: ActivityRecord | undefined, now: number): WithdrawnItem {
  if (item === undefined) return { kind: 'left' };
  // The message with its result is on its way.
  if (item.done) return { kind: 'held', leaseUntil: null };
  if (item.attempt === 0) return { kind: 'not-begun' };
  if (item.tokenHash === null || item.availableAt <= now) return { kind: 'left' };
  return { kind: 'held', leaseUntil: item.availableAt >= FAR_FUTURE_MS ? null : item.availableAt };
}
