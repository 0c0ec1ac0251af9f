/** Nodes, retention and statistics. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { isLive, type InstanceRecord, type InstanceStatus } from '../records/instances.js';
import type { NodeRecord } from '../records/nodes.js';
import type { EndedInstance, StoreStatistics } from '../records/housekeeping.js';
import { compareText } from '../text-order.js';
import type { MemoryData } from './memory-data.js';
import { freeSlotsOf } from './slot-rows.js';
import { removeOldTurns } from './turns.js';

export function putNode(data: MemoryData, [node]: OperationArguments<'putNode'>): void {
  data.nodes.set(node.id, { ...node });
}

export function listNodes(data: MemoryData): readonly NodeRecord[] {
  return [...data.nodes.values()].sort((left, right) => compareText(left.id, right.id));
}

export function removeNode(data: MemoryData, [id]: OperationArguments<'removeNode'>): void {
  data.nodes.delete(id);
}

export function findExpiredInstances(
  data: MemoryData,
  [limits, limit]: OperationArguments<'findExpiredInstances'>,
): readonly EndedInstance[] {
  const { instancesEndedBefore, ownRetentionBefore = 0 } = limits;
  const { untoldEndedBefore, untoldOwnRetentionBefore = 0 } = limits;
  const expired = (hasOwn: boolean, told: number, untold: number): readonly string[] =>
    oldest(data.instances.values(), limit, ({ endTime, id, retentionMs, status, wakeAt }) => {
      if (isLive(status) || endTime === null || (retentionMs !== null) !== hasOwn) return null;
      const before = wakeAt === null ? told : Math.min(told, untold);
      return { id, time: endTime + (retentionMs ?? 0), before };
    });
  const ids = [
    ...expired(false, instancesEndedBefore, untoldEndedBefore),
    ...expired(true, ownRetentionBefore, untoldOwnRetentionBefore),
  ];
  return ids.flatMap((id) => {
    const record = data.instances.get(id);
    return record === undefined ? [] : [endedOf(record)];
  });
}

function endedOf({ id, inSeq, revision }: InstanceRecord): EndedInstance {
  return { id, inSeq, revision };
}

export function removeInstances(
  data: MemoryData,
  [instances]: OperationArguments<'removeInstances'>,
): OperationResult<'removeInstances'> {
  const ended = new Set(
    instances.flatMap(({ id, inSeq, revision }) => {
      const current = data.instances.get(id);
      if (current === undefined || isLive(current.status)) return [];
      return current.inSeq === inSeq && current.revision === revision ? [id] : [];
    }),
  );
  for (const id of ended) {
    data.instances.delete(id);
    data.history.delete(id);
    data.actions.delete(id);
    data.inputs.delete(id);
  }
  for (const [id, { record }] of data.joinedStarts) {
    if (ended.has(record.id)) data.joinedStarts.delete(id);
  }
  for (const { id, instanceId } of data.subscriptions.values()) {
    if (ended.has(instanceId)) data.subscriptions.delete(id);
  }
  for (const { record } of data.activities.values()) {
    if (ended.has(record.instanceId)) data.activities.delete(record.id);
  }
  for (const id of ended) freeSlotsOf(data, id);
  return { removed: ended.size, isComplete: true };
}

export function purge(
  data: MemoryData,
  [request]: OperationArguments<'purge'>,
): OperationResult<'purge'> {
  const isKept = request.keepsInstances === true;
  const expired = isKept ? [] : findExpiredInstances(data, [request, request.limit]);
  const { removed: instances } = removeInstances(data, [expired]);
  const events = oldest(data.events.values(), request.limit, ({ id, deliveredTo, publishedAt }) =>
    deliveredTo === null ? null : { id, time: publishedAt, before: request.eventsPublishedBefore },
  );
  for (const id of events) data.events.delete(id);
  const activities = oldest(data.activities.values(), request.limit, (item) =>
    item.settled
      ? { id: item.record.id, time: item.doneAt, before: request.activitiesDoneBefore }
      : null,
  );
  for (const id of activities) data.activities.delete(id);
  const joined = oldest(data.joinedStarts, request.limit, ([id, { joinedAt }]) => {
    return { id, time: joinedAt, before: request.instancesEndedBefore };
  });
  for (const id of joined) data.joinedStarts.delete(id);
  const spent = oldest(data.rates, request.limit, ([id, time]) => {
    return { id, time, before: request.activitiesDoneBefore };
  });
  for (const id of spent) data.rates.delete(id);
  const turns = removeOldTurns(data, request.activitiesDoneBefore, request.limit);
  const isComplete = joined.length < request.limit && turns < request.limit;
  return { instances, events: events.length, activities: activities.length, isComplete };
}

export function statistics(data: MemoryData): StoreStatistics {
  const instances: Record<InstanceStatus, number> = {
    Runnable: 0,
    Suspended: 0,
    Complete: 0,
    Terminated: 0,
  };
  for (const { status } of data.instances.values()) instances[status] += 1;
  let undeliveredEvents = 0;
  for (const { deliveredTo } of data.events.values())
    undeliveredEvents += deliveredTo === null ? 1 : 0;
  return { instances, activities: waitingByName(data), undeliveredEvents };
}

function waitingByName(data: MemoryData): StoreStatistics['activities'] {
  const names = new Map<string, { waiting: number; oldestAvailableAt: number }>();
  for (const { record } of data.activities.values()) {
    if (record.done || record.withdrawn || record.tokenHash !== null) continue;
    const known = names.get(record.name) ?? { waiting: 0, oldestAvailableAt: Infinity };
    names.set(record.name, {
      waiting: known.waiting + 1,
      oldestAvailableAt: Math.min(known.oldestAvailableAt, record.availableAt),
    });
  }
  return [...names]
    .map(([name, numbers]) => ({ name, ...numbers }))
    .sort((left, right) => right.waiting - left.waiting || compareText(left.name, right.name))
    .slice(0, 10);
}

interface Aged {
  readonly id: string;
  readonly time: number | null;
  readonly before: number;
}

/** The ids of the `limit` oldest items whose time is before their limit; `ageOf` returns null for items to keep. */
function oldest<Item>(
  items: Iterable<Item>,
  limit: number,
  ageOf: (item: Item) => Aged | null,
): readonly string[] {
  const aged = [...items].flatMap((item) => {
    const age = ageOf(item);
    return age?.time == null || age.time >= age.before ? [] : [{ id: age.id, time: age.time }];
  });
  return aged
    .sort((left, right) => left.time - right.time || compareText(left.id, right.id))
    .slice(0, limit)
    .map(({ id }) => id);
}
