/** Activities between the host and the wire. */
import type * as host from '../../runtime/host.js';
import type * as wire from '../models/activity.js';
import { toTokenExpiry } from './time.js';

export function toWorkItem(item: host.WorkItem): wire.WorkItem {
  return {
    token: item.token,
    activityName: item.activityName,
    parameters: item.parameters,
    tokenExpiry: toTokenExpiry(item.tokenExpiresAt),
    workflowId: item.workflowId,
    stepId: item.stepId,
    attempt: item.attempt,
  };
}
