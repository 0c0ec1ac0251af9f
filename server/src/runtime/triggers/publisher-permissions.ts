/**
 * The definitions allowed to an event publisher: only their triggers start runs.
 *
 * Another node may repeat a delivery after a crash, so the permissions of a narrowed publisher are stored before the event. The ids of
 * such events begin with `n-`: if the record is missing, no definition is allowed instead of all.
 */
import type { AllowedNames } from '../../base/allowed-names.js';
import type { EventRecord, FoundEvent } from '../../store/records/events.js';
import type { Store } from '../../store/store.js';
import type { TraceHeaders } from '../../tracing/trace-context.js';

const NARROWED = 'n-';

export interface PublisherPermissionsOptions {
  readonly store: Pick<Store, 'getResource' | 'saveResource'>;
  readonly settings: { readonly eventRetentionMs: number };
}

/** An event with its publishing span and the definitions allowed to its publisher, which only the publishing node knows. */
export interface TracedEvent extends FoundEvent, TraceHeaders {
  readonly allowed?: AllowedNames;
}

/** @param id unique among events of unrestricted publishers */
export function eventIdFor(id: string, allowed: AllowedNames): string {
  return allowed === 'all' ? id : `${NARROWED}${id}`;
}

export class PublisherPermissions {
  readonly #options: PublisherPermissionsOptions;

  constructor(options: PublisherPermissionsOptions) {
    this.#options = options;
  }

  /** Must be awaited before the event is stored. */
  async note({ id, publishedAt }: EventRecord, allowed: AllowedNames): Promise<void> {
    if (allowed === 'all') return;
    const { settings, store } = this.#options;
    const latest = publishedAt + settings.eventRetentionMs;
    const expiresAt = Number.isSafeInteger(latest) ? latest : null;
    const body = JSON.stringify(allowed);
    // It already exists if the publisher repeats its call.
    await store.saveResource({ kind: 'event-reach', name: id, revision: 1, expiresAt, body }, null);
  }

  async of({ id, allowed }: TracedEvent): Promise<AllowedNames> {
    if (allowed !== undefined) return allowed;
    if (!id.startsWith(NARROWED)) return 'all';
    const noted = await this.#options.store.getResource('event-reach', id);
    // Written by `note`.
    return noted === null ? [] : (JSON.parse(noted.body) as readonly string[]);
  }
}
