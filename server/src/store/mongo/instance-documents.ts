/** Instances as documents. */
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import { failingSinceIn } from '../failing-since.js';
import type { JoinedStart } from '../joined-starts.js';
import { failureIn, failureText } from '../json-columns.js';
import { AUDIT_ENTRIES_MAX, type AuditEntry } from '../records/control.js';
import {
  isLive,
  type InstanceFailure,
  type InstanceOutcome,
  type InstanceRecord,
  type InstanceSummary,
} from '../records/instances.js';
import { inboxBytes } from '../records/messages.js';
import { decodeText, encodeOptional, encodeText } from '../text-codec.js';
import type { InstanceDocument, AuditDocument, JoinedStartDocument } from './documents.js';
import { fairnessFieldsOf, fairnessOf } from './fairness-fields.js';
import { decodeOptional, packText, unpackText } from './packed-text.js';
import { indexOf, tagFieldsOf, tagsOf, valueFieldsOf } from './term-fields.js';

const INPUT_LENGTH_MAX = 4096;

/** A long input is in a collection of its own: the database writes whole documents. */
export function isLongInput(input: string): boolean {
  return input.length > INPUT_LENGTH_MAX;
}

export function instanceDocumentOf(record: InstanceRecord): InstanceDocument {
  return {
    _id: encodeText(record.id),
    definitionId: encodeText(record.definitionId),
    version: record.version,
    reference: encodeOptional(record.reference),
    ...tagFieldsOf(record.tags).set,
    ...valueFieldsOf(record.index).set,
    status: record.status,
    startTime: record.startTime,
    endTime: record.endTime,
    ...(record.parentId !== null && { parentId: encodeText(record.parentId) }),
    ...(record.rootId !== null && { rootId: encodeText(record.rootId) }),
    ...(record.restartOf !== null && { restartOf: encodeText(record.restartOf) }),
    ...(record.restartedAs !== null && { restartedAs: encodeText(record.restartedAs) }),
    // Always there for those that wait for a place in order of priority.
    ...((record.priority !== DEFAULT_PRIORITY || record.concurrencyKey !== null) && {
      priority: record.priority,
    }),
    ...fairnessFieldsOf(record.fairness),
    ...(record.queued && { queued: true as const }),
    ...(record.countsFrom !== null && { countsFrom: record.countsFrom }),
    ...(record.concurrencyKey !== null && { concurrencyKey: encodeText(record.concurrencyKey) }),
    ...(record.debounceKey !== null && { debounceKey: encodeText(record.debounceKey) }),
    ...(record.place !== null && { place: record.place }),
    ...(record.retentionMs !== null && { retentionMs: record.retentionMs }),
    ...(record.startedBy !== null && { startedBy: encodeText(record.startedBy) }),
    ...changeFieldsOf(record).set,
    wakeAt: record.wakeAt,
    owner: encodeOptional(record.owner),
    epoch: record.epoch,
    inSeq: record.inSeq,
    inbox: record.inbox.map(({ id, body }) => ({ id: encodeText(id), body: packText(body) })),
    inboxBytes: inboxBytes(record.inbox),
    revision: record.revision,
    crashes: record.crashes,
    state: packText(record.state),
    schemaVersion: record.schemaVersion,
    requestHash: encodeOptional(record.requestHash),
  };
}

type ChangeFields = Pick<
  InstanceDocument,
  | 'lastChangeAt'
  | 'openChangedAt'
  | 'errorAt'
  | 'failingSince'
  | 'failingErrorAt'
  | 'failureKey'
  | 'failure'
  | 'outcome'
  | 'underWay'
>;

/**
 * The fields by which instances are found that failed, have a certain outcome, don't advance, or have an effect in
 * progress. They are absent where they don't apply, so that a partial index holds only the few instances that somebody
 * may look for.
 */
export function changeFieldsOf({
  status,
  lastChangeAt,
  errorAt,
  failingSince,
  failure,
  outcome,
  underWay,
}: Pick<
  InstanceRecord,
  'status' | 'lastChangeAt' | 'errorAt' | 'failingSince' | 'failure' | 'outcome' | 'underWay'
>): {
  readonly set: ChangeFields;
  readonly unset: Readonly<Partial<Record<keyof ChangeFields, ''>>>;
} {
  const isOpen = isLive(status);
  return {
    set: {
      lastChangeAt,
      ...(isOpen && { openChangedAt: lastChangeAt }),
      ...(errorAt !== null && { errorAt }),
      ...(failingSince !== null && errorAt !== null && { failingSince, failingErrorAt: errorAt }),
      ...(failure !== null && failureFieldsOf(failure)),
      ...(outcome !== null && { outcome }),
      ...(underWay && { underWay }),
    },
    unset: {
      ...(!isOpen && { openChangedAt: '' }),
      ...(errorAt === null && { errorAt: '' }),
      ...(failingSince === null && { failingSince: '', failingErrorAt: '' }),
      ...(failure === null && { failureKey: '', failure: '' }),
      ...(outcome === null && { outcome: '' }),
      ...(!underWay && { underWay: '' }),
    },
  };
}

function failureFieldsOf(
  failure: InstanceFailure,
): Required<Pick<InstanceDocument, 'failureKey' | 'failure'>> {
  return { failureKey: failure.key, failure: encodeText(failureText(failure) ?? '') };
}

export function instanceOf(document: InstanceDocument): InstanceRecord {
  return {
    ...summaryOf(document),
    inbox: document.inbox.map(({ id, body }) => ({ id: decodeText(id), body: unpackText(body) })),
    state: unpackText(document.state),
  };
}

export function summaryOf(document: Omit<InstanceDocument, 'state' | 'inbox'>): InstanceSummary {
  return {
    id: decodeText(document._id),
    definitionId: decodeText(document.definitionId),
    version: document.version,
    reference: decodeOptional(document.reference),
    tags: tagsOf(document),
    index: indexOf(document),
    status: document.status,
    startTime: document.startTime,
    endTime: document.endTime,
    outcome: outcomeOf(document),
    parentId: decodeOptional(document.parentId ?? null),
    rootId: decodeOptional(document.rootId ?? null),
    restartOf: decodeOptional(document.restartOf ?? null),
    restartedAs: decodeOptional(document.restartedAs ?? null),
    startedBy: decodeOptional(document.startedBy ?? null),
    priority: document.priority ?? DEFAULT_PRIORITY,
    fairness: fairnessOf(document),
    queued: document.queued ?? false,
    countsFrom: document.countsFrom ?? null,
    concurrencyKey: decodeOptional(document.concurrencyKey ?? null),
    debounceKey: decodeOptional(document.debounceKey ?? null),
    place: document.place ?? null,
    retentionMs: document.retentionMs ?? null,
    lastChangeAt: document.lastChangeAt ?? document.endTime ?? document.startTime,
    errorAt: document.errorAt ?? null,
    failingSince: failingSinceIn(document.errorAt ?? null, {
      failingSince: document.failingSince ?? null,
      failingErrorAt: document.failingErrorAt ?? null,
    }),
    failure: failureIn(document.failureKey ?? null, decodeOptional(document.failure ?? null)),
    wakeAt: document.wakeAt,
    owner: decodeOptional(document.owner),
    epoch: document.epoch,
    inSeq: document.inSeq,
    revision: document.revision,
    underWay: document.underWay ?? false,
    crashes: document.crashes,
    schemaVersion: document.schemaVersion,
    requestHash: decodeOptional(document.requestHash),
  };
}

/**
 * Earlier versions of the server leave out the outcome. Instances that show an error were ended by it, unless the audit
 * names someone who terminated them.
 */
export function outcomeOf({
  audit,
  errorAt,
  outcome,
  status,
}: Pick<InstanceDocument, 'audit' | 'errorAt' | 'outcome' | 'status'>): InstanceOutcome | null {
  if (isLive(status)) return null;
  if (outcome !== undefined) return outcome;
  if (status === 'Complete') return 'Succeeded';
  const byAnyone = audit?.some(({ action }) => action === 'terminate') === true;
  return errorAt === undefined || byAnyone ? 'Terminated' : 'Failed';
}

/** The part of the update that records the actions: its `$push`. Empty without an entry. */
export function auditPush(...entries: readonly (AuditEntry | undefined)[]): {
  readonly audit?: { readonly $each: AuditDocument[]; readonly $slice: number };
} {
  const added = entries.filter((entry) => entry !== undefined).map(auditDocumentOf);
  if (added.length === 0) return {};
  return { audit: { $each: added, $slice: -AUDIT_ENTRIES_MAX } };
}

export function auditDocumentOf({ action, actor, detail, time }: AuditEntry): AuditDocument {
  return { time, action, actor: encodeText(actor), detail: encodeOptional(detail) };
}

export function auditEntryOf({ action, actor, detail, time }: AuditDocument): AuditEntry {
  return { time, action, actor: decodeText(actor), detail: decodeOptional(detail) };
}

export function joinedStartOf(document: JoinedStartDocument): JoinedStart {
  const { _id, body, instanceId, joinedAt = 0, requestHash } = document;
  return {
    id: decodeText(_id),
    requestHash: decodeText(requestHash),
    instanceId: decodeText(instanceId),
    joinedAt,
    body: body === undefined ? null : unpackText(body),
  };
}

export function joinedStartDocumentOf(record: JoinedStart): JoinedStartDocument {
  const { body, id, instanceId, joinedAt, requestHash } = record;
  return {
    _id: encodeText(id),
    requestHash: encodeText(requestHash),
    instanceId: encodeText(instanceId),
    joinedAt,
    ...(body !== null && { body: packText(body) }),
  };
}
