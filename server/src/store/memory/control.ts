/** Changes to an instance from outside its owner: control actions, tags, links, index fields, and the audit log. */
import { TAGS_MAX } from '../../engine/values/tags.js';
import { NEXT_STATUS, patchedTags, type AuditEntry } from '../records/control.js';
import { isLive, type InstanceRecord } from '../records/instances.js';
import { slotsKeyOf } from '../records/slots.js';
import { itemsQueueOf } from '../records/turns.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { makeDeferredAvailable, setPriorityOf, settleAllOf } from './activities.js';
import { noteAction, type MemoryData } from './memory-data.js';
import { enterLine } from './places.js';
import { putTurn } from './turns.js';

export function controlInstance(
  data: MemoryData,
  [id, action, at, audit, message]: OperationArguments<'controlInstance'>,
): OperationResult<'controlInstance'> {
  const current = data.instances.get(id);
  if (current === undefined) return { outcome: 'missing' };
  const { from, to } = NEXT_STATUS[action];
  const isTold = current.inbox.some((known) => known.id === message?.id);
  if (isTold || !from.includes(current.status)) return { outcome: 'refused', record: current };
  const record: InstanceRecord = {
    ...current,
    status: to,
    ...(action === 'terminate' && { endTime: at, outcome: 'Terminated', failure: null }),
    lastChangeAt: at,
    inSeq: current.inSeq + 1,
    inbox: message === undefined ? current.inbox : [...current.inbox, message],
    wakeAt: 0,
  };
  data.instances.set(id, record);
  noteAction(data, id, audit);
  if (to === 'Runnable') makeDeferredAvailable(data, id);
  if (action === 'terminate') settleAllOf(data, id);
  return { outcome: 'done', record };
}

export function patchTags(
  data: MemoryData,
  [id, changes, audit]: OperationArguments<'patchTags'>,
): OperationResult<'patchTags'> {
  const current = data.instances.get(id);
  if (current === undefined) return { outcome: 'missing' };
  const tags = patchedTags(current.tags, changes);
  if (Object.keys(tags).length > TAGS_MAX) return { outcome: 'too-many', record: current };
  const record = { ...current, tags, inSeq: current.inSeq + 1 };
  data.instances.set(id, record);
  noteAction(data, id, audit);
  return { outcome: 'done', record };
}

export function setPriority(
  data: MemoryData,
  [id, priority, audit]: OperationArguments<'setPriority'>,
): OperationResult<'setPriority'> {
  const current = data.instances.get(id);
  if (current === undefined) return { outcome: 'missing' };
  if (!isLive(current.status)) return { outcome: 'refused', record: current };
  const record = { ...current, priority, inSeq: current.inSeq + 1 };
  data.instances.set(id, record);
  setPriorityOf(data, id, priority);
  enterLines(data, record);
  noteAction(data, id, audit);
  return { outcome: 'done', record };
}

export function linkRestart(
  data: MemoryData,
  [id, restartedAs, audit]: OperationArguments<'linkRestart'>,
): boolean {
  const current = data.instances.get(id);
  if (current === undefined) return false;
  const failure = current.endTime === null ? current.failure : null;
  data.instances.set(id, { ...current, restartedAs, failure, inSeq: current.inSeq + 1 });
  noteAction(data, id, audit);
  return true;
}

export function replaceIndex(
  data: MemoryData,
  [{ id, inSeq, revision }, change]: OperationArguments<'replaceIndex'>,
): boolean {
  const current = data.instances.get(id);
  if (current?.inSeq !== inSeq || current.revision !== revision) return false;
  data.instances.set(id, { ...current, index: change.after, inSeq: inSeq + 1 });
  return true;
}

export function appendAudit(
  data: MemoryData,
  [instanceId, entry]: OperationArguments<'appendAudit'>,
): boolean {
  if (!data.instances.has(instanceId)) return false;
  noteAction(data, instanceId, entry);
  return true;
}

export function listAudit(
  data: MemoryData,
  [instanceId]: OperationArguments<'listAudit'>,
): readonly AuditEntry[] | null {
  if (!data.instances.has(instanceId)) return null;
  return (data.actions.get(instanceId) ?? []).toReversed();
}

/** All that waits of an instance that has a fairness key. */
function enterLines(data: MemoryData, record: InstanceRecord): void {
  const { fairness, id, priority } = record;
  if (fairness === null) return;
  const items = [...data.activities.values()]
    .map((stored) => stored.record)
    .filter(({ done, instanceId, withdrawn }) => instanceId === id && !done && !withdrawn)
    .map((item) => ({ queue: itemsQueueOf(item.name), since: item.createdAt }));
  const waits = [...data.slotWaits.values()]
    .filter(({ instanceId, state }) => instanceId === id && state === 'waiting')
    .map(({ on, since }) => ({ queue: slotsKeyOf(on), since }));
  const entries = [...items, ...waits].sort((left, right) => left.since - right.since);
  for (const { queue, since } of entries) putTurn(data, { queue, priority }, { fairness, since });
  if (record.place === 'waiting' && record.concurrencyKey !== null) enterLine(data, record);
}
