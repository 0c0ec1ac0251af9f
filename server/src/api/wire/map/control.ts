/** Converts actions on runs between host and wire. */
import { AppError } from '../../../base/errors.js';
import type { UndoPreview } from '../../../engine/flow/preview-clean-up.js';
import type { ControlOutcome, InstanceAction } from '../../../runtime/model/control-types.js';
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

/** @throws AppError `invalid_request` */
export function assertCompensates(
  compensate: boolean,
  given: { readonly dryRun: boolean; readonly grace: string | undefined; readonly purge: boolean },
): void {
  const { dryRun, grace, purge } = given;
  if (purge && compensate) {
    throw new AppError(
      'invalid_request',
      'compensate terminates a run, and purge removes one that has ended: give only one of them',
      { parameter: 'compensate' },
    );
  }
  if (compensate || (grace === undefined && !dryRun)) return;
  const parameter = dryRun ? 'dryRun' : 'grace';
  throw new AppError('invalid_request', `${parameter} needs compensate=true`, { parameter });
}

export function toPreview({ inFlight, undo }: UndoPreview): wire.CompensationPreview {
  return { undo: [...undo], inFlight: [...inFlight] };
}

/** `Input` violations quote the run's data. */
export function withoutInput(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'invalid_data') return error;
  return new AppError('invalid_data', 'The input of the run does not fit the Input of the version');
}
