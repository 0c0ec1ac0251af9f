/** Events and subscriptions, as they are stored. */

export interface EventRecord {
  readonly id: string;
  readonly nameKey: string;
  readonly name: string;
  readonly key: string;
  /** JSON text. */
  readonly data: string;
  readonly publishedAt: number;
  /**
   * The number of subscriptions to which the event was delivered; null until all subscriptions of that time have
   * received it.
   */
  readonly deliveredTo: number | null;
  readonly requestHash: string | null;
}

/** To which instances an event was delivered. */
export interface EventDelivery {
  /** Of the event. */
  readonly id: string;
  readonly deliveredTo: number;
  /** The first of the instances, at most `EVENT_TAKERS_MAX`; all of them if the delivery is not confirmed. */
  readonly takenBy: readonly string[];
  /** True if the subscriptions were searched after the event was stored. */
  readonly isConfirmed: boolean;
}

/** Maximum number of recipients of an event that are recorded by id. */
export const EVENT_TAKERS_MAX = 20;

/** An event that a step may be waiting for. Long data is null here; `getEvent` returns it. */
export interface FoundEvent extends Omit<EventRecord, 'data'> {
  readonly data: string | null;
}

/** Event data of more characters than this counts as long: it is read separately, so that no page fills the memory. */
export const LONG_EVENT_LENGTH = 8192;

export interface EventListItem extends Omit<EventRecord, 'nameKey' | 'data' | 'requestHash'> {
  /** Null if the data is too long for a list. */
  readonly data: string | null;
  /** The first instances to which the event was delivered. */
  readonly takenBy: readonly string[];
}

/** Newest first, either of one name and key or of all. */
export interface EventPage {
  readonly nameKey: string | null;
  readonly before: { readonly publishedAt: number; readonly id: string } | null;
  readonly limit: number;
}

/** Lists leave out event data of more characters than this. */
export const LISTED_DATA_LENGTH_MAX = 4096;

export interface SubscriptionRecord {
  /** `<instanceId>/<pointerId>/<attempt>` */
  readonly id: string;
  readonly instanceId: string;
  /** Hash of event name and key. */
  readonly nameKey: string;
  /** Only events published at or after this time match. */
  readonly effectiveAt: number;
}
