/**
 * The store: everything durable, behind one contract.
 *
 * Owns: documents and the atomicity of single operations. Must not know: what the opaque `state`, `data` and `body`
 * texts mean, and how workflows run.
 *
 * Rules that every adapter keeps (numbered; test/store/ cites them):
 *  S1 A resolved write is durable: it survives kill -9 of the server.
 *  S2 `commitInstance` and `claimInstance` are compare-and-set: of any number of concurrent callers with the same
 *     expectation, one wins.
 *  S3 `postMessages` appends, bumps `inSeq` and sets `wakeAt` to 0 in one atomic step, once for each message id, and only
 *     while the instance is Runnable or Suspended.
 *  S4 The side records of a commit or an insert (history, subscriptions, activities) are there before the instance
 *     document that needs them, and records that are removed go after it. All are idempotent by id.
 *  S5 A write that fails with `StoreUnavailableError` may or may not have happened. Callers read back.
 *  S6 User data is stored as opaque text: no key or value in it has a meaning to the store.
 *  S7 Every read is bounded by a limit and served by an index.
 *
 * Times are milliseconds since 1970, from the caller's clock. Ids are made by the caller.
 */
import type { Service } from '../base/service.js';

export type InstanceStatus = 'Runnable' | 'Suspended' | 'Complete' | 'Terminated';

/** How an ended instance ended; `status` alone does not tell. */
export type InstanceOutcome = 'Succeeded' | 'Compensated' | 'Failed' | 'Terminated';

/** The store cannot be reached or did not answer in time; the outcome of the operation is unknown. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError' as const;
}

/** The largest time; "never" in an indexed field. 9999-12-31T23:59:59.999Z. */
export const FAR_FUTURE_MS = 253_402_300_799_999;

// ---------------------------------------------------------------- definitions and custom steps

export interface DefinitionRecord {
  readonly id: string;
  readonly version: number;
  readonly description: string | null;
  /** The document as JSON text with canonical member names. */
  readonly body: string;
  readonly createdAt: number;
}

/** A version in a list. */
export type DefinitionVersion = Omit<DefinitionRecord, 'body'>;

export interface StepScriptRecord {
  readonly name: string;
  readonly version: number;
  readonly source: string;
  readonly createdAt: number;
}

/** A version in a list. */
export type StepScriptVersion = Omit<StepScriptRecord, 'source'>;

/** Identifies a request that may be sent again. `id` is derived from the key, `requestHash` from the body. */
export interface IdempotencyStamp {
  readonly id: string;
  readonly requestHash: string;
}

export type InsertDefinitionResult =
  | { readonly outcome: 'inserted' | 'repeated'; readonly record: DefinitionRecord }
  /** The same idempotency id with another request hash. */
  | { readonly outcome: 'conflict' };

// ---------------------------------------------------------------- instances

/** A message to an instance, kept in its inbox until a commit has taken it in. */
export interface InboxMessage {
  /** Deterministic, so that a message that is sent twice arrives once. */
  readonly id: string;
  /** JSON text; the engine knows what is in it. */
  readonly body: string;
}

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

export interface SubscriptionRecord {
  /** `<instanceId>/<pointerId>/<attempt>` */
  readonly id: string;
  readonly instanceId: string;
  /** Hash of event name and key. */
  readonly nameKey: string;
  /** Only events published at or after this time are wanted. */
  readonly effectiveAt: number;
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
  /** `null` gives the instance back (drain); `undefined` leaves the owner. */
  readonly owner?: null;
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

export interface PostedMessage {
  readonly instanceId: string;
  /** The instance's values after the message was added. */
  readonly inSeq: number;
  readonly epoch: number;
  readonly owner: string | null;
}

/** `compensate`: the instance is to compensate what it has done and to end then; a message tells it. */
export type ControlAction = 'suspend' | 'resume' | 'terminate' | 'compensate';

export type ControlResult =
  | { readonly outcome: 'done'; readonly record: InstanceRecord }
  /** The status does not allow it (or, for terminate, the instance had ended), or it was told before: nothing was changed. */
  | { readonly outcome: 'refused'; readonly record: InstanceRecord }
  | { readonly outcome: 'missing' };

/** What somebody did to an instance. */
export type AuditAction =
  | Exclude<ControlAction, 'compensate'>
  | 'retry'
  | 'publish-event'
  | 'complete-activity'
  | 'fail-activity';

export interface AuditEntry {
  readonly time: number;
  /** Who did it, as far as the server knows. */
  readonly actor: string;
  readonly action: AuditAction;
  /** What exactly, in words. */
  readonly detail: string | null;
}

/** Of each instance so many entries are kept, the newest. */
export const AUDIT_ENTRIES_MAX = 100;

export interface InstanceFilter {
  readonly status?: InstanceStatus;
  readonly definitionId?: string;
  readonly version?: number;
  readonly reference?: string;
  readonly outcome?: InstanceOutcome;
  /** Those that this instance started; null: those that a client started. */
  readonly parentId?: string | null;
  /** Inclusive. */
  readonly startedFrom?: number;
  /** Exclusive. */
  readonly startedTo?: number;
  /** Shows an error of this time or later. Not together with `unchangedSince`. */
  readonly failedFrom?: number;
  /** Runnable or Suspended, and last changed before this time. */
  readonly unchangedSince?: number;
}

/**
 * The order of a list and the time that gives it: the newest start first; with `failedFrom` the newest error first; with
 * `unchangedSince` the oldest change first. Among equal times ids go the same way as the times. `after` is the position
 * of the last one of the page before.
 */
export interface InstancePage {
  readonly filter: InstanceFilter;
  readonly after: InstancePosition | null;
  readonly limit: number;
}

export interface InstancePosition {
  readonly time: number;
  readonly id: string;
}

/** What a node needs to know of an instance to decide whether it takes it over. */
export type InstanceClaim = Pick<
  InstanceRecord,
  'id' | 'owner' | 'epoch' | 'wakeAt' | 'underWay' | 'crashes' | 'lastChangeAt'
>;

export interface DueInstance extends InstanceClaim {
  readonly wakeAt: number;
}

// ---------------------------------------------------------------- activities

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

// ---------------------------------------------------------------- events

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

// ---------------------------------------------------------------- nodes

export interface NodeRecord {
  /** One process life; a restarted server is another node. */
  readonly id: string;
  readonly beatAt: number;
  readonly url: string;
  readonly version: string;
  readonly hostname: string;
  readonly pid: number;
  /** What the node tells of itself with each beat, as JSON text; null: nothing. */
  readonly details: string | null;
}

export interface PurgeRequest {
  /** Instances that ended before this go, with everything that belongs to them, oldest first. */
  readonly instancesEndedBefore: number;
  /** The same for those that still have a wake time: others have not heard of their end yet. */
  readonly untoldEndedBefore: number;
  /** Events published before this go, once they are marked as delivered. */
  readonly eventsPublishedBefore: number;
  /** Done and settled activities older than this go. */
  readonly activitiesDoneBefore: number;
  /** At most this many of each kind. */
  readonly limit: number;
}

export interface PurgeResult {
  readonly instances: number;
  readonly events: number;
  readonly activities: number;
}

// ---------------------------------------------------------------- the contract

export interface Store extends Service {
  readonly kind: 'sqlite' | 'mongo' | 'memory';

  /** Resolves when the store answers. @throws StoreUnavailableError */
  ping(): Promise<void>;

  /** True when compare-and-set is really atomic here, tried with concurrent writers; some servers only claim it. */
  probeAtomicity(): Promise<boolean>;

  // -- definitions and custom steps

  /** Stores the next version of `id`; versions are 1, 2, 3 … without gaps, whoever else inserts at the same time. */
  insertDefinition(
    definition: Omit<DefinitionRecord, 'version'>,
    idempotency: IdempotencyStamp | null,
  ): Promise<InsertDefinitionResult>;
  /** The given version, or the newest. */
  getDefinition(id: string, version: number | 'latest'): Promise<DefinitionRecord | null>;
  /** The newest version of each definition, ordered by id (code points), after `afterId`. */
  listDefinitions(afterId: string | null, limit: number): Promise<readonly DefinitionRecord[]>;

  /** Versions of one definition, newest first, below `beforeVersion`. */
  listDefinitionVersions(
    id: string,
    beforeVersion: number | null,
    limit: number,
  ): Promise<readonly DefinitionVersion[]>;

  /** Stores the next version of the script. */
  insertStepScript(script: Omit<StepScriptRecord, 'version'>): Promise<StepScriptRecord>;
  /** The given version, or the newest. */
  getStepScript(name: string, version: number | 'latest'): Promise<StepScriptRecord | null>;
  /** The newest version of each script, ordered by name, after `afterName`. */
  listStepScripts(afterName: string | null, limit: number): Promise<readonly StepScriptRecord[]>;
  /** Versions of one script, newest first, below `beforeVersion`. */
  listStepScriptVersions(
    name: string,
    beforeVersion: number | null,
    limit: number,
  ): Promise<readonly StepScriptVersion[]>;

  // -- instances

  /** Inserts the side records, then the instance. Does nothing when the id is taken, or its root has too many descendants. */
  insertInstance(insert: InsertInstance): Promise<InsertInstanceResult>;
  getInstance(id: string): Promise<InstanceRecord | null>;
  listInstances(page: InstancePage): Promise<readonly InstanceSummary[]>;
  /** Compare-and-set on `{id, epoch, inSeq, revision}`. */
  commitInstance(commit: InstanceCommit): Promise<CommitOutcome>;
  /**
   * Takes an instance over: compare-and-set on `{id, epoch}`, sets the owner, raises the epoch, and raises `crashes`
   * when `suspected`; `due` sets `wakeAt` to 0, so that it is found again should the claimer die. Answers the whole record, or null when somebody else was faster, or when its `schemaVersion` is
   * above the given one: whoever could not run it must not own it.
   */
  claimInstance(claim: {
    readonly id: string;
    readonly epoch: number;
    readonly owner: string;
    readonly suspected: boolean;
    readonly due?: boolean;
    /** Left out: any. */
    readonly schemaVersionMax?: number;
  }): Promise<InstanceRecord | null>;
  /** Sets `crashes`, while the epoch is the given one. False: it is another one. */
  setCrashes(id: string, epoch: number, crashes: number): Promise<boolean>;
  /** Instances with `wakeAt <= dueBefore`, earliest first, whatever their status; from behind `after` on. */
  findDueInstances(
    dueBefore: number,
    limit: number,
    after?: { readonly wakeAt: number; readonly id: string },
  ): Promise<readonly DueInstance[]>;
  /** Instances of that owner with something under way, by id, from behind `afterId` on. */
  findInstancesUnderWay(
    owner: string,
    afterId: string | null,
    limit: number,
  ): Promise<readonly InstanceClaim[]>;
  /** Runnable instances of that owner that changed after the position (`lastChangeAt`, `id`), in that order. */
  findChangedInstances(
    owner: string,
    after: InstancePosition,
    limit: number,
  ): Promise<readonly InstanceClaim[]>;
  /**
   * Adds each message to its instance (rule S3). The answer has an entry for each message: null where the instance
   * does not exist or has ended. A message whose id is in the inbox already counts as posted and changes nothing.
   */
  postMessages(
    messages: readonly {
      readonly instanceId: string;
      readonly message: InboxMessage;
      /** Noted in the same step, when the message is added. */
      readonly audit?: AuditEntry;
    }[],
  ): Promise<readonly (PostedMessage | null)[]>;
  /**
   * Changes the status at once, whoever owns the instance: suspend from Runnable; resume from Suspended; terminate from
   * either, which sets `endTime` to `at` and the outcome to Terminated; compensate from either, which makes it Runnable.
   * Raises `inSeq`, sets `wakeAt` to 0 so that the owner notices, and `lastChangeAt` to `at`. Resume and compensate make
   * deferred activities of the instance available again. In the same step `audit` is noted and `message` is added to the
   * inbox; where a message with its id is in the inbox already, the action is refused.
   */
  controlInstance(
    id: string,
    action: ControlAction,
    at: number,
    audit?: AuditEntry,
    message?: InboxMessage,
  ): Promise<ControlResult>;
  /** Notes what somebody did for the sake of an instance, whatever its status. False: there is none. */
  appendAudit(instanceId: string, entry: AuditEntry): Promise<boolean>;
  /** The newest first, at most AUDIT_ENTRIES_MAX. Null: there is no such instance. */
  listAudit(instanceId: string): Promise<readonly AuditEntry[] | null>;
  /** Step records with `sequence >= from`, in order. */
  readHistory(instanceId: string, from: number, limit: number): Promise<readonly HistoryRecord[]>;

  // -- activities

  /**
   * Hands out the item of that name that has been available longest (`availableAt <= now`, not done), once: sets its
   * claim and raises its attempt. Items of an instance that is not Runnable are passed over and deferred: their
   * `availableAt` moves `deferMs` ahead (resuming brings them back at once). Null: nothing to hand out.
   */
  claimActivity(request: {
    readonly name: string;
    readonly now: number;
    readonly claim: ActivityClaim;
    readonly deferMs: number;
  }): Promise<ActivityRecord | null>;
  /** Those of these items that are there, in any order. */
  getActivities(ids: readonly string[]): Promise<readonly ActivityRecord[]>;
  /** Which of these names have an item with `availableAt <= now` that is not done. */
  findAvailableActivities(names: readonly string[], now: number): Promise<readonly string[]>;
  /**
   * Accepts a result for the token, once, and posts the message to its instance.
   * A token is stale when the item is unknown, is held by another token, or its lease ended and it was handed out again.
   * A lease that ran out while nobody else took the item is still good.
   */
  completeActivity(request: {
    readonly activityId: string;
    readonly tokenHash: string;
    readonly result: ActivityResult;
    readonly now: number;
    readonly message: InboxMessage;
    /** Noted together with the message. */
    readonly audit?: AuditEntry;
  }): Promise<CompleteActivityResult>;
  /**
   * Gives an item that is not done to the holder of this claim, whoever held it before: that token is stale from now on.
   * Null: there is no such item, or it is done.
   */
  takeOverActivity(activityId: string, claim: ActivityClaim): Promise<ActivityRecord | null>;
  /** Extends the lease of the item held by the token. False: stale. */
  extendActivity(activityId: string, tokenHash: string, leaseExpiresAt: number): Promise<boolean>;
  /** Gives the item back to the queue, at its old place, and answers its name. Null: stale; nothing changed. */
  releaseActivity(activityId: string, tokenHash: string): Promise<string | null>;
  /**
   * Done items whose result no commit has taken in yet, done before the given time: their message may be missing. Items
   * of an instance that has ended count as settled.
   */
  findUnsettledActivities(
    doneBefore: number,
    limit: number,
  ): Promise<readonly (ActivityRecord & { readonly result: ActivityResult })[]>;

  /** Names with items that are not done, those with the most waiting items first. Counts, so it reads them all. */
  listActivityQueues(now: number, limit: number): Promise<readonly ActivityQueue[]>;
  /**
   * Items of a name that are not done, in the order of the queue (`availableAt`, `id`): those that can be handed out come
   * first, the oldest before the others; then deferred ones; then held ones by the end of their leases.
   */
  listActivityItems(
    name: string,
    after: { readonly availableAt: number; readonly id: string } | null,
    limit: number,
  ): Promise<readonly ActivityListItem[]>;

  // -- events

  /** Inserts the event, or answers the one that has this id already. */
  insertEvent(event: EventRecord): Promise<EventRecord | null>;
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
  listEvents(page: EventPage): Promise<readonly EventListItem[]>;
  /** `takenBy`: the first of the instances. */
  markEventDelivered(id: string, deliveredTo: number, takenBy: readonly string[]): Promise<void>;
  /** Events not marked as delivered, published before the given time, oldest first. */
  findUndeliveredEvents(publishedBefore: number, limit: number): Promise<readonly FoundEvent[]>;

  // -- nodes and housekeeping

  putNode(node: NodeRecord): Promise<void>;
  listNodes(): Promise<readonly NodeRecord[]>;
  removeNode(id: string): Promise<void>;

  purge(request: PurgeRequest): Promise<PurgeResult>;

  /** Numbers for /metrics. */
  statistics(): Promise<StoreStatistics>;
}

export interface StoreStatistics {
  readonly instances: Readonly<Record<InstanceStatus, number>>;
  /** The ten names with the most items that nobody holds. */
  readonly activities: readonly {
    readonly name: string;
    readonly waiting: number;
    readonly oldestAvailableAt: number | null;
  }[];
  readonly undeliveredEvents: number;
}
