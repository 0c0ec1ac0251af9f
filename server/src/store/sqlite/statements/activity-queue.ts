/** The activity queue: claims of its items. */
import type { ClaimedActivity, ActivityRecord, LongActivity } from '../../records/activities.js';
import { distinctKeys, type LimitKey } from '../../records/slots.js';
import { activityOf } from '../../sql/activities.js';
import { IN_ANY_PRIORITY } from '../../sql/activity-queue.js';
import { hasKeyedItems, itemsLineOf, nextItem } from '../../sql/item-turns.js';
import { claimSlots } from '../../sql/item-slots.js';
import { handOut } from '../../sql/turns.js';
import type { OperationArguments } from '../../store-operations.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';

const ITEM = `
SELECT activities.id, activities.instanceId, activities.name, activities.priority, activities.createdAt, activities.availableAt,
       activities.attempt, activities.tokenHash, activities.workerId, activities.done, activities.settled,
       activities.resultHash, activities.needs, activities.fairnessKey, activities.fairnessWeight,
       octet_length(activities.parameters) AS parametersLength,
       CASE WHEN octet_length(activities.parameters) <= ? THEN activities.parameters ELSE '' END AS parameters,
       instances.status AS instanceStatus`;

const NEXT_AVAILABLE = `${ITEM}
  FROM activities INDEXED BY activities_queue
  LEFT JOIN instances ON instances.id = activities.instanceId
 WHERE activities.name = ? AND activities.fairnessKey = '' AND activities.done = 0 AND activities.settled = 0
   AND activities.${IN_ANY_PRIORITY} AND activities.availableAt <= ?
 ORDER BY activities.priority, activities.availableAt, activities.id LIMIT 1`;

const BY_ID = `${ITEM}
  FROM activities LEFT JOIN instances ON instances.id = activities.instanceId WHERE activities.id = ?`;

const DEFER_ITEMS_OF_INSTANCE = `
UPDATE activities SET availableAt = ?, deferred = 1
 WHERE instanceId = ? AND name = ? AND done = 0 AND settled = 0 AND availableAt <= ?`;

/**
 * Maximum number of suspended instances whose items one call skips, and of items that wait for a slot from then on. Each costs few
 * statements, and only once per `deferMs`, or until a slot is free.
 */
const PASSED_OVER_MAX = 1000;

export function claimActivity(
  database: Database,
  [request]: OperationArguments<'claimActivity'>,
): ClaimedActivity {
  const { now, claim, lengthMax = Number.MAX_SAFE_INTEGER } = request;
  const name = encodeText(request.name);
  const limitedBy: LimitKey[] = [];
  const answer = (claimed: ActivityRecord | LongActivity | null): ClaimedActivity =>
    limitedBy.length === 0 ? claimed : { ...claimed, limitedBy: distinctKeys(limitedBy) };
  const isFair = runSteps(database, hasKeyedItems(request.name));
  for (let passedOver = 0; passedOver < PASSED_OVER_MAX; passedOver += 1) {
    const id = isFair ? runSteps(database, nextItem(request.name, now)) : null;
    if (isFair && id === null) return answer(null);
    const row =
      id === null
        ? database.get(NEXT_AVAILABLE, lengthMax, name, now)
        : database.get(BY_ID, lengthMax, encodeText(id));
    if (row === null) return answer(null);
    const item = activityOf(row);
    if (row.textOrNull('instanceStatus') === 'Runnable') {
      const parametersLength = row.number('parametersLength');
      if (parametersLength > lengthMax) return answer({ parametersLength });
      const on = runSteps(database, claimSlots(item, now));
      if (on === null) return answer(take(database, item, { claim, isFair, now }));
      limitedBy.push(on);
      continue;
    }
    const availableAt = now + Math.max(1, request.deferMs);
    database.run(DEFER_ITEMS_OF_INSTANCE, availableAt, encodeText(item.instanceId), name, now);
  }
  return answer(null);
}

export function findAvailableActivities(
  database: Database,
  [names, now]: OperationArguments<'findAvailableActivities'>,
): readonly string[] {
  return names.filter(
    (name) =>
      database.get(
        `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM activities
          WHERE name = ? AND fairnessKey = '' AND done = 0 AND settled = 0 AND ${IN_ANY_PRIORITY} AND availableAt <= ?)
          OR EXISTS (SELECT 1 FROM activities INDEXED BY activities_keyed
          WHERE name = ? AND fairnessKey <> '' AND done = 0 AND settled = 0 AND ${IN_ANY_PRIORITY} AND availableAt <= ?)`,
        encodeText(name),
        now,
        encodeText(name),
        now,
      ) !== null,
  );
}

function take(
  database: Database,
  item: ActivityRecord,
  taking: Pick<OperationArguments<'claimActivity'>[0], 'claim' | 'now'> & { isFair: boolean },
): ActivityRecord {
  const { claim, isFair, now } = taking;
  const { tokenHash, workerId, leaseExpiresAt } = claim;
  if (isFair) runSteps(database, handOut(itemsLineOf(item), item, now));
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
