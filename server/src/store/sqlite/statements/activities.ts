/** The queue of activities: claims, results, leases. */
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import type { ActivityRecord, ClaimedActivity } from '../../records/activities.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { activityOf, activityResultOf } from '../../sql/activities.js';
import { readActivity } from './activity-rows.js';
import { postMessage } from './messages.js';

const OLDEST_AVAILABLE = `
SELECT activities.id, activities.instanceId, activities.name, activities.createdAt, activities.availableAt,
       activities.attempt, activities.tokenHash, activities.workerId, activities.done, activities.settled,
       activities.resultHash, octet_length(activities.parameters) AS parametersLength,
       CASE WHEN octet_length(activities.parameters) <= ? THEN activities.parameters ELSE '' END AS parameters,
       instances.status AS instanceStatus
  FROM activities INDEXED BY activities_queue
  LEFT JOIN instances ON instances.id = activities.instanceId
 WHERE activities.name = ? AND activities.done = 0 AND activities.settled = 0
   AND activities.availableAt <= ?
 ORDER BY activities.availableAt, activities.id LIMIT 1`;

const DEFER_ITEMS_OF_INSTANCE = `
UPDATE activities SET availableAt = ?, deferred = 1
 WHERE instanceId = ? AND name = ? AND done = 0 AND settled = 0 AND availableAt <= ?`;

/**
 * Maximum number of suspended instances whose items one call skips. Each costs one statement, and only once per
 * `deferMs`.
 */
const PASSED_OVER_MAX = 1000;

export function claimActivity(
  database: Database,
  [request]: OperationArguments<'claimActivity'>,
): ClaimedActivity {
  const { now, claim, lengthMax = Number.MAX_SAFE_INTEGER } = request;
  const name = encodeText(request.name);
  for (let passedOver = 0; passedOver < PASSED_OVER_MAX; passedOver += 1) {
    const row = database.get(OLDEST_AVAILABLE, lengthMax, name, now);
    if (row === null) return null;
    const item = activityOf(row);
    if (row.textOrNull('instanceStatus') === 'Runnable') {
      const parametersLength = row.number('parametersLength');
      return parametersLength > lengthMax ? { parametersLength } : take(database, item, claim);
    }
    const availableAt = now + Math.max(1, request.deferMs);
    database.run(DEFER_ITEMS_OF_INSTANCE, availableAt, encodeText(item.instanceId), name, now);
  }
  return null;
}

export function getActivities(
  database: Database,
  [ids]: OperationArguments<'getActivities'>,
): readonly ActivityRecord[] {
  return ids.flatMap((id) => readActivity(database, id) ?? []);
}

export function findAvailableActivities(
  database: Database,
  [names, now]: OperationArguments<'findAvailableActivities'>,
): readonly string[] {
  return names.filter(
    (name) =>
      database.get(
        `SELECT 1 AS found FROM activities
          WHERE name = ? AND done = 0 AND settled = 0 AND availableAt <= ? LIMIT 1`,
        encodeText(name),
        now,
      ) !== null,
  );
}

export function completeActivity(
  database: Database,
  [request]: OperationArguments<'completeActivity'>,
): OperationResult<'completeActivity'> {
  const { activityId, tokenHash, result, now, message, audit } = request;
  const item = readActivity(database, activityId);
  if (item?.tokenHash !== tokenHash) return { outcome: 'stale' };
  const id = encodeText(activityId);
  if (item.done) {
    if (item.withdrawn) return { outcome: 'cancelled' };
    const stored = database.get('SELECT resultHash FROM activities WHERE id = ?', id);
    return { outcome: stored?.textOrNull('resultHash') === result.hash ? 'repeated' : 'stale' };
  }
  const { instanceId } = item;
  const posted = postMessage(database, { instanceId, message, ...(audit && { audit }) });
  database.run(
    `UPDATE activities SET done = 1, doneAt = ?, settled = ?, deferred = 0, succeeded = ?, resultHash = ?, resultData = ?
      WHERE id = ?`,
    now,
    posted === null ? 1 : 0,
    result.succeeded ? 1 : 0,
    encodeText(result.hash),
    encodeText(result.data),
    id,
  );
  return {
    outcome: 'accepted',
    activity: { ...item, done: true, withdrawn: false },
    message,
    posted,
  };
}

export function takeOverActivity(
  database: Database,
  [activityId, claim]: OperationArguments<'takeOverActivity'>,
): ActivityRecord | null {
  const item = readActivity(database, activityId);
  return item === null || item.done ? null : take(database, item, claim);
}

export function extendActivity(
  database: Database,
  [activityId, tokenHash, leaseExpiresAt]: OperationArguments<'extendActivity'>,
): OperationResult<'extendActivity'> {
  const extended = database.get(
    `UPDATE activities SET availableAt = ?, deferred = 0 WHERE id = ? AND tokenHash = ? AND done = 0
      RETURNING name, settled`,
    leaseExpiresAt,
    encodeText(activityId),
    encodeText(tokenHash),
  );
  if (extended === null) return null;
  return { name: extended.text('name'), withdrawn: extended.boolean('settled') };
}

export function releaseActivity(
  database: Database,
  [activityId, tokenHash, countsAttempt = true]: OperationArguments<'releaseActivity'>,
): string | null {
  const released = database.get(
    `UPDATE activities
        SET availableAt = createdAt, deferred = 0, tokenHash = NULL, workerId = NULL, attempt = attempt - ?
      WHERE id = ? AND tokenHash = ? AND done = 0 AND settled = 0
      RETURNING name`,
    countsAttempt ? 0 : 1,
    encodeText(activityId),
    encodeText(tokenHash),
  );
  return released === null ? null : released.text('name');
}

export function withdrawActivities(
  database: Database,
  [ids]: OperationArguments<'withdrawActivities'>,
): readonly ActivityRecord[] {
  for (const id of ids) {
    database.run(
      `UPDATE activities SET settled = 1, availableAt = IIF(deferred, createdAt, availableAt), deferred = 0
        WHERE id = ? AND done = 0 AND settled = 0`,
      encodeText(id),
    );
  }
  return getActivities(database, [[...new Set(ids)]]);
}

export function findUnsettledActivities(
  database: Database,
  [doneBefore, limit, after]: OperationArguments<'findUnsettledActivities'>,
): OperationResult<'findUnsettledActivities'> {
  const position = after === undefined ? [] : [after.doneAt, encodeText(after.id)];
  return database
    .all(
      `SELECT * FROM activities
        WHERE done = 1 AND settled = 0 AND doneAt < ? ${after === undefined ? '' : 'AND (doneAt, id) > (?, ?)'}
        ORDER BY doneAt, id LIMIT ?`,
      doneBefore,
      ...position,
      limit,
    )
    .map((row) => ({
      ...activityOf(row),
      doneAt: row.number('doneAt'),
      result: activityResultOf(row),
    }));
}

function take(
  database: Database,
  item: ActivityRecord,
  { tokenHash, workerId, leaseExpiresAt }: OperationArguments<'claimActivity'>[0]['claim'],
): ActivityRecord {
  const attempt = item.attempt + 1;
  database.run(
    'UPDATE activities SET availableAt = ?, deferred = 0, attempt = ?, tokenHash = ?, workerId = ? WHERE id = ?',
    leaseExpiresAt,
    attempt,
    encodeText(tokenHash),
    encodeText(workerId),
    encodeText(item.id),
  );
  return { ...item, availableAt: leaseExpiresAt, attempt, tokenHash, workerId };
}
