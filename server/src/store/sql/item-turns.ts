/** The order in which the items of an activity are handed out, if some of them have fairness keys. */
import type { ActivityRecord } from '../records/activities.js';
import { itemsQueueOf, type Line } from '../records/turns.js';
import { IN_ANY_PRIORITY } from './activity-queue.js';
import { priorityOf } from './instances.js';
import { selectOne, type SqlSteps } from './statements.js';
import { nextKeys, type Heads } from './turns.js';

export function itemsLineOf({ name, priority }: Pick<ActivityRecord, 'name' | 'priority'>): Line {
  return { queue: itemsQueueOf(name), priority };
}

/** A condition. Parameter: the name. Sorted, so that PostgreSQL always uses the index. */
export const HAS_KEYED_ITEMS = `(SELECT 1 FROM @activities AS keyed INDEXED BY activities_keyed
  WHERE keyed.name = ? AND keyed.fairnessKey <> '' AND keyed.done = FALSE
  ORDER BY keyed.priority, keyed.availableAt, keyed.id LIMIT 1) IS NOT NULL`;

export function* hasKeyedItems(name: string): SqlSteps<boolean> {
  return (yield* selectOne(`SELECT 1 AS found WHERE ${HAS_KEYED_ITEMS}`, name)) !== null;
}

const IS_AVAILABLE = 'item.done = FALSE AND item.settled = FALSE AND item.availableAt <= ?::bigint';
const IN_ORDER = 'ORDER BY item.priority, item.availableAt, item.id LIMIT 1';

/** The oldest of the lowest number as priority, with and without a key. */
const OLDEST = `SELECT id, priority FROM (
    SELECT * FROM (SELECT item.id, item.priority, item.availableAt FROM @activities AS item INDEXED BY activities_queue
      WHERE item.name = ? AND item.fairnessKey = '' AND item.${IN_ANY_PRIORITY} AND ${IS_AVAILABLE} ${IN_ORDER}) AS others
    UNION ALL
    SELECT * FROM (SELECT item.id, item.priority, item.availableAt FROM @activities AS item INDEXED BY activities_keyed
      WHERE item.name = ? AND item.fairnessKey <> '' AND item.${IN_ANY_PRIORITY} AND ${IS_AVAILABLE} ${IN_ORDER}) AS keyed
  ) AS oldest ORDER BY priority, availableAt, id LIMIT 1`;

/** The first item of the key of `t`. Parameters: the name and the time. */
const HEAD = `SELECT item.id FROM @activities AS item INDEXED BY activities_queue
  WHERE item.name = ? AND item.priority = t.priority AND item.fairnessKey = t.fairnessKey AND ${IS_AVAILABLE}
  ORDER BY item.availableAt, item.id LIMIT 1`;

export function itemHeads(name: string, now: number): Heads {
  return { text: HEAD, values: [name, now] };
}

/** The id of the item that is handed out next; null: none is available. */
export function* nextItem(name: string, now: number): SqlSteps<string | null> {
  const oldest = yield* selectOne(OLDEST, name, now, name, now);
  if (oldest === null) return null;
  const line = itemsLineOf({ name, priority: priorityOf(oldest) });
  const [next] = yield* nextKeys(line, itemHeads(name, now));
  return next?.head ?? oldest.text('id');
}
