/** Converts custom steps between host and wire. */
import type { Request } from 'express';
import type * as host from '../../../runtime/definitions/custom-step-types.js';
import type * as wire from '../models/step.js';
import { itemsWithPosition } from './problem-items.js';
import { toWireTime } from './time.js';

export function toStoredStep(
  request: Request,
  { name, version, warnings }: host.StoredScript,
): wire.StoredStep {
  return { name, version, warnings: itemsWithPosition(request, warnings) };
}

export function toStepSummary(step: host.StepScriptSummary): wire.StepSummary {
  const { createdAt, createdBy, name, version } = step;
  return { name, version, createdAt: toWireTime(createdAt), createdBy };
}
