/** The queues of activities as operators see them. */
import type { OperationArguments } from '../../store-operations.js';
import type { ActivityListItem, ActivityQueue } from '../../records/activities.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';

/** A withdrawn item is no longer in the queue, but its holder may have it. */
const IS_LISTED = 'done = 0 AND (settled = 0 OR (tokenHash IS NOT NULL AND availableAt > ?))';

export function listActivityQueues(
  database: Database,
  [now, limit]: OperationArguments<'listActivityQueues'>,
): readonly ActivityQueue[] {
  return database
    .all(
      `WITH items AS (
         SELECT name, createdAt, tokenHash IS NOT NULL AND availableAt > ? AS isHeld FROM activities WHERE ${IS_LISTED}
       )
       SELECT name, COUNT(*) - SUM(isHeld) AS waiting, SUM(isHeld) AS held,
              MIN(CASE WHEN isHeld THEN NULL ELSE createdAt END) AS oldestCreatedAt
         FROM items GROUP BY name ORDER BY waiting DESC, name LIMIT ?`,
      now,
      now,
      limit,
    )
    .map((row) => ({
      name: row.text('name'),
      waiting: row.number('waiting'),
      held: row.number('held'),
      oldestCreatedAt: row.numberOrNull('oldestCreatedAt'),
    }));
}

export function listActivityItems(
  database: Database,
  [name, now, after, limit]: OperationArguments<'listActivityItems'>,
): readonly ActivityListItem[] {
  return database
    .all(
      `SELECT id, instanceId, createdAt, availableAt, attempt, workerId, deferred, tokenHash IS NOT NULL AS claimed,
              (SELECT definitionId FROM instances WHERE instances.id = instanceId) AS definitionId,
              (SELECT reference FROM instances WHERE instances.id = instanceId) AS reference
         FROM activities INDEXED BY activities_queue
        WHERE name = ? AND ${IS_LISTED} AND (availableAt, id) > (?, ?) ORDER BY availableAt, id LIMIT ?`,
      encodeText(name),
      now,
      after?.availableAt ?? -1,
      encodeText(after?.id ?? ''),
      limit,
    )
    .map((row) => ({
      id: row.text('id'),
      instanceId: row.text('instanceId'),
      createdAt: row.number('createdAt'),
      availableAt: row.number('availableAt'),
      attempt: row.number('attempt'),
      workerId: row.textOrNull('workerId'),
      claimed: row.boolean('claimed'),
      deferred: row.boolean('deferred'),
      definitionId: row.textOrNull('definitionId'),
      reference: row.textOrNull('reference'),
    }));
}
