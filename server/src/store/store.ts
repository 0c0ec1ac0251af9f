/**
 * The store: everything durable, behind one contract.
 *
 * Owns: documents and the atomicity of single operations. Must not know: what the opaque `state`, `data` and `body` texts
 * mean, and how workflows run.
 *
 * Rules that every adapter follows (numbered; test/store/ cites them):
 *  S1 A resolved write is durable: it survives kill -9 of the server.
 *  S2 `commitInstance` and `claimInstance` are compare-and-set: of any number of concurrent callers with the same
 *     expectation, one wins.
 *  S3 `postMessages` appends, increments `inSeq` and sets `wakeAt` to 0 in one atomic step, once for each message id, and
 *     only while the instance is Runnable or Suspended.
 *  S4 The side records of a commit or an insert (history, subscriptions, activities) are written before the instance
 *     document that needs them, and are removed after it. All are idempotent by id.
 *  S5 A write that fails with `StoreUnavailableError` may or may not have happened. Callers read back.
 *  S6 User data is stored as opaque text: no key or value in it has a meaning to the store.
 *  S7 Every read is bounded by a limit and served by an index.
 *  S8 An inbox is bounded (`INBOX_BYTES_MAX`). A message that does not fit is not added. Instead, in the same step, the inbox
 *     gets `OVERFLOW_MESSAGE`, `inSeq` is incremented and `wakeAt` is set to 0, so that the instance searches for what it
 *     missed. If the inbox has the overflow message already, nothing changes: the commit that removes it has seen it (S2),
 *     and the instance searches only after that commit (R13). So no number of messages keeps an instance with a full inbox
 *     from committing. Control actions always fit.
 *  S9 Once `setDefinitionDisabled` has resolved, no insert that begins later, through any store object, inserts an instance
 *     of a disabled definition.
 *  S10 Inserts with a conflict rule that have the same definition and reference take effect one after another, on all
 *     nodes: each one sees the instances of those before it. A caller that died in between blocks no other.
 *
 * Times are milliseconds since 1970, from the caller's clock. Callers create the ids. `records/` defines the stored
 * records, with one file for each kind.
 */
import type { Service } from '../base/service.js';
import type {
  ActivityClaim,
  ActivityRecord,
  ActivityListItem,
  ActivityPosition,
  ActivityQueue,
  ActivityResult,
  CompleteActivityResult,
  UnsettledActivity,
} from './records/activities.js';
import type {
  AuditEntry,
  ControlAction,
  ControlResult,
  PatchTagsResult,
  TagChanges,
} from './records/control.js';
import type {
  BulkCollection,
  BulkIdsRecord,
  BulkJobRecord,
  BulkJobSummary,
  BulkProgress,
  BulkProgressResult,
  InsertBulkJobResult,
} from './records/bulk-jobs.js';
import type {
  DefinitionVersion,
  NewDefinition,
  StoredDefinition,
  StepScriptRecord,
  StepScriptVersion,
  IdempotencyStamp,
  InsertDefinitionResult,
} from './records/definitions.js';
import type {
  EventRecord,
  FoundEvent,
  EventListItem,
  EventDelivery,
  EventPage,
  InsertEventResult,
  SubscriptionRecord,
} from './records/events.js';
import type { FailureCounts, FailureRequest } from './records/failures.js';
import type * as housekeeping from './records/housekeeping.js';
import type {
  InstanceCount,
  InstanceCountRequest,
  InstanceList,
  InstancePage,
  InstancePosition,
} from './records/instance-lists.js';
import type {
  ClaimInstance,
  IndexChange,
  InstanceRecord,
  HistoryRecord,
  InstanceCommit,
  CommitOutcome,
  InsertInstance,
  InsertInstanceResult,
  InstanceClaim,
  DueInstance,
} from './records/instances.js';
import type { InboxMessage, OutgoingMessage, PostedMessage } from './records/messages.js';
import type { NodeRecord } from './records/nodes.js';
import type { TextFindings, TextSearch } from './records/text-search.js';

/** The store cannot be reached or did not respond in time; the outcome of the operation is unknown. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError' as const;
}

/** The largest time; "never" in an indexed field. 9999-12-31T23:59:59.999Z. */
export const FAR_FUTURE_MS = 253_402_300_799_999;

export interface Store extends Service {
  readonly kind: 'sqlite' | 'mongo' | 'postgres' | 'memory';

  /** Resolves when the store responds. @throws StoreUnavailableError */
  ping(): Promise<void>;

  /** Tests with concurrent writers whether compare-and-set is really atomic here; some servers only claim it. */
  probeAtomicity(): Promise<boolean>;

  /**
   * Sends these texts to everyone who listens to the channel, together or not at all. Only of stores whose server can: a
   * backplane may use it. @throws StoreUnavailableError
   */
  notify?(channel: string, payloads: readonly string[]): Promise<void>;

  // -- definitions and custom steps

  /** Stores the next version of `id`. Versions are 1, 2, 3 … without gaps, even with concurrent inserts. */
  insertDefinition(
    definition: NewDefinition,
    idempotency: IdempotencyStamp | null,
  ): Promise<InsertDefinitionResult>;
  /** The given version, or the latest. */
  getDefinition(id: string, version: number | 'latest'): Promise<StoredDefinition | null>;
  /** The text of the given version, or of the latest. Null: there is no such version, or its text was not kept. */
  getDefinitionSource(id: string, version: number | 'latest'): Promise<string | null>;
  /** The latest version of each definition, ordered by id (code points), after `afterId`. */
  listDefinitions(afterId: string | null, limit: number): Promise<readonly StoredDefinition[]>;

  /** Versions of one definition, newest first, below `beforeVersion`. */
  listDefinitionVersions(
    id: string,
    beforeVersion: number | null,
    limit: number,
  ): Promise<readonly DefinitionVersion[]>;

  /** Whether instances of it can be started (rule S9), for all versions. Returns false if there is no such definition. */
  setDefinitionDisabled(id: string, disabled: boolean): Promise<boolean>;

  /** Stores the next version of the script. */
  insertStepScript(script: Omit<StepScriptRecord, 'version'>): Promise<StepScriptRecord>;
  /** The given version, or the latest. */
  getStepScript(name: string, version: number | 'latest'): Promise<StepScriptRecord | null>;
  /** The latest version of each script, ordered by name, after `afterName`. */
  listStepScripts(afterName: string | null, limit: number): Promise<readonly StepScriptRecord[]>;
  /** Versions of one script, newest first, below `beforeVersion`. */
  listStepScriptVersions(
    name: string,
    beforeVersion: number | null,
    limit: number,
  ): Promise<readonly StepScriptVersion[]>;

  // -- instances

  /**
   * Inserts the side records, then the instance. Does nothing if the id exists, its definition is disabled, or its root has
   * too many descendants. An existing id is the first thing that it looks for.
   */
  insertInstance(insert: InsertInstance): Promise<InsertInstanceResult>;
  getInstance(id: string): Promise<InstanceRecord | null>;
  /** The `input` with which the instance was inserted; null if there is no such instance, or it was inserted without one. */
  getInput(id: string): Promise<string | null>;
  /** The work of one call is bounded: see `InstanceList`. */
  listInstances(page: InstancePage): Promise<InstanceList>;
  /** The number of instances after the position, up to `max`, with the same bounded work. */
  countInstances(request: InstanceCountRequest): Promise<InstanceCount>;
  /** Finds instances whose id, reference, tag or index field begins with a text, with bounded work: see text-search.ts. */
  findInstancesByText(search: TextSearch): Promise<TextFindings>;
  /** Counts failed instances by their failure, those with the newest errors first, up to `FAILURES_COUNTED_MAX` of them. */
  countFailures(request: FailureRequest): Promise<FailureCounts>;
  /** Compare-and-set on `{id, epoch, inSeq, revision}`. */
  commitInstance(commit: InstanceCommit): Promise<CommitOutcome>;
  /**
   * Takes over an instance: compare-and-set on `{id, epoch}`. It sets the owner, increments the epoch, and increments
   * `crashes` if `suspected`; `due` sets `wakeAt` to 0, so that the instance is found again if the claimer dies. Returns
   * the whole record. Returns null if another node was faster, or if its `schemaVersion` is above the given one: a node
   * that cannot run an instance must not own it.
   */
  claimInstance(claim: ClaimInstance): Promise<InstanceRecord | null>;
  /** Sets `crashes` if the epoch is the given one; returns false otherwise. */
  setCrashes(id: string, epoch: number, crashes: number): Promise<boolean>;
  /** Instances with `wakeAt <= dueBefore` in any status, earliest first, after the position `after`. */
  findDueInstances(
    dueBefore: number,
    limit: number,
    after?: { readonly wakeAt: number; readonly id: string },
  ): Promise<readonly DueInstance[]>;
  /** Instances of that owner with work in progress, ordered by id, after `afterId`. */
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
   * Adds each message to its instance (rules S3 and S8). The result has an entry for each message: null if the instance does
   * not exist or has ended. A message whose id is already in the inbox counts as posted and changes nothing.
   */
  postMessages(
    messages: readonly (OutgoingMessage & {
      /** Recorded in the same step, if the message is added or does not fit. */
      readonly audit?: AuditEntry;
    })[],
  ): Promise<readonly (PostedMessage | null)[]>;
  /**
   * Changes the status immediately, whichever node owns the instance: suspend from Runnable; resume from Suspended;
   * terminate from either, which sets `endTime` to `at` and the outcome to Terminated; compensate from either, which makes
   * it Runnable. Increments `inSeq`, sets `wakeAt` to 0 so that the owner notices, and `lastChangeAt` to `at`. Resume and
   * compensate make deferred activities of the instance available again. The same step records `audit` and adds `message`
   * to the inbox, however full it is; if the inbox already has a message with its id, the action is rejected.
   */
  controlInstance(
    id: string,
    action: ControlAction,
    at: number,
    audit?: AuditEntry,
    message?: InboxMessage,
  ): Promise<ControlResult>;
  /**
   * Merges the changes into the tags of an instance in any status, and records `audit` in the same step. Increments `inSeq`,
   * so that the owner reads the new tags before its next commit.
   */
  patchTags(id: string, changes: TagChanges, audit: AuditEntry): Promise<PatchTagsResult>;
  /**
   * Stores the link and `audit` in one step, in any status, and increments `inSeq`. An ended instance is no longer failed:
   * its `failure` becomes null. False: there is no such instance.
   */
  linkRestart(id: string, restartedAs: string, audit: AuditEntry): Promise<boolean>;
  /**
   * Replaces the index fields of an instance between two commits: compare-and-set on `{id, inSeq, revision}`. Increments
   * `inSeq`, so that the owner reads the new fields before its next commit.
   */
  replaceIndex(
    instance: Pick<InstanceRecord, 'id' | 'inSeq' | 'revision'>,
    change: IndexChange,
  ): Promise<boolean>;
  /** Records an action on an instance in any status. Returns false if there is no such instance. */
  appendAudit(instanceId: string, entry: AuditEntry): Promise<boolean>;
  /** The newest first, at most AUDIT_ENTRIES_MAX. Returns null if there is no such instance. */
  listAudit(instanceId: string): Promise<readonly AuditEntry[] | null>;
  /** Step records with `sequence >= from`, in order. */
  readHistory(instanceId: string, from: number, limit: number): Promise<readonly HistoryRecord[]>;

  // -- activities

  /**
   * Hands out the item of that name that has been available longest (`availableAt <= now`, not done), once: sets its claim
   * and increments its attempt. Items of an instance that is not Runnable are skipped and deferred: their `availableAt`
   * moves `deferMs` ahead (a resume makes them available immediately). Returns null if there is no item to hand out.
   */
  claimActivity(request: {
    readonly name: string;
    readonly now: number;
    readonly claim: ActivityClaim;
    readonly deferMs: number;
  }): Promise<ActivityRecord | null>;
  /** Those of these items that exist, in any order. */
  getActivities(ids: readonly string[]): Promise<readonly ActivityRecord[]>;
  /** Which of these names have an item with `availableAt <= now` that is not done. */
  findAvailableActivities(names: readonly string[], now: number): Promise<readonly string[]>;
  /**
   * Accepts a result for the token, once, and posts the message to its instance. If the message does not fit, the item
   * remains unsettled, and the message must be sent again.
   * A token is stale if the item does not exist, is held by another token, or was handed out again after the lease ended.
   * An expired lease is still valid until another worker takes the item.
   */
  completeActivity(request: {
    readonly activityId: string;
    readonly tokenHash: string;
    readonly result: ActivityResult;
    readonly now: number;
    readonly message: InboxMessage;
    /** Recorded together with the message. */
    readonly audit?: AuditEntry;
  }): Promise<CompleteActivityResult>;
  /**
   * Gives an item that is not done to the holder of this claim. Any previous token is stale from then on. Returns null if
   * there is no such item, or it is done.
   */
  takeOverActivity(activityId: string, claim: ActivityClaim): Promise<ActivityRecord | null>;
  /** Extends the lease of the item held by the token. Returns false if the token is stale. */
  extendActivity(activityId: string, tokenHash: string, leaseExpiresAt: number): Promise<boolean>;
  /**
   * Returns the item to its old place in the queue. The result is its name, or null if the token is stale; then nothing
   * changed.
   */
  releaseActivity(activityId: string, tokenHash: string): Promise<string | null>;
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
   */
  listActivityQueues(now: number, limit: number): Promise<readonly ActivityQueue[]>;
  /**
   * Items of a name that are not done, in the order of the queue (`availableAt`, `id`): available items first, from the
   * oldest; then deferred ones; then held ones by the end of their leases.
   */
  listActivityItems(
    name: string,
    after: { readonly availableAt: number; readonly id: string } | null,
    limit: number,
  ): Promise<readonly ActivityListItem[]>;

  // -- events

  /**
   * Inserts the event, or returns the existing one with this id. A store that can do so also posts `message` to the
   * instances that have subscribed to the event, in the same step. The result says what is left for the caller to do.
   */
  insertEvent(event: EventRecord, message?: InboxMessage): Promise<InsertEventResult>;
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
  /** Never lowers a stored count. Returns the events of unconfirmed deliveries that missed a subscription: not marked. */
  markEventsDelivered(deliveries: readonly EventDelivery[]): Promise<readonly string[]>;
  /** Events not marked as delivered, published before the given time, oldest first. */
  findUndeliveredEvents(publishedBefore: number, limit: number): Promise<readonly FoundEvent[]>;

  // -- bulk jobs

  /** Inserts the job together with its first ids. Does nothing if the id exists. */
  insertBulkJob(
    job: BulkJobRecord,
    chunks: readonly Pick<BulkIdsRecord, 'position' | 'ids'>[],
  ): Promise<InsertBulkJobResult>;
  getBulkJob(id: string): Promise<BulkJobRecord | null>;
  /** The newest start first, then in descending order of their ids. */
  listBulkJobs(after: InstancePosition | null, limit: number): Promise<readonly BulkJobSummary[]>;
  /** Jobs in the state Running, the oldest first. */
  findRunningBulkJobs(limit: number): Promise<readonly BulkJobSummary[]>;
  /**
   * Takes over a running job: compare-and-set on `{id, epoch}`. Sets the owner and increments the epoch. Returns null if
   * another node was faster, or the job has ended.
   */
  claimBulkJob(id: string, epoch: number, owner: string): Promise<BulkJobRecord | null>;
  /** Stores further ids: compare-and-set on `{id, epoch}` of a running job. */
  collectBulkIds(collection: BulkCollection): Promise<boolean>;
  /** The ids of one chunk, as text; null if there is no such chunk. */
  readBulkIds(jobId: string, position: number): Promise<string | null>;
  /** Compare-and-set on `{id, epoch}`. */
  saveBulkProgress(progress: BulkProgress): Promise<BulkProgressResult>;
  /** Stops the job if it is running. Returns the job as it is then; null if there is no such job. */
  stopBulkJob(id: string, at: number): Promise<BulkJobRecord | null>;
  /** Removes jobs that ended before the given time, with their ids, the oldest first. Returns their number. */
  purgeBulkJobs(endedBefore: number, limit: number): Promise<number>;

  // -- nodes and housekeeping

  putNode(node: NodeRecord): Promise<void>;
  listNodes(): Promise<readonly NodeRecord[]>;
  removeNode(id: string): Promise<void>;

  /** Up to `limit` expired instances with `retentionMs`, and as many without, each oldest first. */
  findExpiredInstances(
    limits: housekeeping.ExpiryLimits,
    limit: number,
  ): Promise<readonly housekeeping.EndedInstance[]>;
  /**
   * Removes these instances with everything that belongs to them, except those that have changed or are open. If this takes
   * several steps, the first one makes every commit lose that was prepared before; see `isBeingRemoved`.
   */
  removeInstances(instances: readonly housekeeping.EndedInstance[]): Promise<housekeeping.Removal>;
  purge(request: housekeeping.PurgeRequest): Promise<housekeeping.PurgeResult>;
  /** Figures for /metrics. */
  statistics(): Promise<housekeeping.StoreStatistics>;
}
