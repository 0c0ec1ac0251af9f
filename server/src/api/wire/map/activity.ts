/** Converts activities between host and wire. */
import type * as host from '../../../runtime/activities/activity-types.js';
import type * as wire from '../models/activity.js';
import { toTokenExpiry, toWireTime, toWireTimeOrNull } from './time.js';
import { traceHeadersOf } from '../../../tracing/trace-context.js';

export function toWorkItem(item: host.WorkItem): wire.WorkItem {
  return {
    token: item.token,
    activityName: item.activityName,
    parameters: item.parameters,
    tokenExpiry: toTokenExpiry(item.tokenExpiresAt),
    workflowId: item.workflowId,
    stepId: item.stepId,
    executionId: item.executionId,
    idempotencyKey: item.idempotencyKey,
    attempt: item.attempt,
    ...traceHeadersOf(item),
  };
}

export function toExtendedLease(lease: host.ExtendedLease): wire.ExtendedLease {
  const { cancelRequested, tokenExpiresAt } = lease;
  return { tokenExpiry: toTokenExpiry(tokenExpiresAt), cancelRequested };
}

export function toActivityQueue(queue: host.ActivityQueueView): wire.ActivityQueue {
  const { activityName, held, pollers, waiting } = queue;
  return {
    activityName,
    waiting,
    held,
    pollers,
    oldestTime: toWireTimeOrNull(queue.oldestTime),
    lastPollTime: toWireTimeOrNull(queue.lastPollTime),
  };
}

export function toActivityItem(item: host.ActivityItemView): wire.ActivityItem {
  const { attempt, definitionId, executionId, reference, state, workerId, workflowId } = item;
  return {
    workflowId,
    definitionId,
    reference,
    executionId,
    attempt,
    state,
    workerId,
    priority: item.priority,
    fairnessKey: item.fairnessKey,
    offeredTime: toWireTime(item.offeredTime),
    leaseUntil: toWireTimeOrNull(item.leaseUntil),
  };
}
