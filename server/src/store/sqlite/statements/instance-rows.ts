/** Instances as rows: reading and writing them as a whole. */
import type {
  InstanceFailure,
  InstanceOutcome,
  InstanceRecord,
  InstanceStatus,
  InstanceSummary,
} from '../../records/instances.js';
import { inboxBytes } from '../../records/messages.js';
import { failingSinceIn, storedFailingSince } from '../../failing-since.js';
import {
  failureIn,
  failureText,
  indexIn,
  indexText,
  tagsIn,
  tagsText,
} from '../../json-columns.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import type { Row } from '../row.js';
import { insertTerms } from './terms.js';
import { insertInbox, readInbox } from './messages.js';

export const SUMMARY_COLUMNS =
  'id, definitionId, version, reference, tags, fields, status, startTime, endTime, outcome, parentId, rootId, lastChangeAt, errorAt, ' +
  'failingSince, failingErrorAt, failureKey, failure, wakeAt, owner, epoch, inSeq, revision, underWay, crashes, schemaVersion, requestHash, restartOf, restartedAs, retentionMs, startedBy';

const INSERT_INSTANCE = `INSERT INTO instances (${SUMMARY_COLUMNS}, inboxBytes, input, state)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Longer inputs are in a table of their own: every commit writes the whole row of its instance. */
const INPUT_LENGTH_MAX = 1000;

export function readInstance(database: Database, id: string): InstanceRecord | null {
  const row = database.get('SELECT * FROM instances WHERE id = ?', encodeText(id));
  if (row === null) return null;
  return { ...summaryOf(row), inbox: readInbox(database, id), state: row.text('state') };
}

/** With its inbox and its terms. */
export function insertInstanceRow(
  database: Database,
  record: InstanceRecord,
  input: string | null,
): void {
  const { failingErrorAt, failingSince } = storedFailingSince(record);
  const [tags, fields] = [tagsText(record.tags), indexText(record.index)];
  const isLong = input !== null && input.length > INPUT_LENGTH_MAX;
  database.run(
    INSERT_INSTANCE,
    encodeText(record.id),
    encodeText(record.definitionId),
    record.version,
    encodeOptional(record.reference),
    encodeOptional(tags),
    encodeOptional(fields),
    record.status,
    record.startTime,
    record.endTime,
    record.outcome,
    encodeOptional(record.parentId),
    encodeOptional(record.rootId),
    record.lastChangeAt,
    record.errorAt,
    failingSince,
    failingErrorAt,
    record.failure?.key ?? null,
    encodedFailure(record.failure),
    record.wakeAt,
    encodeOptional(record.owner),
    record.epoch,
    record.inSeq,
    record.revision,
    record.underWay ? 1 : 0,
    record.crashes,
    record.schemaVersion,
    encodeOptional(record.requestHash),
    encodeOptional(record.restartOf),
    encodeOptional(record.restartedAs),
    record.retentionMs,
    encodeOptional(record.startedBy),
    inboxBytes(record.inbox),
    input === null || isLong ? null : encodeText(input),
    encodeText(record.state),
  );
  if (isLong) {
    const id = encodeText(record.id);
    database.run('INSERT INTO inputs (instanceId, body) VALUES (?, ?)', id, encodeText(input));
  }
  insertInbox(database, record.id, record.inbox);
  insertTerms(database, record);
}

export function encodedFailure(failure: InstanceFailure | null): string | null {
  const text = failureText(failure);
  return encodeOptional(text);
}

export function readInput(database: Database, id: string): string | null {
  const row = database.get(
    `SELECT COALESCE(instances.input, inputs.body) AS input
       FROM instances LEFT JOIN inputs ON instanceId = instances.id WHERE instances.id = ?`,
    encodeText(id),
  );
  return row?.textOrNull('input') ?? null;
}

export function summaryOf(row: Row): InstanceSummary {
  return {
    id: row.text('id'),
    definitionId: row.text('definitionId'),
    version: row.number('version'),
    reference: row.textOrNull('reference'),
    tags: tagsIn(row.textOrNull('tags')),
    index: indexIn(row.textOrNull('fields')),
    status: statusOf(row.text('status')),
    startTime: row.number('startTime'),
    endTime: row.numberOrNull('endTime'),
    outcome: outcomeOf(row.textOrNull('outcome')),
    parentId: row.textOrNull('parentId'),
    rootId: row.textOrNull('rootId'),
    lastChangeAt: row.number('lastChangeAt'),
    errorAt: row.numberOrNull('errorAt'),
    failingSince: failingSinceOf(row),
    failure: failureIn(row.textOrNull('failureKey'), row.textOrNull('failure')),
    wakeAt: row.numberOrNull('wakeAt'),
    owner: row.textOrNull('owner'),
    epoch: row.number('epoch'),
    inSeq: row.number('inSeq'),
    revision: row.number('revision'),
    underWay: row.number('underWay') !== 0,
    crashes: row.number('crashes'),
    schemaVersion: row.number('schemaVersion'),
    requestHash: row.textOrNull('requestHash'),
    restartOf: row.textOrNull('restartOf'),
    restartedAs: row.textOrNull('restartedAs'),
    retentionMs: row.numberOrNull('retentionMs'),
    startedBy: row.textOrNull('startedBy'),
  };
}

export function failingSinceOf(row: Row): number | null {
  return failingSinceIn(row.numberOrNull('errorAt'), {
    failingSince: row.numberOrNull('failingSince'),
    failingErrorAt: row.numberOrNull('failingErrorAt'),
  });
}

export function statusOf(text: string): InstanceStatus {
  switch (text) {
    case 'Runnable':
    case 'Suspended':
    case 'Complete':
    case 'Terminated':
      return text;
    default:
      throw new TypeError(`Unknown instance status ${text}`);
  }
}

function outcomeOf(text: string | null): InstanceOutcome | null {
  switch (text) {
    case null:
    case 'Succeeded':
    case 'Compensated':
    case 'Failed':
    case 'Terminated':
      return text;
    default:
      throw new TypeError(`Unknown instance outcome ${text}`);
  }
}
