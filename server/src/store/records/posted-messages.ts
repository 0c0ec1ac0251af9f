/** The answers to messages, and claims of instances in the step that adds a message (S13). */
import type { LimitKey } from '../../engine/model/slots.js';
import type { ActivityRecord } from './activities.js';
import type { EventRecord } from './events.js';
import type { InstanceRecord } from './instances.js';
import type { InboxMessage } from './messages.js';

/** Who claims the instance of a message in the step that adds the message, if the instance rests. */
export interface MessageClaimer {
  /** The node that becomes the owner. */
  readonly owner: string;
  /** Only instances of these owners are claimed. */
  readonly from: readonly string[];
  /** Only instances with at most this `schemaVersion` are claimed. */
  readonly schemaVersionMax: number;
}

export interface PostedMessage {
  readonly instanceId: string;
  /** The values of the instance after the message was added, and after the claim. */
  readonly inSeq: number;
  readonly epoch: number;
  readonly owner: string | null;
  /**
   * Before the message was added, the instance had no other message, no work under way and no crashes: whoever added this one
   * may take the instance. Also false if the store doesn't know.
   */
  readonly rested: boolean;
  /**
   * The instance, if it rested and the same step has claimed it. Omitted for a long one, whose owner and epoch show the claim: no
   * answer takes much memory.
   */
  readonly claimed?: InstanceRecord;
  /**
   * The `nameKey` of the event that is the message, if no other stored event is for a wait of the claimed instance for it: each that
   * is stored later comes as a message. Omitted: unknown.
   */
  readonly onlyEventOf?: string;
  /** The inbox is full: it has the overflow message instead of this one (rule S8). */
  readonly overflowed?: true;
}

export type CompleteActivityResult =
  /** Accepted now; the message was posted (null: the instance no longer accepts messages). */
  | {
      readonly outcome: 'accepted';
      readonly activity: ActivityRecord;
      readonly message: InboxMessage;
      readonly posted: PostedMessage | null;
      /** Only for an item with `needs`: keys of its slots for which others wait. Call `grantSlots` for them. */
      readonly waits?: readonly LimitKey[];
    }
  /** The same token with the same result was accepted before. */
  | { readonly outcome: 'repeated' }
  /** The token held an item that was withdrawn, and was removed before its holder reported. */
  | { readonly outcome: 'canceled' }
  | { readonly outcome: 'stale' };

/** The result of storing an event. */
export type InsertEventResult =
  { readonly outcome: 'exists'; readonly event: EventRecord } | InsertedEvent;

export interface InsertedEvent {
  readonly outcome: 'inserted';
  /** The instances that received the message in the same step. */
  readonly posted: readonly PostedMessage[];
  readonly delivery: DeliveryOnInsert;
}

/**
 * What is left to do after the insert.
 *
 * - `complete`: nothing. No other instance had subscribed by then, and the event is marked as delivered.
 * - `unconfirmed`: the step posted to every subscription that it saw, but may have missed some that were stored at the same
 *   moment. `markEventsDelivered` finds these.
 * - `partial`: the caller must find the subscriptions, and deliver the event to the other instances.
 */
export type DeliveryOnInsert = 'complete' | 'unconfirmed' | 'partial';

/** A claimed instance with a longer state, in bytes of UTF-8, isn't part of the answer. */
export const CLAIMED_STATE_BYTES_MAX = 32 * 1024;

/** The maximum number of instances that one event claims: an event for many doesn't bring all of them to one node. */
export const CLAIMED_BY_EVENT_MAX = 8;

/** Whether the step that adds a message claims the instance, which is given as it was before. */
export function isClaimedBy(
  claimer: MessageClaimer | undefined,
  rested: boolean,
  { owner, schemaVersion }: Pick<InstanceRecord, 'owner' | 'schemaVersion'>,
): claimer is MessageClaimer {
  if (claimer === undefined || !rested || owner === null) return false;
  return claimer.from.includes(owner) && schemaVersion <= claimer.schemaVersionMax;
}

/** What the answer has of an instance that the step has claimed. */
export function answerOfClaim(
  claimed: InstanceRecord,
): Pick<PostedMessage, 'epoch' | 'owner' | 'claimed'> {
  const { epoch, owner, state } = claimed;
  const isLong = Buffer.byteLength(state) > CLAIMED_STATE_BYTES_MAX;
  return { epoch, owner, ...(!isLong && { claimed }) };
}
