/**
 * Which executions have begun and therefore may have had an effect, so that they are compensated. Waits, delays and work items
 * that no worker has held have not begun.
 */
import type { Pointer, UndoneError, UndoneOutcome } from '../model/pointer.js';
import { isOver } from '../session/pointer-states.js';
import { stepOf, type Session } from '../session/session.js';

/** How an execution ended, as shown to its compensation. */
export interface Begun {
  readonly outcome: UndoneOutcome;
  /** Default: none. */
  readonly error?: UndoneError | null;
}

/** Errors that leave unknown whether the step had its effect. */
const UNCERTAIN_ERRORS: ReadonlySet<string> = new Set([
  'Timeout',
  'HttpNoAnswer',
  'Aborted',
  'InternalError',
]);

export function isUncertain(errorType: string): boolean {
  return UNCERTAIN_ERRORS.has(errorType);
}

/** How a step that is not in flight ends if it is cut short now; null if it has not begun, or has ended already. */
export function begunOf(session: Session, pointer: Pointer): Begun | null {
  const { state } = pointer;
  switch (state.kind) {
    case 'finishing':
      return isOver(state) ? null : { outcome: 'Completed' };
    case 'queued':
      return null;
    case 'sleeping':
    case 'ready':
      if (state.kind === 'sleeping' && state.kept !== undefined) return { outcome: 'Completed' };
      return earlierAttempt(pointer) ?? (isEnteredContainer(session, pointer) ? UNKNOWN : null);
    case 'event':
    case 'activity':
    case 'effect':
    case 'child':
    case 'limited':
      return earlierAttempt(pointer);
    case 'open':
      return earlierAttempt(pointer) ?? UNKNOWN;
    case 'compensating':
      // Its compensation plan already contains it.
      return null;
  }
}

const UNKNOWN: Begun = { outcome: 'Unknown' };

/** How the failed attempts ended; null if none failed. */
export function earlierAttempt({ error, isUncertain: isUnknown }: Pointer): Begun | null {
  if (isUnknown === true) return { outcome: 'Unknown', error };
  return error === null ? null : { outcome: 'Failed', error };
}

/** How a step ended after a failed attempt. If only its Outputs or selectors failed, it had its result. */
export function failedOf(pointer: Pointer): Begun {
  const { error, state } = pointer;
  if (state.kind === 'finishing' && !isOver(state)) return { outcome: 'Completed', error };
  return earlierAttempt(pointer) ?? { outcome: 'Failed', error };
}

function isEnteredContainer(session: Session, pointer: Pointer): boolean {
  return stepOf(session, pointer).do.length > 0 && pointer.inputs !== null;
}

/**
 * Whether the step itself is in flight: it has a result to apply, or external work may be in progress. For an activity, only
 * the store knows whether a worker holds its work item.
 * @param requested see `requestedOf`
 */
export function isInFlight(
  session: Session,
  pointer: Pointer,
  requested: ReadonlySet<number>,
): boolean {
  const { id, joined, state } = pointer;
  switch (state.kind) {
    case 'finishing':
      return !isOver(state);
    case 'activity':
      return !requested.has(id);
    case 'effect':
      return !requested.has(id) || session.interrupted.has(id);
    case 'child':
      if (joined !== undefined) return false;
      return !requested.has(id) || session.interrupted.has(id);
    case 'ready':
    case 'sleeping':
    case 'queued':
    case 'event':
    case 'limited':
    case 'open':
    case 'compensating':
      return false;
  }
}

/** The pointers whose work is only requested: no commit contains it yet, so it can't have begun. */
export function requestedOf({ changes }: Session): ReadonlySet<number> {
  const offered = changes.activities.map(({ id }) => Number(id.split('/')[1]));
  return new Set([...offered, ...changes.effects]);
}
