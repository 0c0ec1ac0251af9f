/**
 * The cause of a failure: step, type, and the message without what differs from run to run. Runs that failed for the same cause
 * form a group, and an execution that fails for the same cause again and again has been failing since the first time.
 */
import type { Pointer } from '../model/pointer.js';
import type { StepError } from '../model/step-record.js';
import { normalizeMessage } from './normalize-message.js';

type Caused = Pick<StepError, 'stepId' | 'type' | 'message'>;

export function causeOf({ message, stepId, type }: Caused): readonly [string, string, string] {
  return [stepId, type, normalizeMessage(message)];
}

/** When the failure of which this error is the newest attempt began. */
export function failingSince({ since, time }: Pick<StepError, 'since' | 'time'>): number {
  return since ?? time;
}

/** The error of an execution, with the time since when it has been failing like this. */
export function continueFailing(
  { error: before, hasRecovered }: Pointer,
  error: StepError,
): StepError {
  if (before === null || hasRecovered === true || !isSameCause(before, error)) return error;
  // The clock of this node may be behind that of the one before.
  const since = Math.min(failingSince(before), failingSince(error));
  return since < error.time ? { ...error, since } : error;
}

function isSameCause(left: Caused, right: Caused): boolean {
  const cause = causeOf(right);
  return causeOf(left).every((part, index) => part === cause[index]);
}

/** A round of a loop has ended: its condition does not fail any more. The loop may still take too long. */
export function endRound(pointer: Pointer): void {
  if (pointer.error !== null && pointer.error.type !== 'Timeout') pointer.hasRecovered = true;
}
