/** The queues of activities as operators see them. */
import type { OperationArguments } from '../store-operations.js';
import type { ActivityListItem, ActivityQueue } from '../records/activities.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { PostgresContext } from './postgres-context.js';

/** A withdrawn item is no longer in the queue, but its holder may have it. */
const isListedAt = (now: '$1' | '$5'): string =>
  `NOT done AND (NOT settled OR (token_hash IS NOT NULL AND available_at > ${now}::bigint))`;

export async function listActivityQueues(
  { database }: PostgresContext,
  [now, limit]: OperationArguments<'listActivityQueues'>,
): Promise<readonly ActivityQueue[]> {
  const rows = await database.query(
    `SELECT name, count(*) FILTER (WHERE NOT is_held) AS waiting, count(*) FILTER (WHERE is_held) AS held,
            min(created_at) FILTER (WHERE NOT is_held) AS oldest
       FROM (
         SELECT name, created_at, token_hash IS NOT NULL AND available_at > $1::bigint AS is_held
           FROM @activities WHERE ${isListedAt('$1')}
       ) AS items
      GROUP BY name ORDER BY waiting DESC, name LIMIT $2::bigint`,
    [now, limit],
  );
  return rows.map((row) => ({
    name: row.text('name'),
    waiting: row.number('waiting'),
    held: row.number('held'),
    oldestCreatedAt: row.numberOrNull('oldest'),
  }));
}

export async function listActivityItems(
  { database }: PostgresContext,
  [name, now, after, limit]: OperationArguments<'listActivityItems'>,
): Promise<readonly ActivityListItem[]> {
  const rows = await database.query(
    `SELECT items.*, instances.definition_id, instances.reference
       FROM (
         SELECT id, instance_id, created_at, available_at, attempt, worker_id, deferred, token_hash IS NOT NULL AS claimed
           FROM @activities
          WHERE name = $1 AND ${isListedAt('$5')} AND (available_at, id) > ($2::bigint, $3)
          ORDER BY available_at, id LIMIT $4::bigint
       ) AS items
       LEFT JOIN @instances AS instances ON instances.id = items.instance_id
      ORDER BY items.available_at, items.id`,
    [
      encodeTextWithoutNul(name),
      after?.availableAt ?? -1,
      encodeTextWithoutNul(after?.id ?? ''),
      limit,
      now,
    ],
  );
  return rows.map((row) => ({
    id: row.text('id'),
    instanceId: row.text('instance_id'),
    createdAt: row.number('created_at'),
    availableAt: row.number('available_at'),
    attempt: row.number('attempt'),
    workerId: row.textOrNull('worker_id'),
    claimed: row.boolean('claimed'),
    deferred: row.boolean('deferred'),
    definitionId: row.textOrNull('definition_id'),
    reference: row.textOrNull('reference'),
  }));
}
