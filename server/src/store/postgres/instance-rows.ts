/** Instances as rows. */
import { failingSinceIn, storedFailingSince } from '../failing-since.js';
import { failureIn, failureText, indexIn, indexText, tagsIn, tagsText } from '../json-columns.js';
import type {
  InstanceOutcome,
  InstanceRecord,
  InstanceStatus,
  InstanceSummary,
} from '../records/instances.js';
import { OVERFLOW_MESSAGE } from '../records/messages.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Columns } from './parameters.js';
import type { Row } from './row.js';

export function encodeOptional(text: string | null): string | null {
  return text === null ? null : encodeTextWithoutNul(text);
}

/** The columns that an insert writes, except the inbox. */
export const INSERTED_COLUMNS: Columns<InstanceRecord> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  definition_id: ['text', ({ definitionId }) => encodeTextWithoutNul(definitionId)],
  version: ['bigint', ({ version }) => version],
  reference: ['text', ({ reference }) => encodeOptional(reference)],
  tags: ['text', ({ tags }) => encodeOptional(tagsText(tags))],
  fields: ['text', ({ index }) => encodeOptional(indexText(index))],
  status: ['text', ({ status }) => status],
  start_time: ['bigint', ({ startTime }) => startTime],
  end_time: ['bigint', ({ endTime }) => endTime],
  outcome: ['text', ({ outcome }) => outcome],
  parent_id: ['text', ({ parentId }) => encodeOptional(parentId)],
  root_id: ['text', ({ rootId }) => encodeOptional(rootId)],
  last_change_at: ['bigint', ({ lastChangeAt }) => lastChangeAt],
  error_at: ['bigint', ({ errorAt }) => errorAt],
  failing_since: ['bigint', (record) => storedFailingSince(record).failingSince],
  failing_error_at: ['bigint', (record) => storedFailingSince(record).failingErrorAt],
  failure_key: ['text', ({ failure }) => failure?.key ?? null],
  failure: ['text', ({ failure }) => encodeOptional(failureText(failure))],
  wake_at: ['bigint', ({ wakeAt }) => wakeAt],
  owner: ['text', ({ owner }) => encodeOptional(owner)],
  epoch: ['bigint', ({ epoch }) => epoch],
  in_seq: ['bigint', ({ inSeq }) => inSeq],
  revision: ['bigint', ({ revision }) => revision],
  under_way: ['boolean', ({ underWay }) => underWay],
  crashes: ['bigint', ({ crashes }) => crashes],
  schema_version: ['bigint', ({ schemaVersion }) => schemaVersion],
  request_hash: ['text', ({ requestHash }) => encodeOptional(requestHash)],
  restart_of: ['text', ({ restartOf }) => encodeOptional(restartOf)],
  restarted_as: ['text', ({ restartedAs }) => encodeOptional(restartedAs)],
  retention_ms: ['bigint', ({ retentionMs }) => retentionMs],
  started_by: ['text', ({ startedBy }) => encodeOptional(startedBy)],
  state: ['text', ({ state }) => encodeTextWithoutNul(state)],
};

const SUMMARY_NAMES = Object.keys(INSERTED_COLUMNS).filter((name) => name !== 'state');

/** The columns of an instance in a list. */
export const SUMMARY_COLUMNS = SUMMARY_NAMES.join(', ');
/** The columns of a whole instance. */
export const RECORD_COLUMNS = [...SUMMARY_NAMES, 'inbox_ids', 'inbox_bodies', 'state'].join(', ');

export function instanceOf(row: Row): InstanceRecord {
  const bodies = row.texts('inbox_bodies');
  return {
    ...summaryOf(row),
    // There are as many bodies as ids.
    inbox: row.texts('inbox_ids').map((id, index) => ({ id, body: bodies[index] ?? '' })),
    state: row.text('state'),
  };
}

export function summaryOf(row: Row): InstanceSummary {
  return {
    id: row.text('id'),
    definitionId: row.text('definition_id'),
    version: row.number('version'),
    reference: row.textOrNull('reference'),
    tags: tagsIn(row.textOrNull('tags')),
    index: indexIn(row.textOrNull('fields')),
    // Only this server writes these columns.
    status: row.text('status') as InstanceStatus,
    startTime: row.number('start_time'),
    endTime: row.numberOrNull('end_time'),
    outcome: row.textOrNull('outcome') as InstanceOutcome | null,
    parentId: row.textOrNull('parent_id'),
    rootId: row.textOrNull('root_id'),
    lastChangeAt: row.number('last_change_at'),
    errorAt: row.numberOrNull('error_at'),
    failingSince: failingSinceOf(row),
    failure: failureIn(row.textOrNull('failure_key'), row.textOrNull('failure')),
    wakeAt: row.numberOrNull('wake_at'),
    owner: row.textOrNull('owner'),
    epoch: row.number('epoch'),
    inSeq: row.number('in_seq'),
    revision: row.number('revision'),
    underWay: row.boolean('under_way'),
    crashes: row.number('crashes'),
    schemaVersion: row.number('schema_version'),
    requestHash: row.textOrNull('request_hash'),
    restartOf: row.textOrNull('restart_of'),
    restartedAs: row.textOrNull('restarted_as'),
    retentionMs: row.numberOrNull('retention_ms'),
    startedBy: row.textOrNull('started_by'),
  };
}

export function failingSinceOf(row: Row): number | null {
  return failingSinceIn(row.numberOrNull('error_at'), {
    failingSince: row.numberOrNull('failing_since'),
    failingErrorAt: row.numberOrNull('failing_error_at'),
  });
}

/** The part of a statement that updates `wakes` for the instances in `source`, which the statement has changed. */
export function wakesOf(source: string): string {
  return `woken AS (
  INSERT INTO @wakes (id, owner, wake_at, under_way)
  SELECT id, owner, wake_at, under_way FROM ${source} WHERE wake_at IS NOT NULL OR under_way ORDER BY id
  ON CONFLICT (id) DO UPDATE SET owner = EXCLUDED.owner, wake_at = EXCLUDED.wake_at, under_way = EXCLUDED.under_way
)`;
}

/** Expressions for the message that replaces those that do not fit (rule S8), and for whether the inbox of `i` has it. */
export const OVERFLOW_ID = `'${OVERFLOW_MESSAGE.id}'::text`;
export const OVERFLOW_BODY = `'${OVERFLOW_MESSAGE.body}'::text`;
export const HAS_OVERFLOWED = `${OVERFLOW_ID} = ANY(i.inbox_ids)`;
