/** Instances as they are stored: their document, what lies beside it, and what a commit changes. */
import type { NewActivityRecord } from './activities.js';
import type { SubscriptionRecord } from './events.js';
import type { InboxMessage } from './messages.js';

export type InstanceStatus = 'Runnable' | 'Suspended' | 'Complete' | 'Terminated';

/** How an ended instance ended; `status` alone does not tell. */
export type InstanceOutcome = 'Succeeded' | 'Compensated' | 'Failed' | 'Terminated';

export interface InstanceRecord {
  readonly id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly reference: string | null;
  readonly status: InstanceStatus;
  readonly startTime: number;
  readonly endTime: number | null;
  /** Null while it is open. */
  readonly outcome: InstanceOutcome | null;
  /** The instance that started it; null: a client did. Never changes. */
  readonly parentId: string | null;
  /** The instance that a client started and this one descends from; null: it is that one itself. Never changes. */
  readonly rootId: string | null;
  /** The newest commit or control action. */
  readonly lastChangeAt: number;
  /** When the step failed whose error the instance shows; null: it shows none. */
  readonly errorAt: number | null;
  /** When somebody must look at this instance; null: only when a message arrives. */
  readonly wakeAt: number | null;
  /** The node (one process life) that runs it, or null. */
  readonly owner: string | null;
  /** The fence: raised by every claim. A commit with an old epoch matches nothing. */
  readonly epoch: number;
  /** Raised by every message and control action, so that a commit cannot overwrite what it has not seen. */
  readonly inSeq: number;
  readonly inbox: readonly InboxMessage[];
  /** Raised by every commit. */
  readonly revision: number;
  /** Something outside the engine was under way at the last commit, which the next node has to begin again. */
  readonly underWay: boolean;
  /** Nodes in a row that died while they worked on it, as far as is known. */
  readonly crashes: number;
  /** Opaque JSON text: data, open pointers and the newest step records. */
  readonly state: string;
  /** The format of `state`; a node refuses a format newer than its own. */
  readonly schemaVersion: number;
  /** Set when the start carried an idempotency key. */
  readonly requestHash: string | null;
}

/** What an instance shows in lists: everything but state and inbox. */
export type InstanceSummary = Omit<InstanceRecord, 'state' | 'inbox'>;

/** Records that belong to an instance and live beside it. */
export interface SideRecords {
  /** Step records that no longer fit into the state. */
  readonly history: readonly HistoryRecord[];
  readonly subscriptions: readonly SubscriptionRecord[];
  readonly activities: readonly NewActivityRecord[];
}

export interface HistoryRecord {
  readonly instanceId: string;
  /** Position in the instance's history, from 0, without gaps. */
  readonly sequence: number;
  /** JSON text of one step record. */
  readonly body: string;
}

export interface InstanceCommit {
  readonly id: string;
  /** Expected values; any other value in the store: nothing is changed and the answer is `lost`. */
  readonly epoch: number;
  readonly inSeq: number;
  /**
   * The revision that the commit builds on: of several commits that expect the same, exactly one wins (rule S2), and a
   * commit whose answer did not come in time cannot land on top of a later one.
   */
  readonly revision: number;
  /** New values. */
  readonly status: InstanceStatus;
  readonly endTime: number | null;
  readonly outcome: InstanceOutcome | null;
  readonly lastChangeAt: number;
  readonly errorAt: number | null;
  readonly wakeAt: number | null;
  readonly underWay: boolean;
  /** Left out: 0. */
  readonly crashes?: number;
  readonly state: string;
  readonly schemaVersion: number;
  /** The messages stay for whoever runs the instance next. */
  readonly keepInbox?: true;
  readonly side: SideRecords;
  /** Removed after the instance was written, perhaps a little later; missing ones do not matter. */
  readonly removeSubscriptions: readonly string[];
  /** Activities that nobody waits for any more: removed unless they are done. */
  readonly removeActivities: readonly string[];
  /** Done activities whose result is now part of the state; may be applied lazily. */
  readonly settleActivities: readonly string[];
}

/** A commit clears the inbox and raises `revision`. */
export type CommitOutcome = 'committed' | 'lost';

export interface InsertInstance {
  readonly record: InstanceRecord;
  readonly side: SideRecords;
  /**
   * Of an instance with a root: how many descendants of that root may be open (Runnable or Suspended) at the same time,
   * this one included. Several processes on MongoDB may exceed it by `INSERTS_PER_COUNT` for each process but one.
   */
  readonly openDescendantsMax?: number;
}

/** Inserts that follow one count of open descendants where both are not one atomic step. */
export const INSERTS_PER_COUNT = 32;

export type InsertInstanceResult =
  | { readonly outcome: 'inserted' }
  /** An instance with this id is there already (a repeated start). */
  | { readonly outcome: 'exists'; readonly record: InstanceRecord }
  /** Its root has as many open descendants as it may have; nothing was inserted. */
  | { readonly outcome: 'full' };

/** What a node needs to know of an instance to decide whether it takes it over. */
export type InstanceClaim = Pick<
  InstanceRecord,
  'id' | 'owner' | 'epoch' | 'wakeAt' | 'underWay' | 'crashes' | 'lastChangeAt' | 'schemaVersion'
>;

export interface DueInstance extends InstanceClaim {
  readonly wakeAt: number;
}
