/** Instances as they are stored: the document, its side records, and the changes that a commit makes. */
import type { Fairness, Priority } from '../../engine/model/start-options.js';
import type { IndexFields } from '../../engine/values/index-fields.js';
import type { Tags } from '../../engine/values/tags.js';
import { compareText } from '../text-order.js';
import type { NewActivityRecord } from './activities.js';
import type { SubscriptionRecord } from './events.js';
import type { InboxMessage } from './messages.js';
import type { DeliveryRecord } from './notifications.js';
import type { Place, PlaceRule } from './places.js';
import type { LimitKey, RefusedSlots, SlotChanges, SlotOutcome } from './slots.js';
import type { WindowChange } from './windows.js';

export type InstanceStatus = 'Runnable' | 'Suspended' | 'Complete' | 'Terminated';

export function isLive(status: InstanceStatus): boolean {
  return status === 'Runnable' || status === 'Suspended';
}

/** How an instance ended; `status` alone does not tell. */
export type InstanceOutcome = 'Succeeded' | 'Compensated' | 'Failed' | 'Terminated';

export interface InstanceFailure {
  /** Instances with the same key failed for the same reason: they are a group. */
  readonly key: string;
  /** Empty: the instance failed as a whole. */
  readonly stepId: string;
  readonly type: string;
  /** Of bounded length. */
  readonly message: string;
}

export interface InstanceRecord {
  readonly id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly reference: string | null;
  /** Changed by clients only, never by a commit. */
  readonly tags: Tags;
  /** The values of the index fields, as of the newest commit. */
  readonly index: IndexFields;
  readonly status: InstanceStatus;
  readonly startTime: number;
  readonly endTime: number | null;
  /** Null while the instance is open. */
  readonly outcome: InstanceOutcome | null;
  /** The instance that started this one; null if a client started it. Never changes. */
  readonly parentId: string | null;
  /** The topmost ancestor, which a client started; null if this is it. Never changes. */
  readonly rootId: string | null;
  /** The instance that this one was started again from; null: none. Never changes. */
  readonly restartOf: string | null;
  /** The newest instance that this one was started again as; null: none. Changed by clients only, never by a commit. */
  readonly restartedAs: string | null;
  /** The trigger that started it, as JSON text; null: none did. Never changes. */
  readonly startedBy: string | null;
  /** Its work goes before that of instances with a higher number. Changed by clients only, never by a commit. */
  readonly priority: Priority;
  /** Null: its work is in the group without a key. Never changes. */
  readonly fairness: Fairness | null;
  /** It waits for instances with the same reference that are before it. */
  readonly queued: boolean;
  /** From when on it counts for those that wait, if not from `startTime` on. Only its open window moves it. */
  readonly countsFrom: number | null;
  /** The key of its open window: starts of the definition with this key join it. Null: it has none. Empty: without a key. */
  readonly debounceKey: string | null;
  /** Null: its definition doesn't limit how many run at a time. Never changes. See places.ts. */
  readonly concurrencyKey: string | null;
  /** `later` also without a key: it will wait for those with its reference. Otherwise null without a key. */
  readonly place: Place | null;
  /** How long the instance is kept after its end, if its definition says so; null: as long as the server says. */
  readonly retentionMs: number | null;
  /** The time of the newest commit or control action. */
  readonly lastChangeAt: number;
  /** When the step failed whose error the instance shows; null if it shows none. */
  readonly errorAt: number | null;
  /** When that step began to fail for this cause; null: at `errorAt`. Always before that. */
  readonly failingSince: number | null;
  /** Why it failed; null if it is not failed. Set by commits; termination by a control action clears it. */
  readonly failure: InstanceFailure | null;
  /** When the instance next needs a node; null: only when a message arrives. */
  readonly wakeAt: number | null;
  /** The owner: the node (one process lifetime) that runs the instance, or null. */
  readonly owner: string | null;
  /** The fencing token: every claim increments it. A commit with an earlier epoch matches nothing. */
  readonly epoch: number;
  /** Incremented by every message and control action, so that a commit cannot overwrite what it has not seen. */
  readonly inSeq: number;
  readonly inbox: readonly InboxMessage[];
  /** Incremented by every commit. Negative: see `isBeingRemoved`. */
  readonly revision: number;
  /** At the last commit, an effect was in progress; the next node must start it again. */
  readonly underWay: boolean;
  /** The number of consecutive nodes that died while working on the instance, as far as known. */
  readonly crashes: number;
  /** Opaque JSON text: data, open pointers and the newest step records. */
  readonly state: string;
  /** The format of `state`. A node rejects a newer format than its own. */
  readonly schemaVersion: number;
  /** Set if the start had an idempotency key. */
  readonly requestHash: string | null;
}

/** An instance as it appears in lists: everything except state and inbox. */
export type InstanceSummary = Omit<InstanceRecord, 'state' | 'inbox'>;

/** Records that belong to an instance but are stored separately. */
export interface SideRecords {
  /** Step records that no longer fit into the state. */
  readonly history: readonly HistoryRecord[];
  readonly subscriptions: readonly SubscriptionRecord[];
  readonly activities: readonly NewActivityRecord[];
}

export interface HistoryRecord {
  readonly instanceId: string;
  /** Position in the instance's history, starting at 0, without gaps. */
  readonly sequence: number;
  /** A step record as JSON text. */
  readonly body: string;
}

export interface InstanceCommit {
  readonly id: string;
  /** Expected values. If the store has any other value, nothing is changed and the outcome is `lost`. */
  readonly epoch: number;
  readonly inSeq: number;
  /**
   * The revision that the commit builds on. Of several commits that expect the same revision, exactly one succeeds
   * (rule S2), and a commit whose response was late cannot overwrite a later one.
   */
  readonly revision: number;
  /** New values. */
  readonly status: InstanceStatus;
  readonly endTime: number | null;
  readonly outcome: InstanceOutcome | null;
  readonly lastChangeAt: number;
  readonly errorAt: number | null;
  readonly failingSince: number | null;
  readonly failure: InstanceFailure | null;
  readonly wakeAt: number | null;
  readonly underWay: boolean;
  /** Omitted if it has not changed. */
  readonly queued?: boolean;
  /** With `queued`: it holds a place from now on, whether or not it waited for one. */
  readonly takesPlace?: true;
  /** Omitted if its window has not changed. */
  readonly window?: WindowChange;
  /** Default: 0. */
  readonly crashes?: number;
  readonly state: string;
  /** Omitted if the index fields have not changed. */
  readonly indexChange?: IndexChange;
  readonly schemaVersion: number;
  /** The version of the definition, if it has changed. */
  readonly version?: number;
  /** With `version`: how long the new version keeps instances. */
  readonly retentionMs?: number | null;
  /** Recorded in the same step. */
  readonly audit?: readonly RepairEntry[];
  /** The messages stay for the next node that runs the instance. */
  readonly keepInbox?: true;
  /** Omitted: none. */
  readonly slots?: SlotChanges;
  readonly side: SideRecords;
  /** Like those of `insertDeliveries`, but stored with the commit (rule S11). */
  readonly deliveries?: readonly DeliveryRecord[];
  /** Removed after the instance was written, possibly with a delay. Missing ones are ignored. */
  readonly removeSubscriptions: readonly string[];
  /**
   * Activities whose results are no longer needed: removed unless they are done. Of a withdrawn item whose token somebody has,
   * a mark is left (done at the time of the commit, settled, without a result), which is purged like a settled item.
   */
  readonly removeActivities: readonly string[];
  /** Done activities whose result is now part of the state. May be applied with a delay. */
  readonly settleActivities: readonly string[];
}

/** The entry in the audit of an instance that was modified. */
export interface RepairEntry {
  readonly time: number;
  readonly actor: string;
  readonly action: 'modify' | 'rerun';
  readonly detail: string | null;
}

export interface IndexChange {
  /** As stored: every other writer of the index fields increments `inSeq`. */
  readonly before: IndexFields;
  readonly after: IndexFields;
}

/** A successful commit clears the inbox and increments `revision`. One with `slots` that wasn't lost has a `SlotOutcome`. */
export type CommitOutcome = 'committed' | 'lost' | SlotOutcome;

export interface InsertInstance {
  readonly record: InstanceRecord;
  readonly side: SideRecords;
  /** Like those of `insertDeliveries`, but stored with the instance (rule S11). */
  readonly deliveries?: readonly DeliveryRecord[];
  /** The data of the start as JSON text; kept unchanged until the instance is purged. Omitted: nothing is kept. */
  readonly input?: string;
  /** What happens if another instance of the same definition has the same reference (rule S10). Omitted: nothing. */
  readonly conflict?: ConflictRule;
  /** Joins the open window of the definition with this key, if there is one (rule S16). It comes before `conflict`. */
  readonly window?: string;
  /** What happens if all places are taken (rule S14). Omitted: nothing. It comes after `conflict`. */
  readonly places?: PlaceRule;
  /** Omitted: none. If slots are refused, nothing is inserted. */
  readonly slots?: SlotChanges;
  /**
   * For an instance with a root: the maximum number of open descendants (Runnable or Suspended) of that root, including
   * this one. On MongoDB, each process but one may exceed it by `INSERTS_PER_COUNT`.
   */
  readonly openDescendantsMax?: number;
}

/**
 * Maximum number of inserts after one count of open descendants, for stores where counting and inserting are not
 * atomic.
 */
export const INSERTS_PER_COUNT = 32;

/** What an insert does if another instance of the same definition has the same reference. */
export type ConflictRule =
  /** Inserts nothing. */
  | { readonly action: 'refuse'; readonly scope?: ConflictScope }
  /**
   * Inserts nothing. If the new record has a request hash, its id and the other instance are kept, so that every later insert
   * of this id has the same result; see joined-starts.ts for how long.
   */
  | { readonly action: 'join'; readonly scope?: ConflictScope }
  /**
   * `queued`: inserts only if another one is open and counts by now, and each of these is before this one; see `QueuePosition`.
   * Otherwise: inserts only if none is open and counts.
   */
  | { readonly action: 'queue'; readonly queued: boolean }
  /** Terminates every open one at the time of `audit`, see `terminationOf`, then inserts. */
  | { readonly action: 'terminate'; readonly audit: TerminationEntry };

/**
 * Which other instances count: open ones (default), or every one that is in the store and not being removed. So with `kept`, a
 * reference is free again once its last instance is purged.
 */
export type ConflictScope = 'open' | 'kept';

/** The entry in the audit of every instance that is terminated. */
export interface TerminationEntry {
  readonly time: number;
  readonly actor: string;
  readonly action: 'terminate';
  readonly detail: string | null;
}

/**
 * The entry for one of them. It may have started after the time of the rule, on another node or while the data of the start was
 * checked, and must not end before that.
 */
export function terminationOf(
  audit: TerminationEntry,
  { startTime }: Pick<InstanceRecord, 'startTime'>,
): TerminationEntry {
  return audit.time >= startTime ? audit : { ...audit, time: startTime };
}

/** Maximum number of instances that one insert terminates. */
export const TERMINATED_PER_INSERT = 20;

export type InsertInstanceResult =
  | {
      readonly outcome: 'inserted';
      /** No stored event is for one of the subscriptions, and later ones find them. Omitted: unknown. */
      readonly noEvents?: true;
      /** Only with the conflict rule `terminate`. */
      readonly terminated?: readonly InstanceSummary[];
      /** Keys of slots for which its items wait: call `grantSlots` for them. Omitted: none. */
      readonly waits?: readonly LimitKey[];
    }
  /** An instance with this id already exists (a repeated start). */
  | { readonly outcome: 'exists'; readonly record: InstanceRecord }
  /** The root already has the maximum number of open descendants; nothing was inserted. */
  | { readonly outcome: 'full' }
  /** Starts of the definition are disabled (rule S9); nothing was inserted. */
  | { readonly outcome: 'disabled' }
  /**
   * With the conflict rule `refuse`: an instance in its scope has the reference; this is the newest. With the rule `queue`: the last
   * one in the queue. Nothing was inserted.
   */
  | { readonly outcome: 'in-use'; readonly record: InstanceSummary }
  /** With the conflict rule `queue`: no open instance has the reference. Nothing was inserted. */
  | { readonly outcome: 'free' }
  /** For an instance with a place: all are taken, or others wait for one. Nothing was inserted. */
  | { readonly outcome: 'no-place'; readonly holders: readonly string[] }
  /** For an instance that waits for a place: as many wait as may. Nothing was inserted. */
  | { readonly outcome: 'queue-full' }
  /** With `slots`: not all of them can be had. Nothing was inserted. */
  | { readonly outcome: 'no-slots'; readonly refused: readonly RefusedSlots[] }
  /**
   * With `window`: this instance has an open window. Nothing was inserted. The start must be sent to it: it may close at any time.
   * If the record has a request hash, later inserts of this id are `joined-before`, as with the conflict rule `join`.
   */
  | { readonly outcome: 'window'; readonly instanceId: string }
  /** With the conflict rule `join`: the same. Nothing was inserted. */
  | { readonly outcome: 'joined'; readonly record: InstanceRecord }
  /** An earlier insert with this id, and with this request hash, joined an instance: as it was then. Nothing was inserted. */
  | {
      readonly outcome: 'joined-before';
      readonly record: InstanceRecord;
      readonly requestHash: string;
      /** It was sent to the window of the instance, which may not have taken it. The record is the current one. */
      readonly byWindow?: true;
    }
  /** So many instances had the reference that not all were terminated; nothing was inserted. Repeat the insert. */
  | { readonly outcome: 'more'; readonly terminated: readonly InstanceSummary[] };

/** Whether an open instance counts for a start at this time: it's due, or has entered the queue. */
export function countsAt(
  { countsFrom, place, queued }: Pick<InstanceRecord, 'countsFrom' | 'place' | 'queued'>,
  startTime: number,
): boolean {
  if (countsFrom === null || countsFrom <= startTime) return true;
  return queued || (place !== null && place !== 'later');
}

/** The order of instances with the same definition and reference: by the time from which they count, then by id. */
export interface QueuePosition {
  readonly id: string;
  readonly definitionId: string;
  readonly reference: string;
  readonly at: number;
}

/** The place of an instance in the queue of its reference. */
export function positionOf({
  countsFrom,
  id,
  startTime,
}: Pick<InstanceRecord, 'countsFrom' | 'id' | 'startTime'>): Pick<QueuePosition, 'at' | 'id'> {
  return { at: countsFrom ?? startTime, id };
}

export function inQueueOrder(
  left: Pick<QueuePosition, 'at' | 'id'>,
  right: Pick<QueuePosition, 'at' | 'id'>,
): number {
  return left.at - right.at || compareText(left.id, right.id);
}

/**
 * What a start with the rule `queue` gets, given the last instance in the queue that counts; null: none does. Returns null if it is
 * inserted.
 */
export function queueRefusal(
  { queued }: Extract<ConflictRule, { action: 'queue' }>,
  record: InstanceRecord,
  last: InstanceSummary | null,
): Extract<InsertInstanceResult, { outcome: 'free' | 'in-use' }> | null {
  if (last === null) return queued ? { outcome: 'free' } : null;
  const isBefore = inQueueOrder(positionOf(last), positionOf(record)) < 0;
  return queued && isBefore ? null : { outcome: 'in-use', record: last };
}

/** See `claimInstance`. */
export interface ClaimInstance {
  readonly id: string;
  readonly epoch: number;
  readonly owner: string;
  readonly suspected: boolean;
  readonly due?: boolean;
  /** Only if it has messages, and no work under way: nobody works on them yet. */
  readonly resting?: boolean;
  /** Omitted: no limit. */
  readonly schemaVersionMax?: number;
}

/** What a node needs to know to decide whether to take over an instance. */
export type InstanceClaim = Pick<
  InstanceRecord,
  'id' | 'owner' | 'epoch' | 'wakeAt' | 'underWay' | 'crashes' | 'lastChangeAt' | 'schemaVersion'
>;

export interface DueInstance extends InstanceClaim {
  readonly wakeAt: number;
}

/**
 * Identifies a definition and reference: inserts of a node with the same key and a conflict rule run one after the other.
 * Distinguishes `ab` and `c` from `a` and `bc`.
 */
export function referenceKeyOf({
  definitionId,
  reference,
}: Pick<InstanceRecord, 'definitionId' | 'reference'>): string {
  return `${definitionId.length}:${definitionId}:${reference ?? ''}`;
}
