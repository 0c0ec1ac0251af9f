/** Activities as they are stored: the work offered, its holder and its result. */
import type { LimitKey, NeededSlot } from '../../engine/model/slots.js';
import type { Fairness, Priority } from '../../engine/model/start-options.js';

export interface NewActivityRecord {
  /** `<instanceId>/<pointerId>/<attempt>` */
  readonly id: string;
  readonly instanceId: string;
  readonly name: string;
  /** JSON text. */
  readonly parameters: string;
  /** That of its instance. */
  readonly priority: Priority;
  /** That of its instance. Omitted: none. */
  readonly fairness?: Fairness;
  /** When it was offered; also determines its place among items of its priority and fairness key. */
  readonly createdAt: number;
  /** The slots that its holder needs: see slots.ts. Omitted: none. */
  readonly needs?: readonly NeededSlot[];
  /** Set if the item is assigned to a waiting poll as it is created: never for one that needs slots. */
  readonly claim?: ActivityClaim;
}

export interface ActivityClaim {
  readonly tokenHash: string;
  readonly workerId: string;
  /** When the item returns to the queue; FAR_FUTURE_MS: never. */
  readonly leaseExpiresAt: number;
}

/** The claim of an item by the holder of a token. */
export interface HeldClaim {
  readonly activityId: string;
  readonly tokenHash: string;
}

export interface ActivityRecord {
  readonly id: string;
  readonly instanceId: string;
  readonly name: string;
  readonly parameters: string;
  readonly priority: Priority;
  readonly fairness?: Fairness;
  /** Omitted: it needs no slots. */
  readonly needs?: readonly NeededSlot[];
  readonly createdAt: number;
  /** The item can be handed out from this time on; while it is held, the end of its lease. */
  readonly availableAt: number;
  readonly attempt: number;
  readonly tokenHash: string | null;
  readonly workerId: string | null;
  readonly done: boolean;
  /**
   * Nobody gets the item any more: its holder keeps it, and may still report. With `done`: it was removed while somebody had
   * its token, and nobody waits for the result. Stores keep this as an item that is settled and has no result.
   */
  readonly withdrawn: boolean;
}

/** An item in a list that is not done: without the members that only its worker may know. */
export interface ActivityListItem extends Pick<
  ActivityRecord,
  'id' | 'instanceId' | 'priority' | 'createdAt' | 'availableAt' | 'attempt' | 'workerId'
> {
  /** Of its instance; null: none. */
  readonly fairnessKey: string | null;
  /** A worker has it, or had it until its lease ended at `availableAt`. */
  readonly claimed: boolean;
  /** Skipped, because its instance was not Runnable. */
  readonly deferred: boolean;
  /** It waits for a slot: nobody gets it until `grantSlots` offers it again. */
  readonly limited: boolean;
  /** Of its instance; null if the instance has been removed. */
  readonly definitionId: string | null;
  readonly reference: string | null;
}

/** An item that its worker has given back. */
export interface ReleasedActivity {
  readonly name: string;
  /** Keys of its slots for which others wait: call `grantSlots` for them. */
  readonly waits: readonly LimitKey[];
}

/** The item that is next has longer parameters than the claim may take: it was not claimed. */
export interface LongActivity {
  /** In bytes of UTF-8 or in characters, depending on the store. */
  readonly parametersLength: number;
}

/** Items were passed over, because they can't have their slots. */
export interface PassedOver {
  /** The keys for which they wait: call `grantSlots` for them. */
  readonly limitedBy: readonly LimitKey[];
}

/** Null, or only `PassedOver`: there is no item to hand out. */
export type ClaimedActivity =
  (ActivityRecord & Partial<PassedOver>) | (LongActivity & Partial<PassedOver>) | PassedOver | null;

export function isClaimed(
  claimed: ClaimedActivity,
): claimed is ActivityRecord & Partial<PassedOver> {
  return claimed !== null && 'id' in claimed;
}

export function isLongActivity(claimed: object | null): claimed is LongActivity {
  return claimed !== null && 'parametersLength' in claimed;
}

/** Items of one name that are not done. A withdrawn item counts only while it is held. */
export interface ActivityQueue {
  readonly name: string;
  /** Items that nobody holds: never handed out, released, or with an expired lease. */
  readonly waiting: number;
  readonly held: number;
  /** When the oldest item that nobody holds was offered. */
  readonly oldestCreatedAt: number | null;
}

/** What a worker reports. `data` is JSON text. */
export interface ActivityResult {
  readonly succeeded: boolean;
  readonly data: string;
  /** Hash of outcome and data, by which a repeated call is recognized. */
  readonly hash: string;
}

/** A position in the list of unsettled items. */
export interface ActivityPosition {
  readonly doneAt: number;
  readonly id: string;
}

/** An item that is done, but whose result no commit has applied yet. */
export interface UnsettledActivity extends ActivityRecord {
  readonly doneAt: number;
  readonly result: ActivityResult;
}
