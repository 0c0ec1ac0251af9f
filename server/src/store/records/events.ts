/** Events as they are stored, and who waits for them. */

export interface EventRecord {
  readonly id: string;
  readonly nameKey: string;
  readonly name: string;
  readonly key: string;
  /** JSON text. */
  readonly data: string;
  readonly publishedAt: number;
  /** Null until the event has been posted to every subscription of that moment; then to how many. */
  readonly deliveredTo: number | null;
  readonly requestHash: string | null;
}

/** An event that somebody may wait for. Its data is null when it is long; `getEvent` has it. */
export interface FoundEvent extends Omit<EventRecord, 'data'> {
  readonly data: string | null;
}

/** Event data longer than about this (in characters) is long: it is read by itself, so that no page fills the memory. */
export const LONG_EVENT_LENGTH = 8192;

/** An event in a list. */
export interface EventListItem extends Omit<EventRecord, 'nameKey' | 'data' | 'requestHash'> {
  /** Null when it is too long for the list. */
  readonly data: string | null;
  /** The first instances that it was handed to. */
  readonly takenBy: readonly string[];
}

/** Newest first; of one name and key, or all. */
export interface EventPage {
  readonly nameKey: string | null;
  readonly before: { readonly publishedAt: number; readonly id: string } | null;
  readonly limit: number;
}

/** Data longer than this (in characters) is left out of lists. */
export const LISTED_DATA_LENGTH_MAX = 4096;

export interface SubscriptionRecord {
  /** `<instanceId>/<pointerId>/<attempt>` */
  readonly id: string;
  readonly instanceId: string;
  /** Hash of event name and key. */
  readonly nameKey: string;
  /** Only events published at or after this time are wanted. */
  readonly effectiveAt: number;
}
