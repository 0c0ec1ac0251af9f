/**
 * The documents of the database, by collection; see collections.ts. Ids and names are encoded by text-codec.ts; long texts
 * are packed.
 */
import type { Place } from '../records/places.js';
import type { Priority } from '../../engine/model/start-options.js';
import type { BulkJobState } from '../records/bulk-jobs.js';
import type { DeliverySummary } from '../records/notifications.js';
import type { AuditAction } from '../records/control.js';
import type { InstanceOutcome, InstanceStatus } from '../records/instances.js';
import type { PackedText } from './packed-text.js';
import type { FairnessFields } from './fairness-fields.js';
import type { PriorityTurns } from './turn-documents.js';
import type { NeedDocument, SlotDocument, SlotWaitEntry } from './slot-documents.js';
import type { ResourceKind } from '../records/resources.js';

/** A version of something with a name. `_id` is `<name>:<version>`, so that only one writer gets each version. */
export interface VersionDocument {
  readonly _id: string;
  readonly name: string;
  readonly version: number;
  readonly description: string | null;
  readonly body: PackedText;
  /** The text as it was posted. Older documents lack it. */
  readonly source?: PackedText | null;
  /** Of the body, for lists. Absent: none. */
  readonly origin?: string;
  readonly createdAt: number;
  /** The idempotency stamp for which it was inserted. */
  readonly stampId: string | null;
}

/**
 * The version that belongs to an idempotency stamp: the one with this number, if it carries the stamp; see
 * definitions.ts.
 */
export interface StampDocument {
  readonly _id: string;
  readonly requestHash: string;
  readonly name: string;
  readonly version: number;
}

export interface InboxEntry {
  readonly id: string;
  readonly body: PackedText;
}

export interface AuditDocument {
  readonly time: number;
  readonly actor: string;
  readonly action: AuditAction;
  readonly detail: string | null;
}

export interface InstanceDocument extends FairnessFields {
  readonly _id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly reference: string | null;
  /** Absent if there are none. */
  readonly tags?: string;
  /** By these the instance is found; see term-fields.ts. */
  readonly tagTerms?: readonly string[];
  /** The index fields. Absent if there are none. */
  readonly fields?: PackedText;
  readonly fieldTerms?: readonly string[];
  readonly status: InstanceStatus;
  readonly startTime: number;
  readonly endTime: number | null;
  /** Absent while the instance is open, and in documents that an earlier version of the server has written since. */
  readonly outcome?: InstanceOutcome;
  /** Absent if a client started the instance. */
  readonly parentId?: string | null;
  /** Absent if a client started the instance. */
  readonly rootId?: string;
  /** Each is absent if there is none. */
  readonly restartOf?: string;
  readonly restartedAs?: string;
  /** Absent if it is the default. */
  readonly priority?: Priority;
  /** Absent if it doesn't wait for others. */
  readonly queued?: true;
  /** Absent if it counts from its start. */
  readonly countsFrom?: number;
  /** Absent if there is none. */
  readonly concurrencyKey?: string;
  /** Absent if it has no open window. */
  readonly debounceKey?: string;
  readonly place?: Place;
  readonly retentionMs?: number;
  /** Absent if no trigger started the instance. */
  readonly startedBy?: string;
  /** Absent in documents that an earlier version of the server wrote last. */
  readonly lastChangeAt?: number;
  /** The same time while the instance is open; absent once it has ended. */
  readonly openChangedAt?: number;
  /** Absent if there is no error. */
  readonly errorAt?: number;
  /** Absent if the instance isn't failed. */
  /** Absent if the error was the first of its cause; see failing-since.ts. */
  readonly failingSince?: number;
  readonly failingErrorAt?: number;
  readonly failureKey?: string;
  readonly failure?: string;
  readonly wakeAt: number | null;
  readonly owner: string | null;
  readonly epoch: number;
  readonly inSeq: number;
  readonly inbox: readonly InboxEntry[];
  /** Sum of `messageBytes`. Absent in documents of earlier versions of the server that are unchanged since. */
  readonly inboxBytes?: number;
  readonly revision: number;
  /** Absent if nothing is in progress. */
  readonly underWay?: true;
  readonly crashes: number;
  readonly state: PackedText;
  readonly schemaVersion: number;
  readonly requestHash: string | null;
  /** The newest commit that shared a command with others; see grouped-commits.ts. Absent if there was none. */
  readonly attemptId?: string;
  /** Absent if there is none, or if it is long; then the collection of inputs has it. Not read with the other fields. */
  readonly input?: PackedText;
  /** The id of the long input; see inputs.ts. */
  readonly inputId?: string;
  /** Slots: see slot-keys.ts. What its executions hold, and which of them wait. Each is absent if there are none. */
  readonly slots?: readonly SlotDocument[];
  readonly slotWaits?: readonly SlotWaitEntry[];
  /** Changes with `slots` and `slotWaits`. */
  readonly slotRevision?: string;
  /** It has had waits, or items with needs. */
  readonly mayWait?: true;
  /** Set if it was inserted with slots: see slot-starts.ts. */
  readonly slotAttempt?: string;
  /** Oldest first; not read together with the other fields. */
  readonly audit?: readonly AuditDocument[];
}

/** Whether the insert of an instance with slots has effect: see slot-starts.ts. */
export interface SlotStartDocument {
  readonly _id: string;
  readonly at: number;
  /** Absent: it has none. */
  readonly starting?: InstanceDocument;
}

/** The long input of an instance; see inputs.ts. Imported ones have only the id of the instance. */
export interface InputDocument {
  readonly _id: string;
  readonly instanceId?: string;
  /** When it was inserted. */
  readonly at?: number;
  readonly body: PackedText;
}

/** See joined-starts.ts. Earlier documents lack the time and the instance. */
export interface JoinedStartDocument {
  readonly _id: string;
  readonly requestHash: string;
  readonly instanceId: string;
  readonly joinedAt?: number;
  readonly body?: PackedText;
}

/** The claim that a start replaces after the one that contains this. */
export interface SecondClaim {
  readonly key: string;
  /** The token to replace; null: there was no claim. */
  readonly token: string | null;
  readonly next: string;
}

/** The newest start or grant of a reference, or of the places of a key: see reference-claims.ts. */
export interface ReferenceClaimDocument {
  readonly _id: string;
  /** Changes with every claim. */
  readonly token: string;
  readonly instanceId: string;
  readonly at: number;
  /** Present until it is inserted. */
  readonly starting?: InstanceDocument;
  /** Set with `starting`, if it takes effect only with this claim of its reference. */
  readonly reference?: SecondClaim;
  /** The instances that get a place; present until they have it. */
  readonly granting?: readonly string[];
  /** Of those that have waited for a place. */
  readonly turns?: readonly PriorityTurns[];
}

/** A definition that is disabled, by its id. */
export interface DisabledDocument {
  readonly _id: string;
  readonly disabled: true;
}

/** The commit that wrote a side record; see side-records.ts. */
export interface Provenance {
  /** `<epoch>/<inSeq>` of the commit, in fixed width, so that it sorts like the pair of numbers. */
  readonly order: string;
  /** Identifies one attempt to commit. */
  readonly attemptId: string;
}

export interface HistoryDocument extends Provenance {
  readonly _id: string;
  readonly instanceId: string;
  readonly sequence: number;
  readonly body: PackedText;
}

export interface SubscriptionDocument extends Provenance {
  readonly _id: string;
  readonly instanceId: string;
  readonly nameKey: string;
  readonly effectiveAt: number;
}

export interface ActivityDocument extends Provenance, FairnessFields {
  readonly _id: string;
  readonly instanceId: string;
  readonly name: string;
  /** Absent in documents of earlier versions of the server, which go first. */
  readonly priority?: Priority | null;
  readonly parameters: PackedText;
  /** Before they were packed, in characters. Absent in documents of earlier versions of the server. */
  readonly parametersLength?: number;
  /** Hash of name and parameters, to distinguish a repeated insert from another item with the same id. */
  readonly contentHash: string;
  readonly createdAt: number;
  readonly availableAt: number;
  readonly deferred: boolean;
  readonly attempt: number;
  readonly tokenHash: string | null;
  readonly workerId: string | null;
  readonly done: boolean;
  readonly doneAt: number | null;
  /** Settled and not done: withdrawn. Without a result when it is done: it was removed after that. */
  readonly settled: boolean;
  readonly succeeded: boolean | null;
  readonly resultHash: string | null;
  readonly resultData: PackedText | null;
  /** The slots that its holder needs. Absent: none. */
  readonly needs?: readonly NeedDocument[];
  /** Those that its holder has. */
  readonly slots?: readonly NeedDocument[];
  /** For what it waits, or would wait. Absent once it is claimed. */
  readonly slotOn?: string;
  readonly slotState?: 'waiting' | 'offered';
  /** With `needs`: changes with each claim. */
  readonly slotTry?: string;
  /** Its lease had ended when others needed its slots. */
  readonly slotsLost?: true;
}

export interface EventDocument {
  readonly _id: string;
  readonly nameKey: string;
  readonly name: string;
  readonly key: string;
  readonly data: PackedText;
  readonly publishedAt: number;
  readonly delivered: boolean;
  readonly deliveredTo: number | null;
  /** Absent until the event is delivered. */
  readonly takenBy?: readonly string[];
  readonly requestHash: string | null;
}

/** `<listId>/<position>` is the `_id` of each chunk of its ids; only a running job has `runningSince`, its start time. */
export interface BulkJobDocument {
  readonly _id: string;
  readonly listId: string;
  readonly requestHash: string | null;
  readonly about: PackedText;
  readonly task: PackedText;
  readonly state: BulkJobState;
  readonly runningSince?: number;
  readonly startTime: number;
  readonly endTime: number | null;
  readonly owner: string | null;
  readonly epoch: number;
  readonly matched: number;
  readonly isCollected: boolean;
  readonly collectedTo: string | null;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly failures: PackedText;
}

export interface BulkIdsDocument {
  readonly _id: string;
  readonly listId: string;
  readonly jobId: string;
  readonly position: number;
  readonly epoch: number;
  readonly at: number;
  readonly ids: PackedText;
}

export interface NotificationDocument {
  readonly _id: string;
  readonly settings: PackedText;
  readonly paused: string | null;
}

export interface DeliveryDocument extends Omit<DeliverySummary, 'id'> {
  readonly _id: string;
  readonly body: PackedText;
}

export interface TriggerDocument {
  readonly _id: string;
  readonly definitionId: string;
  readonly dueAt: number | null;
  readonly eventHash: string | null;
  readonly revision: number;
  readonly body: PackedText;
}

export interface ResourceDocument {
  /** Kind and name. */
  readonly _id: string;
  readonly kind: ResourceKind;
  readonly name: string;
  readonly revision: number;
  readonly expiresAt: number | null;
  readonly body: PackedText;
}

export interface NodeDocument {
  readonly _id: string;
  readonly beatAt: number;
  readonly url: string;
  readonly version: string;
  readonly hostname: string;
  readonly pid: number;
  /** Absent in documents of earlier versions of the server. */
  readonly details?: PackedText | null;
}

export interface ProbeDocument {
  readonly _id: string;
  readonly round: number;
  readonly wins: number;
}

/** A change of existing documents that was made once for the whole database. */
export interface MarkerDocument {
  readonly _id: string;
  readonly done: boolean;
}
