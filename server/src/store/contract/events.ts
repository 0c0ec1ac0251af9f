/** Published events, and the subscriptions of instances that wait for them. Rules S1–S13: ../store.ts. */
import type {
  EventRecord,
  FoundEvent,
  EventListItem,
  EventDelivery,
  EventPage,
  SubscriptionRecord,
} from '../records/events.js';
import type { InboxMessage } from '../records/messages.js';
import type { InsertEventResult, MessageClaimer } from '../records/posted-messages.js';

export interface EventStore {
  /**
   * Inserts the event, or returns the existing one with this id. A store that can do so also posts `message` to the
   * instances that have subscribed to the event, in the same step. The result says what is left for the caller to do.
   *
   * With a `claimer`, it also claims up to `CLAIMED_BY_EVENT_MAX` of these instances, those that rest (S13).
   */
  insertEvent(
    event: EventRecord,
    message?: InboxMessage,
    claimer?: MessageClaimer,
  ): Promise<InsertEventResult>;
  getEvent(id: string): Promise<EventRecord | null>;
  /** Events of the name and key at or after (`publishedAt`, `id`), in that order. */
  findEvents(
    nameKey: string,
    from: { readonly publishedAt: number; readonly id: string },
    limit: number,
  ): Promise<readonly FoundEvent[]>;
  /** Subscriptions of the name and key with `effectiveAt <= publishedAt`, ordered by id, after `afterId`. */
  findSubscriptions(
    nameKey: string,
    publishedAt: number,
    afterId: string | null,
    limit: number,
  ): Promise<readonly SubscriptionRecord[]>;
  /** What waits for the name and key, whenever it began to: ordered by id, after `afterId`. For display. */
  listSubscriptions(
    nameKey: string,
    afterId: string | null,
    limit: number,
  ): Promise<readonly SubscriptionRecord[]>;
  listEvents(page: EventPage): Promise<readonly EventListItem[]>;
  /** Never lowers a stored count. Returns the events of unconfirmed deliveries that missed a subscription: not marked. */
  markEventsDelivered(deliveries: readonly EventDelivery[]): Promise<readonly string[]>;
  /** Events not marked as delivered, published before the given time, oldest first. */
  findUndeliveredEvents(publishedBefore: number, limit: number): Promise<readonly FoundEvent[]>;
}
