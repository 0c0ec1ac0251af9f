/** The queues of activities as operators see them. */
import type { OperationArguments } from '../store-operations.js';
import type { ActivityListItem, ActivityQueue, ActivityRecord } from '../records/activities.js';
import { compareText } from '../text-order.js';
import type { MemoryData } from './memory-data.js';

export function listActivityQueues(
  data: MemoryData,
  [now, limit]: OperationArguments<'listActivityQueues'>,
): readonly ActivityQueue[] {
  const queues = new Map<string, ActivityQueue>();
  for (const { record } of data.activities.values()) {
    if (!isListed(record, now)) continue;
    const { name } = record;
    const queue = queues.get(name) ?? { name, waiting: 0, held: 0, oldestCreatedAt: null };
    const isHeld = isHeldAt(record, now);
    const oldest = Math.min(queue.oldestCreatedAt ?? record.createdAt, record.createdAt);
    queues.set(
      name,
      isHeld
        ? { ...queue, held: queue.held + 1 }
        : { ...queue, waiting: queue.waiting + 1, oldestCreatedAt: oldest },
    );
  }
  return [...queues.values()]
    .sort((left, right) => right.waiting - left.waiting || compareText(left.name, right.name))
    .slice(0, limit);
}

export function listActivityItems(
  data: MemoryData,
  [name, now, after, limit]: OperationArguments<'listActivityItems'>,
): readonly ActivityListItem[] {
  return [...data.activities.values()]
    .filter(({ record }) => record.name === name && isListed(record, now))
    .map(({ record, deferred }) => {
      const { id, instanceId, createdAt, availableAt, attempt, workerId, tokenHash } = record;
      const item = { id, instanceId, createdAt, availableAt, attempt, workerId };
      const { definitionId = null, reference = null } = data.instances.get(instanceId) ?? {};
      return { ...item, claimed: tokenHash !== null, deferred, definitionId, reference };
    })
    .filter((item) => after === null || inQueueOrder(item, after) > 0)
    .sort(inQueueOrder)
    .slice(0, limit);
}

/** A withdrawn item is no longer in the queue, but its holder may have it. */
function isListed(record: ActivityRecord, now: number): boolean {
  return !record.done && (!record.withdrawn || isHeldAt(record, now));
}

function isHeldAt({ availableAt, tokenHash }: ActivityRecord, now: number): boolean {
  return tokenHash !== null && availableAt > now;
}

interface QueuePosition {
  readonly availableAt: number;
  readonly id: string;
}

function inQueueOrder(left: QueuePosition, right: QueuePosition): number {
  return left.availableAt - right.availableAt || compareText(left.id, right.id);
}
