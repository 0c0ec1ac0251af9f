/** Instances, with their messages, history and audit. Rules S1–S16: ../store.ts. */
import type { Priority } from '../../engine/model/start-options.js';
import type {
  AuditEntry,
  ControlAction,
  ControlResult,
  PatchTagsResult,
  SetPriorityResult,
  TagChanges,
} from '../records/control.js';
import type { FailureCounts, FailureRequest } from '../records/failures.js';
import type {
  InstanceCount,
  InstanceCountRequest,
  InstanceList,
  InstancePage,
  InstancePosition,
} from '../records/instance-lists.js';
import type {
  ClaimInstance,
  IndexChange,
  InstanceRecord,
  InstanceSummary,
  HistoryRecord,
  InstanceCommit,
  CommitOutcome,
  InsertInstance,
  InsertInstanceResult,
  InstanceClaim,
  DueInstance,
  QueuePosition,
} from '../records/instances.js';
import type { InboxMessage, OutgoingMessage } from '../records/messages.js';
import type { MessageClaimer, PostedMessage } from '../records/posted-messages.js';
import type { PlaceCounts, PlaceGrants, PlaceRequest, PlacesOf } from '../records/places.js';
import type { TextFindings, TextSearch } from '../records/text-search.js';

export interface InstanceStore {
  /**
   * Inserts the side records, then the instance. Does nothing if the id exists, its definition is disabled, or its root has
   * too many descendants. An existing id is the first thing that it looks for.
   */
  insertInstance(insert: InsertInstance): Promise<InsertInstanceResult>;
  getInstance(id: string): Promise<InstanceRecord | null>;
  /** The start with this id has not joined the instance after all: a later insert of it is as if there had been none. */
  forgetJoinedStart(id: string, instanceId: string): Promise<void>;
  /** The `input` with which the instance was inserted; null if there is no such instance, or it was inserted without one. */
  getInput(id: string): Promise<string | null>;
  /** Those of the instances that exist, in any order. For display. */
  getSummaries(ids: readonly string[]): Promise<readonly InstanceSummary[]>;
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
   * the whole record. Returns null if another node was faster, if its `schemaVersion` is above the given one (a node that cannot
   * run an instance must not own it), or if it is not `resting` as required.
   */
  claimInstance(claim: ClaimInstance): Promise<InstanceRecord | null>;
  /**
   * The last open instance before this place; null: there is none. For an instance that is `queued`: a start that doesn't see it
   * takes effect before, and is seen (rule S10).
   */
  findPredecessor(place: QueuePosition): Promise<string | null>;
  /**
   * Grants the free places of a key, in order of priority, then of turns (rule S17), then of the time from which the instances count
   * (rule S14).
   */
  grantPlaces(request: PlaceRequest): Promise<PlaceGrants>;
  /** For display. `id`: the instance that waits. Those before it are counted by priority and age, whatever their turns. */
  countPlaces(places: PlacesOf, id: string): Promise<PlaceCounts>;
  /** Keys of the definition for which instances wait, in order, after the given one. */
  findWaitingKeys(
    definitionId: string,
    after: string | null,
    limit: number,
  ): Promise<readonly string[]>;
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
   *
   * With a `claimer`, the step that adds a message also claims its instance if it rests, as `claimInstance` does (S13).
   */
  postMessages(
    messages: readonly (OutgoingMessage & {
      /** Recorded in the same step, if the message is added or does not fit. */
      readonly audit?: AuditEntry;
    })[],
    claimer?: MessageClaimer,
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
   * Changes the priority of an open instance and of its activities that are not done, and records `audit`. Increments `inSeq`, so
   * that the owner reads the new priority before its next commit offers activities. On MongoDB, the activities follow.
   */
  setPriority(id: string, priority: Priority, audit: AuditEntry): Promise<SetPriorityResult>;
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
}
