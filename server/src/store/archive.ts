/**
 * All records of a store, so that they can be copied to another store while no server runs.
 *
 * The operations of the contract (store.ts) serve running workflows. They can neither list all records nor set all members
 * of a record. So each store has an archive, which reads and writes whole records. Whatever only one kind of store has (such
 * as the commit that wrote a record) is not part of a record.
 */
import type { JoinedStart } from './joined-starts.js';
import type { ActivityRecord, ActivityResult } from './records/activities.js';
import type { BulkIdsRecord, BulkJobRecord } from './records/bulk-jobs.js';
import type { AuditEntry } from './records/control.js';
import type {
  IdempotencyStamp,
  StepScriptRecord,
  StoredDefinition,
} from './records/definitions.js';
import type { EventRecord, SubscriptionRecord } from './records/events.js';
import type { HistoryRecord, InstanceRecord } from './records/instances.js';
import type { ResourceRecord } from './records/resources.js';
import type { TriggerRecord } from './records/triggers.js';
import type { NodeRecord } from './records/nodes.js';
import type { DeliveryRecord, NotificationRecord } from './records/notifications.js';

export interface ArchivedDefinition extends StoredDefinition {
  /** The text as it was posted; null if it was not kept. */
  readonly source: string | null;
  /** The stamp with which it was inserted. */
  readonly stamp: IdempotencyStamp | null;
}

export interface ArchivedInstance extends InstanceRecord {
  /** The oldest first. */
  readonly audit: readonly AuditEntry[];
  /** Null if it was inserted without one. */
  readonly input: string | null;
}

export interface ArchivedActivity extends ActivityRecord {
  readonly deferred: boolean;
  readonly settled: boolean;
  readonly doneAt: number | null;
  readonly result: ActivityResult | null;
}

export interface ArchivedEvent extends EventRecord {
  /** The first instances that took it. */
  readonly takenBy: readonly string[];
}

/** A slot that an execution has taken. */
export interface ArchivedSlot {
  readonly execution: string;
  readonly limitName: string;
  readonly limitKey: string;
  readonly units: number;
  readonly instanceId: string;
  readonly isActivity: boolean;
}

/** An execution that waits for its slots, or has them and hasn't begun. */
export interface ArchivedSlotWait {
  readonly execution: string;
  readonly limitName: string;
  readonly limitKey: string;
  readonly instanceId: string;
  readonly activityName: string | null;
  readonly priority: number;
  /** Empty: none. */
  readonly fairnessKey: string;
  /** Not always a whole number. */
  readonly fairnessWeight: number;
  readonly since: number;
  readonly state: string;
  /** Not always a whole number. */
  readonly at: number;
  /** JSON. */
  readonly needs: string;
}

/** Until when the rate of a limit is spent, see records/rates.ts. */
export interface ArchivedLimitRate {
  readonly limitName: string;
  readonly limitKey: string;
  /** Not always a whole number. */
  readonly spentUntil: number;
}

export interface ArchivedRecords {
  readonly definition: ArchivedDefinition;
  readonly stepScript: StepScriptRecord;
  readonly instance: ArchivedInstance;
  readonly joinedStart: JoinedStart;
  readonly history: HistoryRecord;
  readonly subscription: SubscriptionRecord;
  readonly activity: ArchivedActivity;
  readonly slot: ArchivedSlot;
  readonly slotWait: ArchivedSlotWait;
  readonly limitRate: ArchivedLimitRate;
  readonly event: ArchivedEvent;
  readonly bulkJob: BulkJobRecord;
  readonly bulkIds: BulkIdsRecord;
  readonly notification: NotificationRecord;
  readonly delivery: DeliveryRecord;
  readonly trigger: TriggerRecord;
  readonly resource: ResourceRecord;
  /** Nodes that have died, so that others take over their instances. */
  readonly node: NodeRecord;
}

export type RecordKind = keyof ArchivedRecords;

/** In the order in which they are copied. */
export const RECORD_KINDS: readonly RecordKind[] = [
  'definition',
  'stepScript',
  'instance',
  'joinedStart',
  'history',
  'subscription',
  'activity',
  'slot',
  'slotWait',
  'limitRate',
  'event',
  'bulkJob',
  'bulkIds',
  'notification',
  'delivery',
  'trigger',
  'resource',
  'node',
];

/** The source of a copy. A batch of records is limited in number and size. */
export interface ArchiveReader {
  /** An estimate if counting takes long. */
  count(kind: RecordKind): Promise<number>;
  read<Kind extends RecordKind>(kind: Kind): AsyncIterable<readonly ArchivedRecords[Kind][]>;
}

/** A store that holds only part of a copy. No server starts on it. */
export interface ArchiveImport extends ArchiveReader {
  write<Kind extends RecordKind>(
    kind: Kind,
    records: readonly ArchivedRecords[Kind][],
  ): Promise<void>;
  /** The copy is complete: servers may start on it. */
  finish(): Promise<void>;
}

export interface StoreArchive extends ArchiveReader {
  /** A description for people, without secrets. */
  readonly place: string;
  listNodes(): Promise<readonly NodeRecord[]>;
  /** Why it cannot be copied; null if it can. */
  problemAsSource(): Promise<string | null>;
  /** Another text after any record has been inserted, changed or removed. */
  changeMark(): Promise<string>;
  /** True if there is no record besides nodes, or only an unfinished import. */
  isEmpty(): Promise<boolean>;
  /** Removes nodes, and the records of an unfinished import. From now on, no server starts on it. */
  beginImport(): Promise<ArchiveImport>;
  close(): Promise<void>;
}

/** Counts only the texts that may be long. */
const LENGTHS: { readonly [Kind in RecordKind]: (record: ArchivedRecords[Kind]) => number } = {
  definition: ({ body, source }) => body.length + (source?.length ?? 0),
  stepScript: ({ source }) => source.length,
  instance: ({ inbox, input, state }) =>
    inbox.reduce((length, { body }) => length + body.length, state.length + (input?.length ?? 0)),
  joinedStart: ({ body }) => body?.length ?? 0,
  history: ({ body }) => body.length,
  subscription: () => 0,
  activity: ({ parameters, result }) => parameters.length + (result?.data.length ?? 0),
  slot: () => 0,
  slotWait: ({ needs }) => needs.length,
  limitRate: () => 0,
  event: ({ data }) => data.length,
  bulkJob: ({ failures, task }) => failures.length + task.length,
  bulkIds: ({ ids }) => ids.length,
  notification: ({ settings }) => settings.length,
  delivery: ({ body }) => body.length,
  trigger: ({ body }) => body.length,
  resource: ({ body }) => body.length,
  node: ({ details }) => details?.length ?? 0,
};

/** Limits of a batch; a single record may be longer. */
const BATCH_RECORDS = 500;
const BATCH_LENGTH = 4 << 20;

export async function* inBatches<Kind extends RecordKind>(
  kind: Kind,
  records: AsyncIterable<ArchivedRecords[Kind]> | Iterable<ArchivedRecords[Kind]>,
): AsyncGenerator<readonly ArchivedRecords[Kind][]> {
  const lengthOf = LENGTHS[kind];
  let batch: ArchivedRecords[Kind][] = [];
  let length = 0;
  for await (const record of records) {
    batch.push(record);
    length += lengthOf(record);
    if (batch.length < BATCH_RECORDS && length < BATCH_LENGTH) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}
