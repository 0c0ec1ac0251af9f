/** Whole records as documents, and back. */
import type {
  ArchivedActivity,
  ArchivedDefinition,
  ArchivedEvent,
  ArchivedInstance,
} from '../../archive.js';
import type { BulkIdsRecord } from '../../records/bulk-jobs.js';
import type { StepScriptRecord } from '../../records/definitions.js';
import type { HistoryRecord } from '../../records/instances.js';
import { decodeText, encodeOptional, encodeText } from '../../text-codec.js';
import { activityOf, resultOf } from '../activity-documents.js';
import { chunkDocumentOf } from '../bulk-jobs.js';
import { definitionOf, originMember, sourceOf } from '../definitions.js';
import { versionDocument } from '../versioned-documents.js';
import type {
  ActivityDocument,
  BulkIdsDocument,
  EventDocument,
  HistoryDocument,
  InputDocument,
  InstanceDocument,
  Provenance,
  StampDocument,
  VersionDocument,
} from '../documents.js';
import { eventDocumentOf, eventOf } from '../events.js';
import {
  auditDocumentOf,
  auditEntryOf,
  instanceDocumentOf,
  instanceOf,
  isLongInput,
} from '../instance-documents.js';
import { packOptional, packText, unpackText, type PackedText } from '../packed-text.js';
import { activityDocumentOf, attemptOf } from '../side-records.js';

/** From before all commits, so that any commit may replace the record (rule SR2). */
export const IMPORTED: Provenance = {
  ...attemptOf({ epoch: 0, inSeq: 0 }),
  attemptId: 'import',
};

export function archivedDefinitionOf(
  document: VersionDocument,
  stamp: StampDocument | undefined,
): Omit<ArchivedDefinition, 'disabled'> {
  const record = { ...definitionOf(document), source: sourceOf(document) };
  if (stamp === undefined) return { ...record, stamp: null };
  const { _id, requestHash } = stamp;
  return { ...record, stamp: { id: decodeText(_id), requestHash: decodeText(requestHash) } };
}

export function definitionDocumentOf(record: ArchivedDefinition): VersionDocument {
  const { body, createdAt, description, id, source, stamp, version } = record;
  const name = encodeText(id);
  const content = {
    name,
    createdAt,
    description: encodeOptional(description),
    body: packText(body),
    source: packOptional(source),
    ...originMember(body),
  };
  return versionDocument(content, version, encodeOptional(stamp?.id ?? null));
}

export function stampDocumentsOf({ id, stamp, version }: ArchivedDefinition): StampDocument[] {
  if (stamp === null) return [];
  const requestHash = encodeText(stamp.requestHash);
  return [{ _id: encodeText(stamp.id), requestHash, name: encodeText(id), version }];
}

export function stepScriptDocumentOf(record: StepScriptRecord): VersionDocument {
  const { createdAt, name, source, version } = record;
  const content = { name: encodeText(name), createdAt, description: null, body: packText(source) };
  return versionDocument(content, version, null);
}

export function disabledIdsOf(definitions: readonly ArchivedDefinition[]): ReadonlySet<string> {
  return new Set(definitions.flatMap(({ disabled, id }) => (disabled ? [encodeText(id)] : [])));
}

export function archivedInstanceOf(
  document: InstanceDocument,
  input: PackedText | undefined,
): ArchivedInstance {
  return {
    ...instanceOf(document),
    audit: (document.audit ?? []).map(auditEntryOf),
    input: input === undefined ? null : unpackText(input),
  };
}

export function archivedInstanceDocumentOf({
  audit,
  input,
  ...record
}: ArchivedInstance): InstanceDocument {
  return {
    ...instanceDocumentOf(record),
    ...(audit.length > 0 && { audit: audit.map(auditDocumentOf) }),
    ...(input !== null && !isLongInput(input) && { input: packText(input) }),
  };
}

export function longInputsOf({ id, input }: ArchivedInstance): readonly InputDocument[] {
  if (input === null || !isLongInput(input)) return [];
  return [{ _id: encodeText(id), body: packText(input) }];
}

export function historyOf({ body, instanceId, sequence }: HistoryDocument): HistoryRecord {
  return { instanceId: decodeText(instanceId), sequence, body: unpackText(body) };
}

export function archivedActivityOf(document: ActivityDocument): ArchivedActivity {
  const { deferred, doneAt, settled } = document;
  const result = document.resultData === null ? null : resultOf(document);
  return { ...activityOf(document), deferred, settled, doneAt, result };
}

export function archivedActivityDocumentOf(record: ArchivedActivity): ActivityDocument {
  const { result } = record;
  return {
    ...activityDocumentOf(record, IMPORTED),
    availableAt: record.availableAt,
    deferred: record.deferred,
    attempt: record.attempt,
    tokenHash: encodeOptional(record.tokenHash),
    workerId: encodeOptional(record.workerId),
    done: record.done,
    doneAt: record.doneAt,
    settled: record.settled,
    succeeded: result?.succeeded ?? null,
    resultHash: encodeOptional(result?.hash ?? null),
    resultData: result === null ? null : packText(result.data),
  };
}

export function archivedEventOf(document: EventDocument): ArchivedEvent {
  return { ...eventOf(document), takenBy: (document.takenBy ?? []).map(decodeText) };
}

export function archivedEventDocumentOf({ takenBy, ...event }: ArchivedEvent): EventDocument {
  const document = eventDocumentOf(event);
  return document.delivered ? { ...document, takenBy: takenBy.map(encodeText) } : document;
}

/** The same for a job and its ids, which are imported separately. */
export function importedListId(jobId: string): string {
  return `imported-${encodeText(jobId)}`;
}

export function bulkIdsOf({ ids, jobId, position }: BulkIdsDocument): BulkIdsRecord {
  return { jobId: decodeText(jobId), position, ids: unpackText(ids) };
}

/** From before all owners, so that any of them may replace it. */
export function importedChunkOf({ jobId, ...chunk }: BulkIdsRecord): BulkIdsDocument {
  const job = { _id: encodeText(jobId), listId: importedListId(jobId), startTime: 0, epoch: 0 };
  return chunkDocumentOf(job, chunk);
}
