/** Describes how long a step has been failing with the same cause; empty if it has failed once. */
import type { StepError } from '../../engine/model/step-record.js';
import type { Pointer } from '../../engine/model/pointer.js';
import { plainDuration } from './plain-duration.js';

/** For a step that will be retried. */
export function failingFor({ attempt, error }: Pointer, now: number): string {
  if (error?.since === undefined) return '';
  return `; failing for ${plainDuration(now - error.since)}, ${attempt - 1} attempts`;
}

/** For a step that is no longer retried automatically. */
export function failedOver({ attempt, since, time }: StepError): string {
  if (since === undefined) return '';
  // The step of a saga that was retried as a whole may have failed in its first attempt each time.
  const what = attempt === 1 ? 'repeated failures' : `${attempt} attempts`;
  return `, after ${what} over ${plainDuration(time - since)}`;
}
