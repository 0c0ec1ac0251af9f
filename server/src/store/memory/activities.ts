/** Activities: inserts and removals with their instances, results, leases and takeovers. */
import type { Priority } from '../../engine/model/start-options.js';
import { takesSlots, type LimitKey } from '../records/slots.js';
import type {
  ActivityPosition,
  ActivityRecord,
  NewActivityRecord,
  ReleasedActivity,
} from '../records/activities.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { FAR_FUTURE_MS } from '../store.js';
import { compareText } from '../text-order.js';
import type { MemoryData, StoredActivity } from './memory-data.js';
import { postMessage } from './messages.js';
import {
  askingOf,
  freeSlots,
  hasSlots,
  offerItem,
  prioritizeWaits,
  putWait,
  waitedAmong,
} from './slot-rows.js';
import { held, putItem } from './new-items.js';

/** Adds an item. Returns the key for which it waits; null: none. */
export function insertActivity(data: MemoryData, item: NewActivityRecord): LimitKey | null {
  const added = putItem(data, item);
  return added === null || takesSlots(item) ? null : offerItem(data, added, item.createdAt);
}

export function settleActivity(data: MemoryData, id: string): void {
  const known = data.activities.get(id);
  if (known?.record.done === true) data.activities.set(id, { ...known, settled: true });
}

export function setPriorityOf(data: MemoryData, instanceId: string, priority: Priority): void {
  for (const [id, known] of data.activities) {
    if (known.record.instanceId !== instanceId || known.record.done) continue;
    const record = { ...known.record, priority };
    data.activities.set(id, { ...known, record });
  }
  prioritizeWaits(data, instanceId, priority);
}

/** No instance will apply results once it has ended. */
export function settleAllOf(data: MemoryData, instanceId: string): void {
  for (const known of data.activities.values()) {
    if (known.record.instanceId === instanceId) settleActivity(data, known.record.id);
  }
}

/** A commit no longer needs the item. `at`: when it was removed. */
export function removeActivity(data: MemoryData, id: string, at: number): void {
  const known = data.activities.get(id);
  if (known === undefined || known.record.done) return;
  const isLeft = known.record.withdrawn && known.record.tokenHash !== null;
  if (!isLeft) data.activities.delete(id);
  else data.activities.set(id, { ...known, record: { ...known.record, done: true }, doneAt: at });
}

export function makeDeferredAvailable(data: MemoryData, instanceId: string): void {
  for (const known of data.activities.values()) {
    if (known.record.instanceId !== instanceId || !known.deferred) continue;
    const record = { ...known.record, availableAt: known.record.createdAt };
    data.activities.set(record.id, { ...known, record, deferred: false });
  }
}

export function getActivities(
  data: MemoryData,
  [ids]: OperationArguments<'getActivities'>,
): readonly ActivityRecord[] {
  return ids.flatMap((id) => data.activities.get(id)?.record ?? []);
}

export function completeActivity(
  data: MemoryData,
  [request]: OperationArguments<'completeActivity'>,
): OperationResult<'completeActivity'> {
  const known = data.activities.get(request.activityId);
  if (known?.record.tokenHash !== request.tokenHash) return { outcome: 'stale' };
  if (known.record.done) {
    if (known.result === null) return { outcome: 'canceled' };
    return { outcome: known.result.hash === request.result.hash ? 'repeated' : 'stale' };
  }
  const { succeeded, data: resultData, hash } = request.result;
  const activity: ActivityRecord = { ...known.record, done: true, withdrawn: false };
  const { id, body } = request.message;
  const { instanceId } = activity;
  const posted = postMessage(
    data,
    {
      instanceId,
      message: { id, body },
      ...(request.audit !== undefined && { audit: request.audit }),
    },
    request.claimer,
  );
  data.activities.set(activity.id, {
    record: activity,
    deferred: false,
    result: { succeeded, data: resultData, hash },
    doneAt: request.now,
    settled: posted === null,
  });
  const { needs } = activity;
  const waits = needs === undefined ? {} : { waits: waitedAmong(data, needs) };
  return { outcome: 'accepted', activity, message: request.message, posted, ...waits };
}

export function takeOverActivity(
  data: MemoryData,
  [activityId, claim]: OperationArguments<'takeOverActivity'>,
): ActivityRecord | null {
  const known = data.activities.get(activityId);
  if (known === undefined || known.record.done) return null;
  const taken = held(known, claim);
  data.activities.set(activityId, taken);
  freeSlots(data, activityId);
  return taken.record;
}

export function extendActivity(
  data: MemoryData,
  [activityId, tokenHash, leaseExpiresAt, now]: OperationArguments<'extendActivity'>,
): OperationResult<'extendActivity'> {
  const known = heldBy(data, activityId, tokenHash);
  if (known === null) return null;
  const { needs } = known.record;
  const hasEnded = known.deferred || known.record.availableAt <= now;
  if (needs !== undefined && (hasEnded || !hasSlots(data, activityId, needs))) return null;
  const record = { ...known.record, availableAt: leaseExpiresAt };
  data.activities.set(activityId, { ...known, record, deferred: false });
  return { name: record.name, withdrawn: record.withdrawn };
}

export function keepClaims(
  data: MemoryData,
  [claims, now]: OperationArguments<'keepClaims'>,
): void {
  for (const { activityId, tokenHash } of claims) {
    extendActivity(data, [activityId, tokenHash, FAR_FUTURE_MS, now]);
  }
}

export function releaseActivity(
  data: MemoryData,
  [activityId, tokenHash, countsAttempt = true]: OperationArguments<'releaseActivity'>,
): ReleasedActivity | null {
  const known = heldBy(data, activityId, tokenHash);
  if (known === null || known.record.withdrawn) return null;
  const record: ActivityRecord = {
    ...known.record,
    availableAt: known.record.createdAt,
    attempt: known.record.attempt - (countsAttempt ? 0 : 1),
    tokenHash: null,
    workerId: null,
  };
  data.activities.set(activityId, { ...known, record, deferred: false });
  freeSlots(data, activityId);
  const asking = askingOf(record);
  if (asking !== null)
    putWait(data, asking, { on: asking.needs[0], state: 'offered' }, record.name);
  return { name: record.name, waits: waitedAmong(data, record.needs ?? []) };
}

export function withdrawActivities(
  data: MemoryData,
  [ids]: OperationArguments<'withdrawActivities'>,
): readonly ActivityRecord[] {
  return [...new Set(ids)].flatMap((id) => {
    const known = data.activities.get(id);
    if (known === undefined || known.record.done) return known?.record ?? [];
    const { availableAt, createdAt } = known.record;
    const place = known.deferred ? createdAt : availableAt;
    const record: ActivityRecord = { ...known.record, availableAt: place, withdrawn: true };
    data.activities.set(id, { ...known, record, deferred: false, settled: true });
    return record;
  });
}

export function findUnsettledActivities(
  data: MemoryData,
  [doneBefore, limit, after]: OperationArguments<'findUnsettledActivities'>,
): OperationResult<'findUnsettledActivities'> {
  return [...data.activities.values()]
    .flatMap(({ record, result, doneAt, settled }) =>
      result === null || doneAt === null || settled || doneAt >= doneBefore
        ? []
        : [{ ...record, result, doneAt }],
    )
    .filter((item) => after === undefined || firstDone(item, after) > 0)
    .sort(firstDone)
    .slice(0, limit);
}

function firstDone(left: ActivityPosition, right: ActivityPosition): number {
  return left.doneAt - right.doneAt || compareText(left.id, right.id);
}

function heldBy(data: MemoryData, id: string, tokenHash: string): StoredActivity | null {
  const known = data.activities.get(id);
  return known?.record.tokenHash === tokenHash && !known.record.done ? known : null;
}

export function isAvailable(item: StoredActivity, now: number): boolean {
  return !item.record.done && !item.record.withdrawn && item.record.availableAt <= now;
}

export function inClaimOrder(left: StoredActivity, right: StoredActivity): number {
  return (
    left.record.priority - right.record.priority ||
    left.record.availableAt - right.record.availableAt ||
    compareText(left.record.id, right.record.id)
  );
}
