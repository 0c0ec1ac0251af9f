/**
 * The cause of a failure: step, error type, and the message without its variable parts. Runs that failed with the same cause
 * form a group. An execution that keeps failing with the same cause has been failing since its first failure.
 */
import type { Pointer } from '../model/pointer.js';
import type { StepError } from '../model/step-record.js';
import { normalizeMessage } from './normalize-message.js';

type Caused = Pick<StepError, 'stepId' | 'type' | 'message'>;

export function causeOf({ message, stepId, type }: Caused): readonly [string, string, string] {
  return [stepId, type, normalizeMessage(message)];
}

/** When the execution began to fail with this error's cause. */
export function failingSince({ since, time }: Pick<StepError, 'since' | 'time'>): number {
  return since ?? time;
}

/** The error of an execution, with the time since which it has been failing with this cause. */
export function continueFailing(
  { error: before, hasRecovered }: Pointer,
  error: StepError,
): StepError {
  if (before === null || hasRecovered === true || !isSameCause(before, error)) return error;
  // This node's clock may be behind the previous node's.
  const since = Math.min(failingSince(before), failingSince(error));
  return since < error.time ? { ...error, since } : error;
}

function isSameCause(left: Caused, right: Caused): boolean {
  const cause = causeOf(right);
  return causeOf(left).every((part, index) => part === cause[index]);
}

/** A round of a loop has ended: its condition no longer fails. The loop can still time out. */
export function endRound(pointer: Pointer): void {
  if (pointer.error !== null && pointer.error.type !== 'Timeout') pointer.hasRecovered = true;
}
