/**
 * The notifications that this node knows: all of them, read again when a node has changed one, and periodically.
 */
import type { InstanceChange } from '../../engine/model/instance-change.js';
import type { Instance } from '../../engine/model/instance.js';
import { fulfills } from '../../store/records/index-conditions.js';
import type { Store } from '../../store/store.js';
import { readNotification, type KnownNotification } from './notification-codec.js';

/** Maximum number of notifications: every commit that changes a status is compared with all of them. */
export const NOTIFICATIONS_MAX = 200;
/** Concurrent requests can exceed the maximum by a few. Accepted notifications must not be dropped. */
const READ_MAX = 2 * NOTIFICATIONS_MAX;

export class NotificationList {
  readonly #store: Pick<Store, 'listNotifications'>;
  #known: ReadonlyMap<string, KnownNotification> = new Map();

  constructor(store: Pick<Store, 'listNotifications'>) {
    this.#store = store;
  }

  get all(): readonly KnownNotification[] {
    return [...this.#known.values()];
  }

  get(name: string): KnownNotification | null {
    return this.#known.get(name) ?? null;
  }

  async refresh(): Promise<void> {
    const records = await this.#store.listNotifications(READ_MAX);
    const read = records.flatMap((record) => readNotification(record) ?? []);
    this.#known = new Map(read.map((known) => [known.name, known]));
  }

  /** The names of the notifications that announce this change. */
  namesFor(change: InstanceChange, instance: Instance): readonly string[] {
    const names: string[] = [];
    for (const known of this.#known.values()) {
      if (isToldOf(known, change, instance)) names.push(known.name);
    }
    return names;
  }
}

function isToldOf(
  { conditions, definitionId, on, paused }: KnownNotification,
  change: InstanceChange,
  instance: Instance,
): boolean {
  return (
    paused === null &&
    on.includes(change) &&
    (definitionId === null || definitionId === instance.definitionId) &&
    conditions.every((condition) => fulfills(instance, condition))
  );
}
