/** Activities as rows. */
import type { ArchivedActivity } from '../archive.js';
import type { ActivityRecord, ActivityResult } from '../records/activities.js';
import type { Columns } from './columns.js';
import { selectOne, type SqlOperations } from './statements.js';
import { priorityOf } from './instances.js';
import type { StoredRow } from './stored-row.js';

export const ACTIVITY_COLUMNS: Columns<ArchivedActivity> = {
  id: ['text', ({ id }) => id],
  instanceId: ['text', ({ instanceId }) => instanceId],
  name: ['text', ({ name }) => name],
  priority: ['number', ({ priority }) => priority],
  createdAt: ['number', ({ createdAt }) => createdAt],
  availableAt: ['number', ({ availableAt }) => availableAt],
  deferred: ['boolean', ({ deferred }) => deferred],
  attempt: ['number', ({ attempt }) => attempt],
  tokenHash: ['text', ({ tokenHash }) => tokenHash],
  workerId: ['text', ({ workerId }) => workerId],
  done: ['boolean', ({ done }) => done],
  doneAt: ['number', ({ doneAt }) => doneAt],
  settled: ['boolean', ({ settled }) => settled],
  succeeded: ['boolean', ({ result }) => result?.succeeded ?? null],
  resultHash: ['text', ({ result }) => result?.hash ?? null],
  parameters: ['text', ({ parameters }) => parameters],
  resultData: ['text', ({ result }) => result?.data ?? null],
};

export const ACTIVITY_OPERATIONS = {
  *takeOverActivity([activityId, { leaseExpiresAt, tokenHash, workerId }]) {
    const text = `UPDATE @activities
                     SET availableAt = ?, deferred = FALSE, attempt = attempt + 1, tokenHash = ?, workerId = ?
                   WHERE id = ? AND done = FALSE RETURNING *`;
    const row = yield* selectOne(text, leaseExpiresAt, tokenHash, workerId, activityId);
    return row === null ? null : activityOf(row);
  },

  *extendActivity([activityId, tokenHash, leaseExpiresAt]) {
    const text = `UPDATE @activities SET availableAt = ?, deferred = FALSE
                   WHERE id = ? AND tokenHash = ? AND done = FALSE RETURNING name, settled`;
    const row = yield* selectOne(text, leaseExpiresAt, activityId, tokenHash);
    return row === null ? null : { name: row.text('name'), withdrawn: row.boolean('settled') };
  },

  *releaseActivity([activityId, tokenHash, countsAttempt = true]) {
    const text = `UPDATE @activities
                     SET availableAt = createdAt, deferred = FALSE, tokenHash = NULL, workerId = NULL, attempt = attempt - ?::integer
                   WHERE id = ? AND tokenHash = ? AND done = FALSE AND settled = FALSE RETURNING name`;
    const row = yield* selectOne(text, countsAttempt ? 0 : 1, activityId, tokenHash);
    return row?.text('name') ?? null;
  },
} satisfies SqlOperations;

export function activityOf(row: StoredRow): ActivityRecord {
  return {
    id: row.text('id'),
    instanceId: row.text('instanceId'),
    name: row.text('name'),
    parameters: row.text('parameters'),
    priority: priorityOf(row),
    createdAt: row.number('createdAt'),
    availableAt: row.number('availableAt'),
    attempt: row.number('attempt'),
    tokenHash: row.textOrNull('tokenHash'),
    workerId: row.textOrNull('workerId'),
    done: row.boolean('done'),
    withdrawn: row.boolean('settled') && row.textOrNull('resultHash') === null,
  };
}

/** Of an item that is done and has a result. */
export function activityResultOf(row: StoredRow): ActivityResult {
  return {
    succeeded: row.boolean('succeeded'),
    data: row.text('resultData'),
    hash: row.text('resultHash'),
  };
}

export function archivedActivityOf(row: StoredRow): ArchivedActivity {
  return {
    ...activityOf(row),
    deferred: row.boolean('deferred'),
    settled: row.boolean('settled'),
    doneAt: row.numberOrNull('doneAt'),
    result: row.textOrNull('resultData') === null ? null : activityResultOf(row),
  };
}
