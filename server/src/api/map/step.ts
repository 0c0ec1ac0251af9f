/** Custom steps between the host and the wire. */
import type * as host from '../../runtime/host.js';
import type * as wire from '../models/step.js';
import { toWireTime } from './time.js';

export function toStoredStep({ name, version }: host.StepScriptView): wire.StoredStep {
  return { name, version };
}

export function toStepSummary(step: Omit<host.StepScriptView, 'source'>): wire.StepSummary {
  const { name, version, createdAt } = step;
  return { name, version, createdAt: toWireTime(createdAt) };
}
