/** Converts workers between host and wire. */
import type * as host from '../../../runtime/activities/activity-types.js';
import type { WorkerIdentity } from '../../../runtime/workers/worker-registry.js';
import type * as wire from '../models/worker.js';
import { checkedName } from './name.js';
import { toWireTime, toWireTimeOrNull } from './time.js';

const LIMIT_DEFAULT = 100;

/** @throws AppError `invalid_request` */
export function toWorkerListRequest(query: wire.WorkerQuery): host.WorkerListRequest {
  const { activityName, limit, workerId } = query;
  return {
    ...(workerId !== undefined && { workerId: checkedName(workerId, 'worker id') }),
    ...(activityName !== undefined && { activityName: checkedName(activityName, 'activity name') }),
    limit: limit ?? LIMIT_DEFAULT,
  };
}

/** The worker details in the headers of a poll. @throws AppError `invalid_request` */
export function toWorkerOrigin(
  host: string,
  version: string,
  address: string,
): Omit<WorkerIdentity, 'workerId'> {
  return {
    host: nonEmpty(checkedName(host, 'header X-Worker-Host')),
    version: nonEmpty(checkedName(version, 'header X-Worker-Version')),
    address: nonEmpty(address),
  };
}

function nonEmpty(text: string): string | null {
  return text === '' ? null : text;
}

export function toWorkerList({ count, exact, items }: host.WorkerList): wire.WorkerList {
  return { items: items.map(toWorker), count, exact };
}

function toWorker({ activities, items, lastPollTime, ...worker }: host.WorkerView): wire.Worker {
  return {
    ...worker,
    lastPollTime: toWireTimeOrNull(lastPollTime),
    activities: activities.map(({ lastPollAt, name, polling }) => ({
      activityName: name,
      polling,
      lastPollTime: toWireTime(lastPollAt),
    })),
    items: items.map(toHeldItem),
  };
}

function toHeldItem(item: host.HeldItemView): wire.HeldItem {
  return {
    ...item,
    offeredTime: toWireTime(item.offeredTime),
    heldSince: toWireTimeOrNull(item.heldSince),
    leaseUntil: toWireTimeOrNull(item.leaseUntil),
  };
}
