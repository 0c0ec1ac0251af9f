/** Converts explanations between host and wire. */
import type * as host from '../../../runtime/operations/explain/explanation.js';
import type * as wire from '../models/explanation.js';
import { toWireTime, toWireTimeOrNull } from './time.js';
import { toStepError } from './workflow.js';

export function toExplanation(explanation: host.Explanation): wire.Explanation {
  const { moreReasons, outcome, reasons, status, summary, time, workflowId } = explanation;
  return {
    workflowId,
    status,
    outcome,
    time: toWireTime(time),
    summary,
    reasons: reasons.map(toReason),
    moreReasons,
  };
}

function toReason(reason: host.WaitReason): wire.WaitReason {
  const { actions, error, queue, since, until, worker, ...rest } = reason;
  return {
    ...rest,
    since: toWireTimeOrNull(since),
    until: toWireTimeOrNull(until),
    ...(worker !== undefined && {
      worker: { workerId: worker.workerId, leaseUntil: toWireTimeOrNull(worker.leaseUntil) },
    }),
    ...(queue !== undefined && {
      queue: { pollers: queue.pollers, lastPollTime: toWireTimeOrNull(queue.lastPollTime) },
    }),
    error: error === null ? null : toStepError(error),
    actions: [...actions],
  };
}
