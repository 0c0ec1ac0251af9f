/**
 * The documents and indexes of the database.
 *
 * They only use features of every server that speaks MongoDB's protocol: string `_id`s and plain indexes. There is no
 * unique index except `_id`, and no TTL index; a partial index is replaced by a full one if the server does not support
 * it. Ids and names are encoded by text-codec.ts; long texts are packed.
 */
import { MongoServerError, type Collection, type Db } from 'mongodb';
import type { BulkJobState } from '../records/bulk-jobs.js';
import type { AuditAction } from '../records/control.js';
import type { InstanceOutcome, InstanceStatus } from '../records/instances.js';
import type { PackedText } from './packed-text.js';

/** A version of something with a name. `_id` is `<name>:<version>`, so that only one writer gets each version. */
export interface VersionDocument {
  readonly _id: string;
  readonly name: string;
  readonly version: number;
  readonly description: string | null;
  readonly body: PackedText;
  /** The text as it was posted. Older documents lack it. */
  readonly source?: PackedText | null;
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

export interface InstanceDocument {
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
  readonly retentionMs?: number;
  /** Absent in documents that an earlier version of the server wrote last. */
  readonly lastChangeAt?: number;
  /** The same time while the instance is open; absent once it has ended. */
  readonly openChangedAt?: number;
  /** Absent if there is no error. */
  readonly errorAt?: number;
  /** Absent if the instance is not failed. */
  readonly failureKey?: string;
  readonly failure?: string;
  readonly wakeAt: number | null;
  readonly owner: string | null;
  readonly epoch: number;
  readonly inSeq: number;
  readonly inbox: readonly InboxEntry[];
  /** Sum of `messageBytes`. Absent in documents of earlier versions of the server that nobody has changed since. */
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
  /** Oldest first; not read together with the other fields. */
  readonly audit?: readonly AuditDocument[];
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

/** The newest start with a conflict rule, by definition and reference; see reference-claims.ts. */
export interface ReferenceClaimDocument {
  readonly _id: string;
  /** Changes with every claim. */
  readonly token: string;
  readonly instanceId: string;
  readonly at: number;
  /** Present until it is inserted. */
  readonly starting?: InstanceDocument;
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

export interface ActivityDocument extends Provenance {
  readonly _id: string;
  readonly instanceId: string;
  readonly name: string;
  readonly parameters: PackedText;
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
  readonly settled: boolean;
  readonly succeeded: boolean | null;
  readonly resultHash: string | null;
  readonly resultData: PackedText | null;
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

export interface Collections {
  readonly definitions: Collection<VersionDocument>;
  readonly definitionStamps: Collection<StampDocument>;
  readonly stepScripts: Collection<VersionDocument>;
  readonly instances: Collection<InstanceDocument>;
  readonly inputs: Collection<InputDocument>;
  readonly joinedStarts: Collection<JoinedStartDocument>;
  readonly referenceClaims: Collection<ReferenceClaimDocument>;
  /** Definitions that are disabled. */
  readonly disabled: Collection<DisabledDocument>;
  readonly history: Collection<HistoryDocument>;
  readonly subscriptions: Collection<SubscriptionDocument>;
  readonly activities: Collection<ActivityDocument>;
  readonly events: Collection<EventDocument>;
  readonly bulkJobs: Collection<BulkJobDocument>;
  readonly bulkIds: Collection<BulkIdsDocument>;
  readonly nodes: Collection<NodeDocument>;
  readonly probes: Collection<ProbeDocument>;
  readonly markers: Collection<MarkerDocument>;
}

export function collectionsOf(db: Db): Collections {
  return {
    definitions: db.collection('definitions'),
    definitionStamps: db.collection('definitionStamps'),
    stepScripts: db.collection('stepScripts'),
    instances: db.collection('instances'),
    inputs: db.collection('inputs'),
    joinedStarts: db.collection('joinedStarts'),
    referenceClaims: db.collection('referenceClaims'),
    disabled: db.collection('disabled'),
    history: db.collection('history'),
    subscriptions: db.collection('subscriptions'),
    activities: db.collection('activities'),
    events: db.collection('events'),
    bulkJobs: db.collection('bulkJobs'),
    bulkIds: db.collection('bulkIds'),
    nodes: db.collection('nodes'),
    probes: db.collection('probes'),
    markers: db.collection('markers'),
  };
}

type IndexKey = Readonly<Record<string, 1 | -1>>;

/** Every read of the contract is served by one of these indexes or by `_id` (rule S7). */
const INDEXES: Readonly<Partial<Record<keyof Collections, readonly IndexKey[]>>> = {
  definitions: [
    { name: 1, version: -1 },
    { version: 1, name: 1 },
  ],
  stepScripts: [
    { name: 1, version: -1 },
    { version: 1, name: 1 },
  ],
  instances: [
    { wakeAt: 1, _id: 1 },
    { owner: 1, openChangedAt: 1, _id: 1 },
    { startTime: -1, _id: -1 },
    { status: 1, startTime: -1, _id: -1 },
    { definitionId: 1, startTime: -1, _id: -1 },
    { definitionId: 1, status: 1, startTime: -1, _id: -1 },
    { definitionId: 1, version: 1, startTime: -1, _id: -1 },
    { reference: 1, startTime: -1, _id: -1 },
    { outcome: 1, startTime: -1, _id: -1 },
    // The index contains instances without a parent under null.
    { parentId: 1, startTime: -1, _id: -1 },
    { endTime: 1, _id: 1 },
    { retentionMs: 1, endTime: 1, _id: 1 },
  ],
  joinedStarts: [{ instanceId: 1 }, { joinedAt: 1 }],
  referenceClaims: [{ at: 1 }],
  history: [{ instanceId: 1, sequence: 1 }],
  subscriptions: [{ nameKey: 1, _id: 1 }, { instanceId: 1 }],
  activities: [
    { name: 1, done: 1, availableAt: 1, _id: 1 },
    { done: 1, settled: 1, doneAt: 1, _id: 1 },
    { instanceId: 1 },
  ],
  events: [
    { nameKey: 1, publishedAt: 1, _id: 1 },
    { delivered: 1, publishedAt: 1, _id: 1 },
  ],
  bulkJobs: [
    { startTime: -1, _id: -1 },
    { endTime: 1, _id: 1 },
  ],
  bulkIds: [{ listId: 1 }, { position: 1, at: 1 }],
};

/** Indexes of the few documents that have the field, by the field and `_id`. */
const PARTIAL_INDEXES = ['errorAt', 'openChangedAt', 'underWay'] as const;

/** Partial on `failureKey`. Counting failures reads nothing else, unless it has to check other conditions. */
export const FAILURES_INDEX: IndexKey = { errorAt: 1, _id: 1, failureKey: 1, status: 1 };

export async function ensureIndexes(collections: Collections): Promise<void> {
  // Object.entries loses the type of the keys, which are names of collections.
  const wanted = Object.entries(INDEXES) as [keyof Collections, readonly IndexKey[]][];
  for (const [name, keys] of wanted) {
    await collections[name].createIndexes(keys.map((key) => ({ key: { ...key } })));
  }
  for (const field of PARTIAL_INDEXES) {
    await ensurePartialIndex(collections.instances, field, { [field]: 1, _id: 1 });
  }
  for (const field of ['tagTerms', 'fieldTerms']) {
    await ensurePartialIndex(collections.instances, field, { [field]: 1, startTime: -1, _id: -1 });
  }
  await ensurePartialIndex(collections.instances, 'failureKey', {
    failureKey: 1,
    startTime: -1,
    _id: -1,
  });
  await ensurePartialIndex(collections.instances, 'failureKey', FAILURES_INDEX);
  await ensurePartialIndex(collections.instances, 'rootId', { rootId: 1, status: 1 });
  await ensurePartialIndex(collections.instances, 'openChangedAt', {
    reference: 1,
    definitionId: 1,
    startTime: -1,
    _id: -1,
  });
  await ensurePartialIndex(collections.bulkJobs, 'runningSince', { runningSince: 1, _id: 1 });
  await ensurePartialIndex(collections.referenceClaims, 'starting', { at: 1, _id: 1 });
}

async function ensurePartialIndex<Item extends { readonly _id: string }>(
  collection: Collection<Item>,
  field: string,
  key: IndexKey,
): Promise<void> {
  const partialFilterExpression = { [field]: { $exists: true } };
  try {
    await collection.createIndexes([{ key: { ...key }, partialFilterExpression }]);
  } catch (error) {
    // If the server rejects a partial index for any reason, a full one finds the same and costs slightly more to
    // maintain.
    if (!(error instanceof MongoServerError)) throw error;
    await collection.createIndexes([{ key: { ...key } }]);
  }
}
