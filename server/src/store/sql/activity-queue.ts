/** The activity queue: lists for operators. */
import type { ActivityListItem, ActivityQueue } from '../records/activities.js';
import { readRecord, type RecordColumns } from './columns.js';
import { select, type SqlOperations } from './statements.js';

/** A withdrawn item is no longer in the queue, but its holder may have it. */
const IS_LISTED =
  'done = FALSE AND (settled = FALSE OR (tokenHash IS NOT NULL AND availableAt > ?))';

const QUEUE: RecordColumns<ActivityQueue> = {
  name: 'text',
  waiting: 'number',
  held: 'number',
  oldestCreatedAt: 'number?',
};

const ITEM: RecordColumns<ActivityListItem> = {
  id: 'text',
  instanceId: 'text',
  createdAt: 'number',
  availableAt: 'number',
  attempt: 'number',
  workerId: 'text?',
  claimed: 'boolean',
  deferred: 'boolean',
  definitionId: 'text?',
  reference: 'text?',
};

export const ACTIVITY_QUEUE_OPERATIONS = {
  *listActivityQueues([now, limit]) {
    const rows = yield* select(
      `SELECT name, COUNT(*) FILTER (WHERE NOT isHeld) AS waiting, COUNT(*) FILTER (WHERE isHeld) AS held,
              MIN(createdAt) FILTER (WHERE NOT isHeld) AS oldestCreatedAt
         FROM (
           SELECT name, createdAt, tokenHash IS NOT NULL AND availableAt > ? AS isHeld FROM @activities WHERE ${IS_LISTED}
         ) AS items
        GROUP BY name ORDER BY waiting DESC, name LIMIT ?`,
      now,
      now,
      limit,
    );
    return rows.map((row) => readRecord(row, QUEUE));
  },

  *listActivityItems([name, now, after, limit]) {
    const rows = yield* select(
      `SELECT items.*, instances.definitionId, instances.reference
         FROM (
           SELECT id, instanceId, createdAt, availableAt, attempt, workerId, deferred, tokenHash IS NOT NULL AS claimed
             FROM @activities INDEXED BY activities_queue
            WHERE name = ? AND ${IS_LISTED} AND (availableAt, id) > (?, ?) ORDER BY availableAt, id LIMIT ?
         ) AS items
         LEFT JOIN @instances AS instances ON instances.id = items.instanceId
        ORDER BY items.availableAt, items.id`,
      name,
      now,
      after?.availableAt ?? -1,
      after?.id ?? '',
      limit,
    );
    return rows.map((row) => readRecord(row, ITEM));
  },
} satisfies SqlOperations;
