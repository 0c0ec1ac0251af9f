/** Inserts new instances: when a start is rejected, and what is stored with it. */
import { isBeingRemoved } from '../records/housekeeping.js';
import {
  countsAt,
  inQueueOrder,
  isLive,
  positionOf,
  queueRefusal,
  type QueuePosition,
  TERMINATED_PER_INSERT,
  terminationOf,
  type ConflictScope,
  type InsertInstance,
  type InstanceRecord,
} from '../records/instances.js';
import { distinctKeys } from '../records/slots.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { controlInstance } from './control.js';
import { hasNoEvents } from './events.js';
import { newestFirst, summaryOf } from './instance-lists.js';
import type { MemoryData } from './memory-data.js';
import { insertDeliveries } from './notifications.js';
import { enterLine, refusalByPlaces } from './places.js';
import { insertSideRecords } from './side-records.js';
import { changeSlots, copiesOf, restore } from './slot-rows.js';

type Result = OperationResult<'insertInstance'>;

const INSERTED: Result = { outcome: 'inserted' };

export function insertInstance(
  data: MemoryData,
  [insert]: OperationArguments<'insertInstance'>,
): Result {
  const { conflict, deliveries = [], input, openDescendantsMax, record, side } = insert;
  const existing = data.instances.get(record.id);
  if (existing !== undefined) return { outcome: 'exists', record: existing };
  const refused = joinedBefore(data, record) ?? refusedNow(data, insert);
  if (refused !== null) return refused;
  if (isFull(data, record.rootId, openDescendantsMax)) return { outcome: 'full' };
  const noPlace = refusalByPlaces(data, insert);
  if (noPlace !== null) return noPlace;
  const asks =
    insert.slots !== undefined || side.activities.some(({ needs }) => needs !== undefined);
  const before = asks ? copiesOf(data.actions, data.activities, data.instances) : [];
  const inserted = conflict?.action === 'terminate' ? terminateOpen(data, insert) : INSERTED;
  if (inserted.outcome !== 'inserted') return inserted;
  data.instances.set(record.id, { ...record, inbox: [...record.inbox] });
  if (record.place === 'waiting' && record.concurrencyKey !== null) enterLine(data, record);
  const { fairness, id: instanceId, lastChangeAt: now, priority } = record;
  const taking = { instanceId, priority, fairness, now };
  const noSlots = changeSlots(data, insert, taking);
  if (noSlots.length > 0) {
    restore(before);
    return { outcome: 'no-slots', refused: noSlots };
  }
  const waits = distinctKeys(insertSideRecords(data, side));
  for (const execution of insert.slots?.begun ?? []) data.slotWaits.delete(execution);
  insertDeliveries(data, [deliveries]);
  if (input !== undefined) data.inputs.set(record.id, input);
  const { subscriptions } = side;
  const noEvents = subscriptions.length > 0 && hasNoEvents(data, subscriptions);
  return { ...inserted, ...(noEvents && { noEvents }), ...(waits.length > 0 && { waits }) };
}

export function findPredecessor(
  data: MemoryData,
  [{ definitionId, reference, ...place }]: OperationArguments<'findPredecessor'>,
): OperationResult<'findPredecessor'> {
  const before = queueOf(data, { definitionId, reference }).filter(
    (other) => inQueueOrder(positionOf(other), place) < 0,
  );
  return before.at(-1)?.id ?? null;
}

/** The open instances, in order. */
function queueOf(
  data: MemoryData,
  { definitionId, reference }: Pick<QueuePosition, 'definitionId' | 'reference'>,
): readonly InstanceRecord[] {
  return [...data.instances.values()]
    .filter((other) => other.definitionId === definitionId && other.reference === reference)
    .filter(({ status }) => isLive(status))
    .sort((left, right) => inQueueOrder(positionOf(left), positionOf(right)));
}

export function getInput(data: MemoryData, [id]: OperationArguments<'getInput'>): string | null {
  return data.inputs.get(id) ?? null;
}

function joinedBefore(data: MemoryData, { id, requestHash }: InstanceRecord): Result | null {
  const known = requestHash === null ? undefined : data.joinedStarts.get(id);
  if (known === undefined) return null;
  const { byWindow, record, requestHash: first } = known;
  if (byWindow !== true) return { outcome: 'joined-before', record, requestHash: first };
  const current = data.instances.get(record.id);
  if (current === undefined) return null;
  return { outcome: 'joined-before', record: current, requestHash: first, byWindow };
}

function refusedNow(data: MemoryData, insert: InsertInstance): Result | null {
  const { conflict, record } = insert;
  const { definitionId, id, reference, requestHash, startTime } = record;
  if (data.disabled.has(definitionId)) return { outcome: 'disabled' };
  const window = openWindow(data, insert);
  if (window !== null) {
    if (requestHash !== null)
      data.joinedStarts.set(id, {
        requestHash,
        record: window,
        joinedAt: startTime,
        byWindow: true,
      });
    return { outcome: 'window', instanceId: window.id };
  }
  if (conflict === undefined || conflict.action === 'terminate' || reference === null) return null;
  if (conflict.action === 'queue') {
    const last = queueOf(data, { definitionId, reference })
      .filter((other) => countsAt(other, startTime))
      .at(-1);
    return queueRefusal(conflict, record, last === undefined ? null : summaryOf(last));
  }
  const [newest] = namedInstances(data, { definitionId, reference }, conflict.scope);
  if (newest === undefined) return null;
  if (conflict.action === 'refuse') return { outcome: 'in-use', record: summaryOf(newest) };
  if (requestHash !== null) {
    const kept = { ...newest, inbox: [] };
    data.joinedStarts.set(id, { requestHash, record: kept, joinedAt: startTime });
  }
  return { outcome: 'joined', record: newest };
}

function openWindow(data: MemoryData, { record, window }: InsertInstance): InstanceRecord | null {
  const { definitionId } = record;
  if (window === undefined) return null;
  const open = [...data.instances.values()].find(
    (other) =>
      other.definitionId === definitionId && other.debounceKey === window && isLive(other.status),
  );
  return open ?? null;
}

export function forgetJoinedStart(
  data: MemoryData,
  [id, instanceId]: OperationArguments<'forgetJoinedStart'>,
): void {
  if (data.joinedStarts.get(id)?.record.id === instanceId) data.joinedStarts.delete(id);
}

function terminateOpen(data: MemoryData, { conflict, record }: InsertInstance): Result {
  if (conflict?.action !== 'terminate' || record.reference === null) return INSERTED;
  const { audit } = conflict;
  const { definitionId, reference } = record;
  const open = namedInstances(data, { definitionId, reference });
  const terminated = open.slice(0, TERMINATED_PER_INSERT).flatMap((each) => {
    const entry = terminationOf(audit, each);
    const result = controlInstance(data, [each.id, 'terminate', entry.time, entry]);
    return result.outcome === 'done' ? [summaryOf(result.record)] : [];
  });
  return { outcome: open.length > TERMINATED_PER_INSERT ? 'more' : 'inserted', terminated };
}

/** Newest first. */
function namedInstances(
  data: MemoryData,
  name: Pick<InstanceRecord, 'definitionId' | 'reference'>,
  scope: ConflictScope = 'open',
): readonly InstanceRecord[] {
  return [...data.instances.values()]
    .filter(
      (instance) =>
        instance.reference === name.reference &&
        instance.definitionId === name.definitionId &&
        (scope === 'kept' ? !isBeingRemoved(instance) : isLive(instance.status)),
    )
    .sort((left, right) => newestFirst(startOf(left), startOf(right)));
}

function startOf({ id, startTime }: InstanceRecord): { time: number; id: string } {
  return { time: startTime, id };
}

function isFull(data: MemoryData, rootId: string | null, max = Infinity): boolean {
  if (rootId === null) return false;
  let open = 0;
  for (const instance of data.instances.values()) {
    if (instance.rootId === rootId && isLive(instance.status)) open += 1;
    if (open >= max) return true;
  }
  return open >= max;
}
