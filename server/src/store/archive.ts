/**
 * Everything in a store, record by record: what is needed to move it into another store while no server runs.
 *
 * The operations of the contract (store.ts) serve running workflows; they neither list all records nor set everything that
 * a record holds. So each store has an archive beside it, which reads and writes whole records. What only one kind of store
 * has (such as which commit wrote a record) is not part of a record.
 */
import type { ActivityRecord, ActivityResult } from './records/activities.js';
import type { AuditEntry } from './records/control.js';
import type {
  DefinitionRecord,
  IdempotencyStamp,
  StepScriptRecord,
} from './records/definitions.js';
import type { EventRecord, SubscriptionRecord } from './records/events.js';
import type { HistoryRecord, InstanceRecord } from './records/instances.js';
import type { NodeRecord } from './records/nodes.js';

export interface ArchivedDefinition extends DefinitionRecord {
  /** The stamp that it was inserted with. */
  readonly stamp: IdempotencyStamp | null;
}

export interface ArchivedInstance extends InstanceRecord {
  /** The oldest first. */
  readonly audit: readonly AuditEntry[];
}

export interface ArchivedActivity extends ActivityRecord {
  readonly deferred: boolean;
  readonly settled: boolean;
  readonly doneAt: number | null;
  readonly result: ActivityResult | null;
}

export interface ArchivedEvent extends EventRecord {
  /** The first instances that it was handed to. */
  readonly takenBy: readonly string[];
}

export interface ArchivedRecords {
  readonly definition: ArchivedDefinition;
  readonly stepScript: StepScriptRecord;
  readonly instance: ArchivedInstance;
  readonly history: HistoryRecord;
  readonly subscription: SubscriptionRecord;
  readonly activity: ArchivedActivity;
  readonly event: ArchivedEvent;
  /** Of nodes that died: others take over from them what they left. */
  readonly node: NodeRecord;
}

export type RecordKind = keyof ArchivedRecords;

/** In the order in which they are copied. */
export const RECORD_KINDS: readonly RecordKind[] = [
  'definition',
  'stepScript',
  'instance',
  'history',
  'subscription',
  'activity',
  'event',
  'node',
];

/** Where records are read from; a batch is bounded in number and size. */
export interface ArchiveReader {
  /** At most roughly, where counting them takes long. */
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
  /** For people, without secrets. */
  readonly place: string;
  listNodes(): Promise<readonly NodeRecord[]>;
  /** Why it cannot be copied from; null: it can. */
  problemAsSource(): Promise<string | null>;
  /** True if there is no record besides nodes, or only an unfinished import. */
  isEmpty(): Promise<boolean>;
  /** Removes nodes, and what an import that did not finish has left. From now on no server starts on it. */
  beginImport(): Promise<ArchiveImport>;
  close(): Promise<void>;
}

/** Of the texts that may be long. */
const LENGTHS: { readonly [Kind in RecordKind]: (record: ArchivedRecords[Kind]) => number } = {
  definition: ({ body }) => body.length,
  stepScript: ({ source }) => source.length,
  instance: ({ inbox, state }) =>
    inbox.reduce((length, { body }) => length + body.length, state.length),
  history: ({ body }) => body.length,
  subscription: () => 0,
  activity: ({ parameters, result }) => parameters.length + (result?.data.length ?? 0),
  event: ({ data }) => data.length,
  node: ({ details }) => details?.length ?? 0,
};

/** What a batch holds at most, except that a single record may be longer. */
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
