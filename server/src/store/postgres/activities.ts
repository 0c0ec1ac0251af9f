/** Activities after they were handed out: leases, take-overs, and completed ones whose instances have not settled them. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type { ActivityRecord } from '../records/activities.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { PostgresContext } from './postgres-context.js';
import { activityOf, activityResultOf } from '../sql/activities.js';

export async function getActivities(
  { database }: PostgresContext,
  [ids]: OperationArguments<'getActivities'>,
): Promise<readonly ActivityRecord[]> {
  const rows = await database.query('SELECT * FROM @activities WHERE id = ANY($1::text[])', [
    ids.map(encodeTextWithoutNul),
  ]);
  return rows.map(activityOf);
}

export async function findAvailableActivities(
  { database }: PostgresContext,
  [names, now]: OperationArguments<'findAvailableActivities'>,
): Promise<readonly string[]> {
  const rows = await database.query(
    `SELECT asked.name FROM unnest($1::text[]) AS asked (name)
      WHERE EXISTS (
        SELECT FROM @activities AS queued
         WHERE queued.name = asked.name AND NOT queued.done AND NOT queued.settled
           AND queued.available_at <= $2::bigint)`,
    [names.map(encodeTextWithoutNul), now],
  );
  const available = new Set(rows.map((row) => row.text('name')));
  return names.filter((name) => available.has(name));
}

export async function takeOverActivity(
  { database }: PostgresContext,
  [activityId, { leaseExpiresAt, tokenHash, workerId }]: OperationArguments<'takeOverActivity'>,
): Promise<ActivityRecord | null> {
  const [row] = await database.query(
    `UPDATE @activities
        SET available_at = $2::bigint, deferred = false, attempt = attempt + 1, token_hash = $3, worker_id = $4
      WHERE id = $1 AND NOT done RETURNING *`,
    [
      encodeTextWithoutNul(activityId),
      leaseExpiresAt,
      encodeTextWithoutNul(tokenHash),
      encodeTextWithoutNul(workerId),
    ],
  );
  return row === undefined ? null : activityOf(row);
}

export async function extendActivity(
  { database }: PostgresContext,
  [activityId, tokenHash, leaseExpiresAt]: OperationArguments<'extendActivity'>,
): Promise<OperationResult<'extendActivity'>> {
  const [row] = await database.query(
    `UPDATE @activities SET available_at = $3::bigint, deferred = false
      WHERE id = $1 AND token_hash = $2 AND NOT done RETURNING name, settled`,
    [encodeTextWithoutNul(activityId), encodeTextWithoutNul(tokenHash), leaseExpiresAt],
  );
  return row === undefined ? null : { name: row.text('name'), withdrawn: row.boolean('settled') };
}

export async function releaseActivity(
  { database }: PostgresContext,
  [activityId, tokenHash, countsAttempt = true]: OperationArguments<'releaseActivity'>,
): Promise<string | null> {
  const [row] = await database.query(
    `UPDATE @activities
        SET available_at = created_at, deferred = false, token_hash = NULL, worker_id = NULL, attempt = attempt - $3::integer
      WHERE id = $1 AND token_hash = $2 AND NOT done AND NOT settled RETURNING name`,
    [encodeTextWithoutNul(activityId), encodeTextWithoutNul(tokenHash), countsAttempt ? 0 : 1],
  );
  return row?.text('name') ?? null;
}

/**
 * Waits for claims that are taking some of these items, so that the answer shows them. Items that others lock at the same
 * time are locked in the order of their ids.
 */
export async function withdrawActivities(
  { database }: PostgresContext,
  [ids]: OperationArguments<'withdrawActivities'>,
): Promise<readonly ActivityRecord[]> {
  const rows = await database.query(
    `WITH item AS MATERIALIZED (
       SELECT * FROM @activities WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE
     ),
     withdrawn AS (
       UPDATE @activities AS a
          SET settled = true, deferred = false,
              available_at = CASE WHEN item.deferred THEN item.created_at ELSE item.available_at END
         FROM item WHERE a.id = item.id AND NOT item.done AND NOT item.settled
       RETURNING a.*
     )
     SELECT * FROM withdrawn UNION ALL SELECT * FROM item WHERE done OR settled`,
    [ids.map(encodeTextWithoutNul)],
  );
  return rows.map(activityOf);
}

/**
 * Items of instances that have ended or been removed in the meantime are settled here. The commit that ended the instance
 * does not look for them, because there are hardly ever any.
 */
export async function findUnsettledActivities(
  { database }: PostgresContext,
  [doneBefore, limit, after]: OperationArguments<'findUnsettledActivities'>,
): Promise<OperationResult<'findUnsettledActivities'>> {
  const rows = await database.query(
    `WITH found AS MATERIALIZED (
       SELECT item.*, EXISTS (
         SELECT FROM @instances AS instance
          WHERE instance.id = item.instance_id AND instance.status IN ('Runnable', 'Suspended')) AS is_wanted
         FROM @activities AS item WHERE item.done AND NOT item.settled AND item.done_at < $1::bigint
               ${after === undefined ? '' : 'AND (item.done_at, item.id) > ($3::bigint, $4::text)'}
        ORDER BY item.done_at, item.id LIMIT $2::bigint
     ),
     unwanted AS (
       UPDATE @activities AS item SET settled = true FROM found WHERE item.id = found.id AND NOT found.is_wanted
     )
     SELECT * FROM found WHERE is_wanted ORDER BY done_at, id`,
    [
      doneBefore,
      limit,
      ...(after === undefined ? [] : [after.doneAt, encodeTextWithoutNul(after.id)]),
    ],
  );
  return rows.map((row) => ({
    ...activityOf(row),
    doneAt: row.number('done_at'),
    result: activityResultOf(row),
  }));
}
