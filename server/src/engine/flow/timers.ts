/** Timers: when an instance must be checked next, and which timers fire. */
import { failStep } from '../failure/fail-step.js';
import { executionKey, type Pointer, type PointerState } from '../model/pointer.js';
import { primitiveOf } from '../primitives/primitives.js';
import { endGrace } from '../failure/in-flight.js';
import { isEnded } from '../model/instance.js';
import { beginAttempt, finish, queueStart, setState } from '../session/pointer-states.js';
import { parentOf } from '../session/pointers.js';
import { endWait, type Session } from '../session/session.js';
import { continueContainers } from '../primitives/continue-containers.js';

/** The earliest time at which something is due; null if nothing waits for a time. */
export function nextTimer(session: Session): number | null {
  const { cleanUp, pointers, status } = session.instance;
  const isRunning = status === 'Runnable';
  let next = isRunning ? session.cancelRecheckAt : null;
  if (!isEnded(session.instance)) next = earlier(next, cleanUp?.until ?? null);
  for (const pointer of pointers.values()) {
    next = earlier(next, isRunning ? dueAt(pointer) : graceEnd(pointer));
  }
  return next;
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/** The grace also runs while the instance is suspended. */
function graceEnd({ stopping }: Pointer): number | null {
  return stopping?.until ?? null;
}

/** The earliest deadline of a step and its enclosing steps, after which its work is no longer needed. */
export function deadlineAround(session: Session, pointer: Pointer): number | null {
  if (!isRunnable(session)) return null;
  let earliest: number | null = null;
  for (let at: Pointer | null = pointer; at !== null; at = parentOf(session, at)) {
    const { deadline } = at;
    if (deadline === null || !canBeLate(at)) continue;
    earliest = earliest === null ? deadline : Math.min(earliest, deadline);
  }
  return earliest;
}

/** Fires everything that is due at `run.now`, in chronological order. */
export function fireTimers(session: Session): void {
  endGraces(session);
  if (!isRunnable(session)) return;
  if (session.cancelRecheckAt !== null && session.cancelRecheckAt <= session.now)
    session.cancelCheckDue = true;
  const due = [...session.instance.pointers.values()]
    .map((pointer) => ({ pointer, at: waitEnd(pointer) }))
    .filter(
      (timer): timer is { pointer: Pointer; at: number } =>
        timer.at !== null && timer.at <= session.now,
    )
    .sort((a, b) => a.at - b.at || a.pointer.id - b.pointer.id);
  if (due.some(({ at }) => at > session.restingSince)) endWait(session);
  for (const { pointer } of due) {
    // An earlier timer may have ended this pointer, or the whole instance.
    const stillDue = waitEnd(pointer);
    if (session.instance.pointers.get(pointer.id) !== pointer || stillDue === null) continue;
    if (!isRunnable(session) || stillDue > session.now) continue;
    fire(session, pointer);
    // A container that has joined can no longer time out.
    continueContainers(session);
  }
}

function endGraces(session: Session): void {
  const { cleanUp, pointers } = session.instance;
  if (isEnded(session.instance)) return;
  if (cleanUp?.until != null && cleanUp.until <= session.now) {
    endWait(session);
    endGrace(session, null);
    continueContainers(session);
  }
  const over: Pointer[] = [];
  for (const pointer of pointers.values()) {
    if ((graceEnd(pointer) ?? Infinity) <= session.now) over.push(pointer);
  }
  for (const pointer of over) {
    if (pointers.get(pointer.id) !== pointer || graceEnd(pointer) === null) continue;
    endWait(session);
    endGrace(session, pointer);
    continueContainers(session);
  }
}

function dueAt(pointer: Pointer): number | null {
  return earlier(graceEnd(pointer), waitEnd(pointer));
}

/** When the wait of the pointer ends, whatever the reason for its stop. */
function waitEnd(pointer: Pointer): number | null {
  const { state, deadline } = pointer;
  if (!canBeLate(pointer)) return null;
  return earlier(earlier(untilOf(state), leaseEnd(state)), deadline);
}

/** When the store is asked again whether a worker holds the item of a stopped step. */
function leaseEnd(state: PointerState): number | null {
  return state.kind === 'activity' ? (state.leaseUntil ?? null) : null;
}

/** A pointer that has its result, or is being compensated, can no longer time out. */
function canBeLate({ state }: Pointer): boolean {
  return state.kind !== 'finishing' && state.kind !== 'compensating';
}

/** When the wait itself ends, regardless of the step's Timeout. */
function untilOf(state: PointerState): number | null {
  const waits = state.kind === 'sleeping' || state.kind === 'event' || state.kind === 'activity';
  return waits ? state.until : null;
}

function fire(session: Session, pointer: Pointer): void {
  const { state, deadline } = pointer;
  const until = untilOf(state);
  const earliest = earlier(until, deadline);
  const lease = leaseEnd(state);
  if (state.kind === 'activity' && lease !== null) {
    if (earliest === null || lease < earliest) {
      const { name } = state;
      setState(session, pointer, { kind: 'activity', name, until });
      return;
    }
  }
  // If the check is late, both may have passed: the earlier one counts.
  if (deadline !== null && (until === null || deadline < until)) {
    failStep(session, pointer, {
      type: 'Timeout',
      message: 'the step did not finish within its Timeout',
    });
  } else if (state.kind === 'sleeping') {
    const { queues } = state;
    if (queues !== undefined) queueStart(session, pointer, { at: state.until, queues });
    else if (state.reason === 'retry') beginAttempt(session, pointer);
    else primitiveOf(session, pointer).woken(session, pointer);
  } else if (state.kind === 'event') {
    session.changes.removedSubscriptions.push(executionKey(session.instance.id, pointer));
    finish(session, pointer, { EventData: null, TimedOut: true });
  } else if (state.kind === 'activity') {
    failStep(session, pointer, {
      type: 'Timeout',
      message: 'no result arrived within the input Timeout',
    });
  }
}

function isRunnable(session: Session): boolean {
  return session.instance.status === 'Runnable';
}
