/** The activity queue: lists for operators. */
import { PRIORITIES } from '../../engine/model/start-options.js';
import type { ActivityListItem, ActivityQueue } from '../records/activities.js';
import { FAR_FUTURE_MS } from '../store.js';
import { readRecord, type RecordColumns } from './columns.js';
import { priorityOf } from './instances.js';
import { select, type SqlOperations } from './statements.js';

/** The indexes of the queue begin with name and priority: without a priority they find nothing in order. */
export const IN_ANY_PRIORITY = `priority IN (${PRIORITIES.join(', ')})`;

/** A withdrawn item is no longer in the queue, but its holder may have it. */
const IS_LISTED =
  'done = FALSE AND (settled = FALSE OR (tokenHash IS NOT NULL AND availableAt > ?))';

const QUEUE: RecordColumns<ActivityQueue> = {
  name: 'text',
  waiting: 'number',
  held: 'number',
  oldestCreatedAt: 'number?',
};

/** Items without and with a fairness key are in different indexes, which have them in the order of their age. */
const IS_UNKEYED = { condition: `fairnessKey = ''`, index: 'activities_queue' };
const IS_KEYED = { condition: `fairnessKey <> ''`, index: 'activities_keyed' };

/** The next items of each priority, which are then merged. */
const LISTED_OF_EACH_PRIORITY = PRIORITIES.flatMap((priority) =>
  [IS_UNKEYED, IS_KEYED].map(
    ({ condition, index }) => `SELECT * FROM (
             SELECT id, instanceId, priority, NULLIF(fairnessKey, '') AS fairnessKey, createdAt, availableAt, attempt, workerId, deferred, deferred = TRUE AND availableAt >= ${FAR_FUTURE_MS} AS limited,
                    tokenHash IS NOT NULL AS claimed
               FROM @activities INDEXED BY ${index}
              WHERE name = ? AND priority = ${priority} AND ${condition} AND ${IS_LISTED} AND (availableAt, id) > (?, ?)
              ORDER BY availableAt, id LIMIT ?
           ) AS ${index}${priority}`,
  ),
).join(' UNION ALL ');

const ITEM: RecordColumns<Omit<ActivityListItem, 'priority'>> = {
  id: 'text',
  instanceId: 'text',
  fairnessKey: 'text?',
  createdAt: 'number',
  availableAt: 'number',
  attempt: 'number',
  workerId: 'text?',
  claimed: 'boolean',
  deferred: 'boolean',
  limited: 'boolean',
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
         FROM (${LISTED_OF_EACH_PRIORITY}) AS items
         LEFT JOIN @instances AS instances ON instances.id = items.instanceId
        ORDER BY items.availableAt, items.id LIMIT ?`,
      ...[...PRIORITIES, ...PRIORITIES].flatMap(() => [
        name,
        now,
        after?.availableAt ?? -1,
        after?.id ?? '',
        limit,
      ]),
      limit,
    );
    return rows.map((row) => {
      const item = readRecord(row, ITEM);
      return { ...item, deferred: item.deferred && !item.limited, priority: priorityOf(row) };
    });
  },
} satisfies SqlOperations;
