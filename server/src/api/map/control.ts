/** What is done to workflows, between the host and the wire. */
import type { ControlOutcome } from '../../runtime/operator-views.js';
import type { AuditEntry } from '../../store/store.js';
import type * as wire from '../models/control.js';
import { toWireTime } from './time.js';

export function toControlAnswer(outcomes: readonly ControlOutcome[]): wire.ControlAnswer {
  return { results: outcomes.map((outcome) => ({ ...outcome })) };
}

export function toWorkflowAction({ action, actor, detail, time }: AuditEntry): wire.WorkflowAction {
  return { time: toWireTime(time), actor, action, detail };
}
