/** Converts actions on runs between host and wire. */
import { AppError } from '../../../base/errors.js';
import type { ControlOutcome, InstanceAction } from '../../../runtime/operations/control-types.js';
import type { AuditEntry } from '../../../store/records/control.js';
import type * as wire from '../models/control.js';
import { toWireTime } from './time.js';

/** @throws AppError `invalid_request` */
export function toInstanceAction({
  action,
  compensate = false,
}: wire.ControlRequest): InstanceAction {
  if (!compensate) return action;
  if (action === 'terminate') return 'compensate';
  throw new AppError(
    'invalid_request',
    `compensate applies only to the action terminate, not to ${action}`,
  );
}

export function toControlAnswer(outcomes: readonly ControlOutcome[]): wire.ControlAnswer {
  return { results: outcomes.map((outcome) => ({ ...outcome })) };
}

export function toWorkflowAction({ action, actor, detail, time }: AuditEntry): wire.WorkflowAction {
  return { time: toWireTime(time), actor, action, detail };
}
