/** Work items for outside workers. Rules S1–S13: ../store.ts. */
import type {
  ActivityClaim,
  ActivityRecord,
  ActivityListItem,
  ActivityPosition,
  ActivityQueue,
  ActivityResult,
  ClaimedActivity,
  HeldClaim,
  ReleasedActivity,
  UnsettledActivity,
} from '../records/activities.js';
import type { AuditEntry } from '../records/control.js';
import type { InboxMessage } from '../records/messages.js';
import type { CompleteActivityResult, MessageClaimer } from '../records/posted-messages.js';

export interface ActivityStore {
  /**
   * Hands out the item of that name with the lowest number as its priority, and of those the one that has been available longest
   * (`availableAt <= now`, neither done nor withdrawn), once: sets its claim and increments its attempt. If items of the name have
   * fairness keys, the key whose turn it is comes before the age (rule S17). Items of an instance that is not Runnable are skipped
   * and deferred: their `availableAt` moves `deferMs` ahead (a resume makes them available immediately). Returns null if there is no
   * item to hand out.
   *
   * An item with `needs` takes its slots with the claim (rule S15). If it can't have all of them, it is passed over and waits
   * (`limited`): no claim finds it until `grantSlots` offers it again.
   *
   * With `lengthMax`, an item with longer parameters is not claimed and not loaded; its length is returned. MongoDB does not know
   * the length of items that earlier versions of the server have stored, and hands them out.
   */
  claimActivity(request: {
    readonly name: string;
    readonly now: number;
    readonly claim: ActivityClaim;
    readonly deferMs: number;
    readonly lengthMax?: number;
  }): Promise<ClaimedActivity>;
  /** Those of these items that exist, in any order. */
  getActivities(ids: readonly string[]): Promise<readonly ActivityRecord[]>;
  /** Which of these names have an item with `availableAt <= now` that is neither done nor withdrawn. */
  findAvailableActivities(names: readonly string[], now: number): Promise<readonly string[]>;
  /**
   * Accepts a result for the token, once, and posts the message to its instance. If the message does not fit, the item
   * remains unsettled, and the message must be sent again.
   * A token is stale if the item does not exist, is held by another token, or was handed out again after the lease ended.
   * An expired lease is still valid until another worker takes the item. A withdrawn item is completed like any other; if it
   * was removed before, the outcome is `canceled`.
   */
  completeActivity(request: {
    readonly activityId: string;
    readonly tokenHash: string;
    readonly result: ActivityResult;
    readonly now: number;
    readonly message: InboxMessage;
    /** Recorded together with the message. */
    readonly audit?: AuditEntry;
    /** Claims the instance together with the message, if it rests (S13). */
    readonly claimer?: MessageClaimer;
  }): Promise<CompleteActivityResult>;
  /**
   * Gives an item that is not done to the holder of this claim, without slots. Any previous token is stale from then on. Returns
   * null if there is no such item, or it is done.
   */
  takeOverActivity(activityId: string, claim: ActivityClaim): Promise<ActivityRecord | null>;
  /**
   * Extends the lease of the item held by the token, also one that has ended if nobody else has got the item. Returns null if the
   * token is stale. With `needs`, it is stale once the lease has ended: the slots are free then. Once others have got slots of the
   * same key for this reason, it stays stale, whatever `now` is.
   */
  extendActivity(
    activityId: string,
    tokenHash: string,
    leaseExpiresAt: number,
    now: number,
  ): Promise<{ readonly name: string; readonly withdrawn: boolean } | null>;
  /**
   * Makes these claims permanent. Changes nothing for an item that is done, or that another claim has got since, nor for one with
   * `needs` whose lease has ended, as in `extendActivity`.
   */
  keepClaims(claims: readonly HeldClaim[], now: number): Promise<void>;
  /**
   * Returns the item to its old place in the queue. The result is null if the token is stale or the item is withdrawn; then
   * nothing changed.
   *
   * @param countsAttempt false: no worker got the item, so the claim does not count as an attempt
   */
  releaseActivity(
    activityId: string,
    tokenHash: string,
    countsAttempt?: boolean,
  ): Promise<ReleasedActivity | null>;
  /**
   * Withdraws those of these items that exist and are not done: no claim returns them from then on. Deferred ones are no
   * longer deferred. Returns all that exist, in any order, as they are afterwards: a claim that came before shows in its
   * item. There is no way back, so the instance must have decided with a commit that it needs no new holder.
   */
  withdrawActivities(ids: readonly string[]): Promise<readonly ActivityRecord[]>;
  /**
   * Items done before the given time whose result no commit has applied yet: their message may be missing. Items of an
   * instance that has ended count as settled. In the order of (`doneAt`, `id`), after that position; on MongoDB, a page may
   * have fewer items than `limit` although more follow.
   */
  findUnsettledActivities(
    doneBefore: number,
    limit: number,
    after?: ActivityPosition,
  ): Promise<readonly UnsettledActivity[]>;

  /**
   * Names with items that are not done, those with the most waiting items first. Counting requires a read of all of them.
   * A withdrawn item counts only while it is held, until its lease ends.
   */
  listActivityQueues(now: number, limit: number): Promise<readonly ActivityQueue[]>;
  /**
   * Items of a name that are not done, in the order of the queue (`availableAt`, `id`): available items first, from the
   * oldest; then deferred ones; then held ones by the end of their leases. A withdrawn item is among them only while it is
   * held.
   */
  listActivityItems(
    name: string,
    now: number,
    after: { readonly availableAt: number; readonly id: string } | null,
    limit: number,
  ): Promise<readonly ActivityListItem[]>;
}
