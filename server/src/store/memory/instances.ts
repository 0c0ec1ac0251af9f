/** Instances: reads, commits, takeovers, and searches for instances that need a node. */
import type { InstancePosition } from '../records/instance-lists.js';
import {
  isLive,
  type DueInstance,
  type InstanceClaim,
  type HistoryRecord,
  type InstanceRecord,
} from '../records/instances.js';
import { distinctKeys } from '../records/slots.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { compareText } from '../text-order.js';
import { settleAllOf } from './activities.js';
import { oldestFirst } from './instance-lists.js';
import { noteAction, type MemoryData } from './memory-data.js';
import { insertDeliveries } from './notifications.js';
import { insertSideRecords, removeSideRecords } from './side-records.js';
import { changeSlots, waitedAmong } from './slot-rows.js';

export function getInstance(
  data: MemoryData,
  [id]: OperationArguments<'getInstance'>,
): InstanceRecord | null {
  return data.instances.get(id) ?? null;
}

export function commitInstance(
  data: MemoryData,
  [commit]: OperationArguments<'commitInstance'>,
): OperationResult<'commitInstance'> {
  const current = data.instances.get(commit.id);
  if (current?.epoch !== commit.epoch || current.inSeq !== commit.inSeq) return 'lost';
  if (current.revision !== commit.revision) return 'lost';
  const { lastChangeAt: now, slots } = commit;
  data.instances.set(commit.id, {
    ...current,
    version: commit.version ?? current.version,
    retentionMs: commit.version === undefined ? current.retentionMs : (commit.retentionMs ?? null),
    status: commit.status,
    endTime: commit.endTime,
    outcome: commit.outcome,
    lastChangeAt: commit.lastChangeAt,
    errorAt: commit.errorAt,
    failingSince: commit.failingSince,
    failure: commit.failure,
    wakeAt: commit.wakeAt,
    state: commit.state,
    index: commit.indexChange?.after ?? current.index,
    schemaVersion: commit.schemaVersion,
    inbox: commit.keepInbox === true ? current.inbox : [],
    underWay: commit.underWay,
    queued: commit.queued ?? current.queued,
    place: commit.takesPlace === true ? 'held' : current.place,
    crashes: commit.crashes ?? 0,
    revision: current.revision + 1,
    countsFrom: commit.window?.countsFrom ?? current.countsFrom,
    debounceKey: commit.window?.isOpen === false ? null : current.debounceKey,
  });
  const { fairness, priority } = current;
  const taking = { instanceId: commit.id, priority, fairness, now };
  const refused = changeSlots(data, commit, taking);
  if (refused.length > 0) {
    data.instances.set(commit.id, current);
    return { outcome: 'refused', refused };
  }
  if (commit.window?.input !== undefined) data.inputs.set(commit.id, commit.window.input);
  const limitedBy = insertSideRecords(data, commit.side);
  insertDeliveries(data, [commit.deliveries ?? []]);
  for (const entry of commit.audit ?? []) noteAction(data, commit.id, entry);
  removeSideRecords(data, commit);
  if (!isLive(commit.status)) settleAllOf(data, commit.id);
  for (const execution of slots?.begun ?? []) data.slotWaits.delete(execution);
  const freed = slots?.free.flatMap(({ needs }) => needs) ?? [];
  const waits = distinctKeys([...limitedBy, ...waitedAmong(data, freed)]);
  return slots === undefined && waits.length === 0 ? 'committed' : { outcome: 'committed', waits };
}

export function claimInstance(
  data: MemoryData,
  [claim]: OperationArguments<'claimInstance'>,
): InstanceRecord | null {
  const current = data.instances.get(claim.id);
  if (current?.epoch !== claim.epoch) return null;
  if (current.schemaVersion > (claim.schemaVersionMax ?? Infinity)) return null;
  const isResting = current.inbox.length > 0 && !current.underWay;
  if (claim.resting === true && !isResting) return null;
  const claimed: InstanceRecord = {
    ...current,
    owner: claim.owner,
    epoch: current.epoch + 1,
    crashes: current.crashes + (claim.suspected ? 1 : 0),
    wakeAt: claim.due === true ? 0 : current.wakeAt,
  };
  data.instances.set(claim.id, claimed);
  return claimed;
}

export function setCrashes(
  data: MemoryData,
  [id, epoch, crashes]: OperationArguments<'setCrashes'>,
): boolean {
  const current = data.instances.get(id);
  if (current?.epoch !== epoch) return false;
  data.instances.set(id, { ...current, crashes });
  return true;
}

export function findDueInstances(
  data: MemoryData,
  [dueBefore, limit, after]: OperationArguments<'findDueInstances'>,
): readonly DueInstance[] {
  const order = (left: DueInstance, right: Pick<DueInstance, 'wakeAt' | 'id'>): number =>
    left.wakeAt - right.wakeAt || compareText(left.id, right.id);
  return [...data.instances.values()]
    .flatMap(({ wakeAt, ...instance }) =>
      wakeAt === null || wakeAt > dueBefore
        ? []
        : [{ ...claimOf({ ...instance, wakeAt }), wakeAt }],
    )
    .filter((due) => after === undefined || order(due, after) > 0)
    .sort(order)
    .slice(0, limit);
}

export function findInstancesUnderWay(
  data: MemoryData,
  [owner, afterId, limit]: OperationArguments<'findInstancesUnderWay'>,
): readonly InstanceClaim[] {
  return [...data.instances.values()]
    .filter((instance) => instance.owner === owner && instance.underWay)
    .filter(({ id }) => afterId === null || compareText(id, afterId) > 0)
    .sort((left, right) => compareText(left.id, right.id))
    .slice(0, limit)
    .map(claimOf);
}

export function findChangedInstances(
  data: MemoryData,
  [owner, after, limit]: OperationArguments<'findChangedInstances'>,
): readonly InstanceClaim[] {
  const positionOf = ({ id, lastChangeAt }: InstanceRecord): InstancePosition => ({
    time: lastChangeAt,
    id,
  });
  return [...data.instances.values()]
    .filter((instance) => instance.owner === owner && instance.status === 'Runnable')
    .filter((instance) => oldestFirst(positionOf(instance), after) > 0)
    .sort((left, right) => oldestFirst(positionOf(left), positionOf(right)))
    .slice(0, limit)
    .map(claimOf);
}

export function readHistory(
  data: MemoryData,
  [instanceId, from, limit]: OperationArguments<'readHistory'>,
): readonly HistoryRecord[] {
  return [...(data.history.get(instanceId)?.values() ?? [])]
    .filter((record) => record.sequence >= from)
    .sort((left, right) => left.sequence - right.sequence)
    .slice(0, limit);
}

function claimOf(instance: InstanceRecord): InstanceClaim {
  const { id, owner, epoch, wakeAt, underWay, crashes, lastChangeAt, schemaVersion } = instance;
  return { id, owner, epoch, wakeAt, underWay, crashes, lastChangeAt, schemaVersion };
}
