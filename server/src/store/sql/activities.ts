/** Activities as rows. */
import type { ArchivedActivity } from '../archive.js';
import type { ActivityRecord, ActivityResult, NewActivityRecord } from '../records/activities.js';
import type { Columns } from './columns.js';
import { priorityOf } from './instances.js';
import { askingOf, putOffered, removeWait, waitedAmong } from './slot-rows.js';
import { selectOne, type SqlOperations } from './statements.js';
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
  needs: ['text', needsText],
  parameters: ['text', ({ parameters }) => parameters],
  resultData: ['text', ({ result }) => result?.data ?? null],
};

export const ACTIVITY_OPERATIONS = {
  *takeOverActivity([activityId, { leaseExpiresAt, tokenHash, workerId }]) {
    const text = `UPDATE @activities
                     SET availableAt = ?, deferred = FALSE, attempt = attempt + 1, tokenHash = ?, workerId = ?
                   WHERE id = ? AND done = FALSE RETURNING *`;
    const row = yield* selectOne(text, leaseExpiresAt, tokenHash, workerId, activityId);
    if (row === null) return null;
    const taken = activityOf(row);
    if (taken.needs !== undefined) yield* removeWait(activityId);
    return taken;
  },

  *extendActivity([activityId, tokenHash, leaseExpiresAt, now]) {
    const text = `UPDATE @activities SET availableAt = ?, deferred = FALSE
                   WHERE id = ? AND tokenHash = ? AND done = FALSE AND (needs IS NULL OR (availableAt > ? AND deferred = FALSE))
                  RETURNING name, settled`;
    const row = yield* selectOne(text, leaseExpiresAt, activityId, tokenHash, now);
    return row === null ? null : { name: row.text('name'), withdrawn: row.boolean('settled') };
  },

  *releaseActivity([activityId, tokenHash, countsAttempt = true]) {
    const text = `UPDATE @activities
                     SET availableAt = createdAt, deferred = FALSE, tokenHash = NULL, workerId = NULL, attempt = attempt - ?::integer
                   WHERE id = ? AND tokenHash = ? AND done = FALSE AND settled = FALSE
                  RETURNING id, instanceId, name, needs, priority, createdAt`;
    const row = yield* selectOne(text, countsAttempt ? 0 : 1, activityId, tokenHash);
    if (row === null) return null;
    const item = itemOf(row);
    const asking = askingOf(item);
    if (asking === null) return { name: item.name, waits: [] };
    // Its slots no longer count, and the next claim replaces them.
    yield* putOffered(asking, item.name);
    return { name: item.name, waits: yield* waitedAmong(asking.needs) };
  },
} satisfies SqlOperations;

/** Null: the item needs no slots. */
export function needsText({ needs = [] }: Pick<NewActivityRecord, 'needs'>): string | null {
  return needs.length === 0 ? null : JSON.stringify(needs);
}

function itemOf(row: StoredRow) {
  const needs = row.textOrNull('needs');
  return {
    id: row.text('id'),
    instanceId: row.text('instanceId'),
    name: row.text('name'),
    priority: priorityOf(row),
    // Written by `needsText`.
    ...(needs !== null && { needs: JSON.parse(needs) as NonNullable<ActivityRecord['needs']> }),
    createdAt: row.number('createdAt'),
  };
}

export function activityOf(row: StoredRow): ActivityRecord {
  return {
    ...itemOf(row),
    parameters: row.text('parameters'),
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
