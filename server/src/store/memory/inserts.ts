/** Starts of instances: what they are refused for, and what they keep. */
import type { OperationArguments, OperationResult } from '../operations.js';
import {
  TERMINATED_PER_INSERT,
  type InsertInstance,
  type InstanceRecord,
} from '../records/instances.js';
import { hasNoEvents } from './events.js';
import { newestFirst, summaryOf } from './instance-lists.js';
import { controlInstance } from './instances.js';
import { isLive, type MemoryData } from './memory-data.js';
import { insertSideRecords } from './side-records.js';

type Result = OperationResult<'insertInstance'>;

const INSERTED: Result = { outcome: 'inserted' };

export function insertInstance(
  data: MemoryData,
  [insert]: OperationArguments<'insertInstance'>,
): Result {
  const { conflict, input, openDescendantsMax, record, side } = insert;
  const existing = data.instances.get(record.id);
  if (existing !== undefined) return { outcome: 'exists', record: existing };
  const refused = joinedBefore(data, insert) ?? refusedNow(data, insert);
  if (refused !== null) return refused;
  if (isFull(data, record.rootId, openDescendantsMax)) return { outcome: 'full' };
  const inserted = conflict?.action === 'terminate' ? terminateOpen(data, insert) : INSERTED;
  if (inserted.outcome !== 'inserted') return inserted;
  insertSideRecords(data, side);
  data.instances.set(record.id, { ...record, inbox: [...record.inbox] });
  if (input !== undefined) data.inputs.set(record.id, input);
  const { subscriptions } = side;
  const noEvents = subscriptions.length > 0 && hasNoEvents(data, subscriptions);
  return { ...inserted, ...(noEvents && { noEvents }) };
}

export function getInput(data: MemoryData, [id]: OperationArguments<'getInput'>): string | null {
  return data.inputs.get(id) ?? null;
}

function joinedBefore(data: MemoryData, { conflict, record }: InsertInstance): Result | null {
  const isKeyed = conflict !== undefined && record.requestHash !== null;
  const known = isKeyed ? data.joinedStarts.get(record.id) : undefined;
  const joined = known === undefined ? undefined : data.instances.get(known.instanceId);
  if (known === undefined || joined === undefined) return null;
  return { outcome: 'joined', record: joined, requestHash: known.requestHash };
}

function refusedNow(data: MemoryData, { conflict, record }: InsertInstance): Result | null {
  const { definitionId, id, reference, requestHash } = record;
  if (data.disabled.has(definitionId)) return { outcome: 'disabled' };
  if (conflict === undefined || conflict.action === 'terminate' || reference === null) return null;
  const [newest] = openInstances(data, definitionId, reference);
  if (newest === undefined) return null;
  if (conflict.action === 'join' && requestHash !== null) {
    data.joinedStarts.set(id, { requestHash, instanceId: newest.id });
  }
  return { outcome: 'in-use', record: newest };
}

function terminateOpen(data: MemoryData, { conflict, record }: InsertInstance): Result {
  if (conflict?.action !== 'terminate' || record.reference === null) return INSERTED;
  const { audit } = conflict;
  const open = openInstances(data, record.definitionId, record.reference);
  const terminated = open.slice(0, TERMINATED_PER_INSERT).flatMap(({ id }) => {
    const result = controlInstance(data, [id, 'terminate', audit.time, audit]);
    return result.outcome === 'done' ? [summaryOf(result.record)] : [];
  });
  return { outcome: open.length > TERMINATED_PER_INSERT ? 'more' : 'inserted', terminated };
}

/** Newest first. */
function openInstances(
  data: MemoryData,
  definitionId: string,
  reference: string,
): readonly InstanceRecord[] {
  return [...data.instances.values()]
    .filter(
      (instance) =>
        instance.reference === reference &&
        instance.definitionId === definitionId &&
        isLive(instance.status),
    )
    .sort((left, right) => newestFirst(positionOf(left), positionOf(right)));
}

function positionOf({ id, startTime }: InstanceRecord): { time: number; id: string } {
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
