/** What is done to workflows, between the host and the wire. */
import { AppError } from '../../../base/errors.js';
import type { ControlOutcome, SteerAction } from '../../../runtime/operations/operator-views.js';
import type { AuditEntry } from '../../../store/store.js';
import type * as wire from '../models/control.js';
import { toWireTime } from './time.js';

/** @throws AppError `invalid_request` */
export function toSteerAction({ action, compensate = false }: wire.ControlRequest): SteerAction {
  if (!compensate) return action;
  if (action === 'terminate') return 'compensate';
  throw new AppError(
    'invalid_request',
    `compensate belongs to the action terminate, not ${action}`,
  );
}

export function toControlAnswer(outcomes: readonly ControlOutcome[]): wire.ControlAnswer {
  return { results: outcomes.map((outcome) => ({ ...outcome })) };
}

export function toWorkflowAction({ action, actor, detail, time }: AuditEntry): wire.WorkflowAction {
  return { time: toWireTime(time), actor, action, detail };
}
