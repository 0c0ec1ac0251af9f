/** Activities as rows. */
import type { ArchivedActivity } from '../archive.js';
import type {
  ActivityRecord,
  ActivityResult,
  HeldClaim,
  NewActivityRecord,
} from '../records/activities.js';
import type { NeededSlot } from '../records/slots.js';
import type { OperationResult } from '../store-operations.js';
import type { Columns } from './columns.js';
import { fairnessOf, priorityOf } from './instances.js';
import { askingOf } from './item-slots.js';
import { freeSlots, putOffered, waitedAmong } from './slot-rows.js';
import { selectOne, type SqlOperations, type SqlSteps } from './statements.js';
import type { StoredRow } from './stored-row.js';

export const ACTIVITY_COLUMNS: Columns<ArchivedActivity> = {
  id: ['text', ({ id }) => id],
  instanceId: ['text', ({ instanceId }) => instanceId],
  name: ['text', ({ name }) => name],
  priority: ['number', ({ priority }) => priority],
  fairnessKey: ['text', ({ fairness }) => fairness?.key ?? ''],
  fairnessWeight: ['real', ({ fairness }) => fairness?.weight ?? 1],
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
    if (taken.needs !== undefined) yield* freeSlots(activityId);
    return taken;
  },

  *extendActivity([activityId, tokenHash, leaseExpiresAt, now]) {
    const claim = { activityId, tokenHash };
    const extended = yield* extendFree(claim, leaseExpiresAt);
    if (extended !== null) return extended;
    const needs = yield* needsHeld(claim);
    return yield* extendHolding({ ...claim, slots: needs.length }, leaseExpiresAt, now);
  },

  *releaseActivity([activityId, tokenHash, countsAttempt = true]) {
    const text = `UPDATE @activities
                     SET availableAt = createdAt, deferred = FALSE, tokenHash = NULL, workerId = NULL, attempt = attempt - ?::integer
                   WHERE id = ? AND tokenHash = ? AND done = FALSE AND settled = FALSE
                  RETURNING id, instanceId, name, needs, priority, fairnessKey, fairnessWeight, createdAt`;
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

type Extended = OperationResult<'extendActivity'>;

/** Of an item that needs no slots. */
export function* extendFree(
  { activityId, tokenHash }: HeldClaim,
  leaseExpiresAt: number,
): SqlSteps<Extended> {
  const text = `UPDATE @activities SET availableAt = ?, deferred = FALSE
                 WHERE id = ? AND tokenHash = ? AND done = FALSE AND needs IS NULL RETURNING name, settled`;
  return extendedOf(yield* selectOne(text, leaseExpiresAt, activityId, tokenHash));
}

/** What the holder of the claim needs. Empty: the claim is stale, or it needs no slots. */
export function* needsHeld({ activityId, tokenHash }: HeldClaim): SqlSteps<readonly NeededSlot[]> {
  const text =
    'SELECT needs FROM @activities WHERE id = ? AND tokenHash = ? AND done = FALSE AND needs IS NOT NULL';
  const row = yield* selectOne(text, activityId, tokenHash);
  return row === null ? [] : neededOf(row.text('needs'));
}

/** Of an item that has so many slots. If its lease had ended, others may have them by now. PostgreSQL has taken the locks of the keys. */
export function* extendHolding(
  { activityId, slots, tokenHash }: HeldClaim & { readonly slots: number },
  leaseExpiresAt: number,
  now: number,
): SqlSteps<Extended> {
  if (slots === 0) return null;
  const text = `UPDATE @activities SET availableAt = ?, deferred = FALSE
                 WHERE id = ? AND tokenHash = ? AND done = FALSE AND deferred = FALSE AND availableAt > ?
                   AND (SELECT COUNT(*) FROM @slots WHERE execution = ?) = ? RETURNING name, settled`;
  const holder = [activityId, tokenHash, now, activityId, slots];
  return extendedOf(yield* selectOne(text, leaseExpiresAt, ...holder));
}

function extendedOf(row: StoredRow | null): Extended {
  return row === null ? null : { name: row.text('name'), withdrawn: row.boolean('settled') };
}

function neededOf(text: string): NonNullable<ActivityRecord['needs']> {
  // Written by `needsText`.
  return JSON.parse(text) as NonNullable<ActivityRecord['needs']>;
}

/** Null: the item needs no slots. */
export function needsText({ needs = [] }: Pick<NewActivityRecord, 'needs'>): string | null {
  return needs.length === 0 ? null : JSON.stringify(needs);
}

function itemOf(row: StoredRow) {
  const needs = row.textOrNull('needs');
  const fairness = fairnessOf(row);
  return {
    id: row.text('id'),
    instanceId: row.text('instanceId'),
    name: row.text('name'),
    priority: priorityOf(row),
    ...(fairness !== null && { fairness }),
    ...(needs !== null && { needs: neededOf(needs) }),
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
