/** Instances as rows. The stores keep the inbox and a long input in different ways. */
import type { Fairness, Priority } from '../../engine/model/start-options.js';
import { failingSinceIn, storedFailingSince } from '../failing-since.js';
import { failureIn, failureText, indexIn, indexText, tagsIn, tagsText } from '../json-columns.js';
import type {
  HistoryRecord,
  InstanceClaim,
  InstanceOutcome,
  InstanceRecord,
  InstanceStatus,
  InstanceSummary,
  QueuePosition,
} from '../records/instances.js';
import type { Place } from '../records/places.js';
import { FAR_FUTURE_MS } from '../store.js';
import { columnsOf, namesOf, readRecord, type Columns, type RecordColumns } from './columns.js';
import { change, select, selectOne, type SqlOperations, type SqlSteps } from './statements.js';
import type { StoredRow } from './stored-row.js';

/** The columns of an instance in a list. */
export const SUMMARY_COLUMNS: Columns<InstanceSummary> = {
  id: ['text', ({ id }) => id],
  definitionId: ['text', ({ definitionId }) => definitionId],
  version: ['number', ({ version }) => version],
  reference: ['text', ({ reference }) => reference],
  tags: ['text', ({ tags }) => tagsText(tags)],
  fields: ['text', ({ index }) => indexText(index)],
  status: ['text', ({ status }) => status],
  startTime: ['number', ({ startTime }) => startTime],
  endTime: ['number', ({ endTime }) => endTime],
  outcome: ['text', ({ outcome }) => outcome],
  parentId: ['text', ({ parentId }) => parentId],
  rootId: ['text', ({ rootId }) => rootId],
  lastChangeAt: ['number', ({ lastChangeAt }) => lastChangeAt],
  errorAt: ['number', ({ errorAt }) => errorAt],
  failingSince: ['number', (record) => storedFailingSince(record).failingSince],
  failingErrorAt: ['number', (record) => storedFailingSince(record).failingErrorAt],
  failureKey: ['text', ({ failure }) => failure?.key ?? null],
  failure: ['text', ({ failure }) => failureText(failure)],
  wakeAt: ['number', ({ wakeAt }) => wakeAt],
  owner: ['text', ({ owner }) => owner],
  epoch: ['number', ({ epoch }) => epoch],
  inSeq: ['number', ({ inSeq }) => inSeq],
  revision: ['number', ({ revision }) => revision],
  underWay: ['boolean', ({ underWay }) => underWay],
  crashes: ['number', ({ crashes }) => crashes],
  schemaVersion: ['number', ({ schemaVersion }) => schemaVersion],
  requestHash: ['text', ({ requestHash }) => requestHash],
  restartOf: ['text', ({ restartOf }) => restartOf],
  restartedAs: ['text', ({ restartedAs }) => restartedAs],
  priority: ['number', ({ priority }) => priority],
  fairnessKey: ['text', ({ fairness }) => fairness?.key ?? ''],
  fairnessWeight: ['real', ({ fairness }) => fairness?.weight ?? 1],
  queued: ['boolean', ({ queued }) => queued],
  countsFrom: ['number', ({ countsFrom }) => countsFrom],
  debounceKey: ['text', ({ debounceKey }) => debounceKey],
  concurrencyKey: ['text', ({ concurrencyKey }) => concurrencyKey],
  place: ['text', ({ place }) => place],
  retentionMs: ['number', ({ retentionMs }) => retentionMs],
  startedBy: ['text', ({ startedBy }) => startedBy],
};

export const SUMMARY_NAMES = namesOf(SUMMARY_COLUMNS);

/** The columns of an instance, except its inbox. */
export const INSTANCE_COLUMNS: Columns<InstanceRecord> = {
  ...SUMMARY_COLUMNS,
  state: ['text', ({ state }) => state],
};

export const HISTORY: RecordColumns<HistoryRecord> = {
  instanceId: 'text',
  sequence: 'number',
  body: 'text',
};

export const HISTORY_COLUMNS = columnsOf(HISTORY);

const CLAIM: RecordColumns<InstanceClaim> = {
  id: 'text',
  owner: 'text?',
  epoch: 'number',
  wakeAt: 'number?',
  underWay: 'boolean',
  crashes: 'number',
  lastChangeAt: 'number',
  schemaVersion: 'number',
};

export const CLAIM_NAMES = Object.keys(CLAIM);

export const INSTANCE_OPERATIONS = {
  *setCrashes([id, epoch, crashes]) {
    const text = 'UPDATE @instances SET crashes = ? WHERE id = ? AND epoch = ?';
    return (yield* change(text, crashes, id, epoch)) > 0;
  },

  *readHistory([instanceId, from, limit]) {
    const text = `SELECT sequence, body FROM @history WHERE instanceId = ? AND sequence >= ?::bigint
                   ORDER BY sequence LIMIT ?`;
    const rows = yield* select(text, instanceId, from, limit);
    return rows.map((row) => ({
      instanceId,
      sequence: row.number('sequence'),
      body: row.text('body'),
    }));
  },
} satisfies SqlOperations;

interface Position {
  readonly at: number;
  readonly id: string;
}

const IN_QUEUE = `reference = ? {AND reference IS NOT NULL} AND definitionId = ? AND status IN ('Runnable', 'Suspended')`;

/** The last open one of a queue before a position, of those that count from their start. */
const STARTED = `SELECT * FROM (
      SELECT id, startTime AS since FROM @instances INDEXED BY instances_open_reference
       WHERE ${IN_QUEUE} AND countsFrom IS NULL AND (startTime, id) < (?::bigint, ?::text)
       ORDER BY startTime DESC, id DESC LIMIT 1
    ) AS started`;

/** The same of the others. */
const DUE = `SELECT * FROM (
      SELECT id, countsFrom AS since FROM @instances INDEXED BY instances_later
       WHERE ${IN_QUEUE} AND countsFrom IS NOT NULL AND (countsFrom, id) < (?::bigint, ?::text)
       ORDER BY countsFrom DESC, id DESC LIMIT 1
    ) AS due`;

/** The last one that has entered the queue, whatever the clock of its node said. */
const ENTERED = `SELECT * FROM (
      SELECT id, countsFrom AS since FROM @instances INDEXED BY instances_entered
       WHERE ${IN_QUEUE} AND countsFrom IS NOT NULL AND (queued = TRUE OR place <> 'later')
       ORDER BY countsFrom DESC, id DESC LIMIT 1
    ) AS entered`;

function lastOf(...parts: readonly string[]): string {
  const all = parts.join(' UNION ALL ');
  return `SELECT id FROM (${all}) AS waiting ORDER BY since DESC, id DESC LIMIT 1`;
}

const LAST_BEFORE = lastOf(STARTED, DUE);
const LAST_COUNTING = lastOf(STARTED, DUE, ENTERED);

/** The id of the last instance before a position. */
export function* lastBefore(
  { definitionId, reference }: Pick<QueuePosition, 'definitionId' | 'reference'>,
  { at, id }: Position,
): SqlSteps<string | null> {
  const before = [reference, definitionId, at, id] as const;
  return (yield* selectOne(LAST_BEFORE, ...before, ...before))?.text('id') ?? null;
}

/** The id of the last instance that counts for a start at this time: see `countsAt`. */
export function* lastCounting(
  { definitionId, reference }: Pick<QueuePosition, 'definitionId' | 'reference'>,
  startTime: number,
): SqlSteps<string | null> {
  const queue = [reference, definitionId] as const;
  const values = [...queue, FAR_FUTURE_MS, '', ...queue, startTime + 1, '', ...queue] as const;
  return (yield* selectOne(LAST_COUNTING, ...values))?.text('id') ?? null;
}

export function claimOf(row: StoredRow): InstanceClaim {
  return readRecord(row, CLAIM);
}

/** A literal, not `readRecord`: every pass reads an instance, and objects of this size are slow if built by name. */
export function summaryOf(row: StoredRow): InstanceSummary {
  return {
    id: row.text('id'),
    definitionId: row.text('definitionId'),
    version: row.number('version'),
    reference: row.textOrNull('reference'),
    tags: tagsIn(row.textOrNull('tags')),
    index: indexIn(row.textOrNull('fields')),
    status: statusOf(row),
    startTime: row.number('startTime'),
    endTime: row.numberOrNull('endTime'),
    outcome: row.textOrNull('outcome') as InstanceOutcome | null,
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
    underWay: row.boolean('underWay'),
    crashes: row.number('crashes'),
    schemaVersion: row.number('schemaVersion'),
    requestHash: row.textOrNull('requestHash'),
    restartOf: row.textOrNull('restartOf'),
    restartedAs: row.textOrNull('restartedAs'),
    priority: priorityOf(row),
    fairness: fairnessOf(row),
    queued: row.boolean('queued'),
    countsFrom: row.numberOrNull('countsFrom'),
    debounceKey: row.textOrNull('debounceKey'),
    concurrencyKey: row.textOrNull('concurrencyKey'),
    place: row.textOrNull('place') as Place | null,
    retentionMs: row.numberOrNull('retentionMs'),
    startedBy: row.textOrNull('startedBy'),
  };
}

export function failingSinceOf(row: StoredRow): number | null {
  return failingSinceIn(row.numberOrNull('errorAt'), {
    failingSince: row.numberOrNull('failingSince'),
    failingErrorAt: row.numberOrNull('failingErrorAt'),
  });
}

/** Only this server writes this column. */
export function priorityOf(row: StoredRow): Priority {
  return row.number('priority') as Priority;
}

export function fairnessOf(row: StoredRow): Fairness | null {
  const key = row.text('fairnessKey');
  return key === '' ? null : { key, weight: row.number('fairnessWeight') };
}

/** Only this server writes this column and the outcome. */
export function statusOf(row: StoredRow): InstanceStatus {
  return row.text('status') as InstanceStatus;
}
