/** The activity queue: claims of its items, and lists for operators. */
import type {
  ClaimedActivity,
  ActivityListItem,
  ActivityQueue,
  ActivityRecord,
  LongActivity,
} from '../records/activities.js';
import { distinctKeys, type LimitKey } from '../records/slots.js';
import type { OperationArguments } from '../store-operations.js';
import { FAR_FUTURE_MS } from '../store.js';
import { compareText } from '../text-order.js';
import { isAvailable, inClaimOrder } from './activities.js';
import { held, lineOf } from './new-items.js';
import type { MemoryData, StoredActivity } from './memory-data.js';
import { askingOf, limitItem, takeSlots } from './slot-rows.js';
import { saveTurns, turnsOf } from './turns.js';

export function claimActivity(
  data: MemoryData,
  [request]: OperationArguments<'claimActivity'>,
): ClaimedActivity {
  const candidates = [...data.activities.values()]
    .filter((item) => item.record.name === request.name && isAvailable(item, request.now))
    .sort(inClaimOrder);
  const isFair = hasKeyedItems(data, request.name);
  const passedOver = new Set<string>();
  const limitedBy: LimitKey[] = [];
  let claimed: ReturnType<typeof claimCandidate> | null = null;
  const remaining = new Set(candidates);
  for (;;) {
    const candidate = isFair ? nextInTurn(data, [...remaining]) : ([...remaining][0] ?? null);
    if (candidate === null) break;
    remaining.delete(candidate);
    const { instanceId } = candidate.record;
    if (data.instances.get(instanceId)?.status !== 'Runnable') {
      passedOver.add(instanceId);
      continue;
    }
    claimed = claimCandidate(data, candidate, request);
    if (!('limit' in claimed)) break;
    limitedBy.push(claimed);
    claimed = null;
  }
  const availableAt = request.now + request.deferMs;
  for (const candidate of candidates) {
    if (!passedOver.has(candidate.record.instanceId)) continue;
    const record = { ...candidate.record, availableAt };
    data.activities.set(record.id, { ...candidate, record, deferred: true });
  }
  return limitedBy.length === 0 ? claimed : { ...claimed, limitedBy: distinctKeys(limitedBy) };
}

function hasKeyedItems(data: MemoryData, name: string): boolean {
  return [...data.activities.values()].some(
    ({ record }) => record.name === name && !record.done && record.fairness !== undefined,
  );
}

/** Of those with the priority of the first one. */
function nextInTurn(
  data: MemoryData,
  candidates: readonly StoredActivity[],
): StoredActivity | null {
  const [first] = candidates;
  if (first === undefined) return null;
  const turns = turnsOf(data, lineOf(first.record));
  const equal = candidates
    .filter(({ record }) => record.priority === first.record.priority)
    .map((stored) => ({ stored, ...stored.record }));
  return turns.inOrder(equal).next().value?.stored ?? null;
}

/** Returns the key for which the item waits, if it can't have its slots. */
function claimCandidate(
  data: MemoryData,
  candidate: StoredActivity,
  { claim, lengthMax = Infinity, now }: OperationArguments<'claimActivity'>[0],
): ActivityRecord | LongActivity | LimitKey {
  const { length } = candidate.record.parameters;
  if (length > lengthMax) return { parametersLength: length };
  const asking = askingOf(candidate.record);
  if (asking !== null) {
    const answer = takeSlots(data, asking, { now, isActivity: true });
    if (!answer.isFree) return limitItem(data, candidate.record, answer.on);
    data.slotWaits.delete(asking.execution);
  }
  const line = lineOf(candidate.record);
  const turns = turnsOf(data, line);
  if (!turns.isEmpty && hasKeyedItems(data, candidate.record.name)) {
    turns.handOut(candidate.record, now);
    saveTurns(data, line, turns);
  }
  const claimed = held(candidate, claim);
  data.activities.set(candidate.record.id, claimed);
  return claimed.record;
}

export function findAvailableActivities(
  data: MemoryData,
  [names, now]: OperationArguments<'findAvailableActivities'>,
): readonly string[] {
  const available = new Set<string>();
  for (const item of data.activities.values()) {
    if (isAvailable(item, now)) available.add(item.record.name);
  }
  return names.filter((name) => available.has(name));
}

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
      const { id, instanceId, priority, createdAt, availableAt, attempt, workerId } = record;
      const fairnessKey = record.fairness?.key ?? null;
      const order = { priority, fairnessKey, createdAt, availableAt };
      const item = { id, instanceId, ...order, attempt, workerId };
      const { definitionId = null, reference = null } = data.instances.get(instanceId) ?? {};
      const limited = deferred && availableAt === FAR_FUTURE_MS;
      const claimed = record.tokenHash !== null;
      return { ...item, claimed, deferred: deferred && !limited, limited, definitionId, reference };
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
