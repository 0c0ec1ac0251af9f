/** Activities as they are stored: what is offered, who holds it, and what became of it. */
import type { InboxMessage, PostedMessage } from './messages.js';

export interface NewActivityRecord {
  /** `<instanceId>/<pointerId>/<attempt>` */
  readonly id: string;
  readonly instanceId: string;
  readonly name: string;
  /** JSON text. */
  readonly parameters: string;
  /** When it was offered; also its place in the queue. */
  readonly createdAt: number;
  /** Set when the item is handed to a parked poller as it is created: it is born claimed. */
  readonly claim?: ActivityClaim;
}

export interface ActivityClaim {
  readonly tokenHash: string;
  readonly workerId: string;
  /** When the item goes back to the queue; FAR_FUTURE_MS: never. */
  readonly leaseExpiresAt: number;
}

export interface ActivityRecord {
  readonly id: string;
  readonly instanceId: string;
  readonly name: string;
  readonly parameters: string;
  readonly createdAt: number;
  /** The item can be handed out from this time on; while it is held, the end of its lease. */
  readonly availableAt: number;
  readonly attempt: number;
  readonly tokenHash: string | null;
  readonly workerId: string | null;
  readonly done: boolean;
}

/** An item that is not done, in a list: without what only its worker may know. */
export interface ActivityListItem extends Pick<
  ActivityRecord,
  'id' | 'instanceId' | 'createdAt' | 'availableAt' | 'attempt' | 'workerId'
> {
  /** A worker has it, or had it until its lease ended at `availableAt`. */
  readonly claimed: boolean;
  /** Passed over, because its instance was not Runnable. */
  readonly deferred: boolean;
}

/** Items of one name that are not done. */
export interface ActivityQueue {
  readonly name: string;
  /** Nobody holds them: never handed out, given back, or with a lease that has ended. */
  readonly waiting: number;
  readonly held: number;
  /** When the oldest item was offered that nobody holds. */
  readonly oldestCreatedAt: number | null;
}

/** What a worker reports. `data` is JSON text. */
export interface ActivityResult {
  readonly succeeded: boolean;
  readonly data: string;
  /** Hash of outcome and data: the same call again is recognised by it. */
  readonly hash: string;
}

export type CompleteActivityResult =
  /** Accepted now; the message went into the instance's inbox (null: the instance no longer takes messages). */
  | {
      readonly outcome: 'accepted';
      readonly activity: ActivityRecord;
      readonly message: InboxMessage;
      readonly posted: PostedMessage | null;
    }
  /** The same token with the same result was accepted before. */
  | { readonly outcome: 'repeated' }
  | { readonly outcome: 'stale' };
