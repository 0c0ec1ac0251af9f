/** Converts explanations between host and wire. */
import type * as host from '../../../runtime/explain/explanation.js';
import type * as wire from '../models/explanation.js';
import { toWorkflowAction } from './control.js';
import { toWireTime, toWireTimeOrNull } from './time.js';
import { toStepError } from './workflow.js';

export function toExplanation(explanation: host.Explanation): wire.Explanation {
  const { lastRepair, moreReasons, outcome, reasons, repairs, status, summary, time, workflowId } =
    explanation;
  return {
    workflowId,
    status,
    outcome,
    time: toWireTime(time),
    summary,
    reasons: reasons.map(toReason),
    moreReasons,
    lastRepair: lastRepair === null ? null : toWorkflowAction(lastRepair),
    repairs: repairs.map(({ action, body, text }) => ({
      action,
      text,
      call: `POST /api/workflow/${encodeURIComponent(workflowId)}/${action}`,
      body,
    })),
  };
}

function toReason(reason: host.WaitReason): wire.WaitReason {
  const { actions, error, holders, queue, since, until, worker, ...rest } = reason;
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
    ...(holders !== undefined && { holders: [...holders] }),
    error: error === null ? null : toStepError(error),
    actions: [...actions],
  };
}
