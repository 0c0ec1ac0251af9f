/**
 * The definitions within an event publisher's reach: only their triggers start runs.
 *
 * Another node may repeat a delivery after a crash, so the reach of a narrowed publisher is stored before the event. The ids of
 * such events begin with `n-`: if the record is missing, the publisher reaches nothing instead of everything.
 */
import type { NameReach } from '../../base/name-reach.js';
import type { EventRecord } from '../../store/records/events.js';
import type { Store } from '../../store/store.js';
import type { TracedEvent } from './event-types.js';

const NARROWED = 'n-';

export interface PublisherReachesOptions {
  readonly store: Pick<Store, 'getResource' | 'saveResource'>;
  readonly settings: { readonly eventRetentionMs: number };
}

/** @param id unique among events of unrestricted publishers */
export function eventIdFor(id: string, reach: NameReach): string {
  return reach === 'all' ? id : `${NARROWED}${id}`;
}

export class PublisherReaches {
  readonly #options: PublisherReachesOptions;

  constructor(options: PublisherReachesOptions) {
    this.#options = options;
  }

  /** Must be awaited before the event is stored. */
  async note({ id, publishedAt }: EventRecord, reach: NameReach): Promise<void> {
    if (reach === 'all') return;
    const { settings, store } = this.#options;
    const latest = publishedAt + settings.eventRetentionMs;
    const expiresAt = Number.isSafeInteger(latest) ? latest : null;
    const body = JSON.stringify(reach);
    // It already exists if the publisher repeats its call.
    await store.saveResource({ kind: 'event-reach', name: id, revision: 1, expiresAt, body }, null);
  }

  async of({ id, reach }: TracedEvent): Promise<NameReach> {
    if (reach !== undefined) return reach;
    if (!id.startsWith(NARROWED)) return 'all';
    const noted = await this.#options.store.getResource('event-reach', id);
    // Written by `note`.
    return noted === null ? [] : (JSON.parse(noted.body) as readonly string[]);
  }
}
