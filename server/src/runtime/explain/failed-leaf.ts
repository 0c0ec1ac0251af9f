/** The open step whose failure suspended an instance. */
import type { Pointer } from '../../engine/model/pointer.js';
import type { StepError } from '../../engine/model/step-record.js';
import type { InstanceFacts } from './explanation.js';

export function failedLeafOf(
  { leaves }: Pick<InstanceFacts, 'leaves'>,
  error: StepError,
): Pointer | undefined {
  return leaves.find((leaf) => wasSuspendedBy(leaf, error));
}

/** A failure that suspends leaves its step ready for another attempt at the time of the failure, with no retry counted. */
function wasSuspendedBy({ id, retries, state }: Pointer, error: StepError): boolean {
  if (id !== error.pointerId || retries > 0 || state.kind !== 'sleeping') return false;
  return state.reason === 'retry' && state.until <= error.time;
}
