/** Claimed activities: results, leases, takeovers, and completed items that their instances haven't settled. */
import type { ActivityRecord } from '../../records/activities.js';
import { ACTIVITY_OPERATIONS, activityOf, activityResultOf } from '../../sql/activities.js';
import { waitedAmong } from '../../sql/slot-rows.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import { FAR_FUTURE_MS } from '../../store.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';
import { readActivity } from './activity-rows.js';
import { postMessage } from './messages.js';

export function getActivities(
  database: Database,
  [ids]: OperationArguments<'getActivities'>,
): readonly ActivityRecord[] {
  return ids.flatMap((id) => readActivity(database, id) ?? []);
}

export function completeActivity(
  database: Database,
  [request]: OperationArguments<'completeActivity'>,
): OperationResult<'completeActivity'> {
  const { activityId, tokenHash, result, now, message, audit, claimer } = request;
  const item = readActivity(database, activityId);
  if (item?.tokenHash !== tokenHash) return { outcome: 'stale' };
  const id = encodeText(activityId);
  if (item.done) {
    if (item.withdrawn) return { outcome: 'canceled' };
    const stored = database.get('SELECT resultHash FROM activities WHERE id = ?', id);
    return { outcome: stored?.textOrNull('resultHash') === result.hash ? 'repeated' : 'stale' };
  }
  const { instanceId } = item;
  const posted = postMessage(database, { instanceId, message, ...(audit && { audit }) }, claimer);
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
    ...(item.needs !== undefined && { waits: runSteps(database, waitedAmong(item.needs)) }),
  };
}

export function keepClaims(
  database: Database,
  [claims, now]: OperationArguments<'keepClaims'>,
): void {
  for (const { activityId, tokenHash } of claims) {
    runSteps(
      database,
      ACTIVITY_OPERATIONS.extendActivity([activityId, tokenHash, FAR_FUTURE_MS, now]),
    );
  }
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
