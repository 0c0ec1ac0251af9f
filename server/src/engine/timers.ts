/** Time: when an instance must be looked at, and what happens then. */
import { failStep } from './fail-step.js';
import { executionKey, type Pointer } from './pointer.js';
import { primitiveOf } from './primitives/primitives.js';
import { finish, setState, type Run } from './run.js';
import { settle } from './settle.js';

/** The earliest time at which something is due; null when nothing waits for time. */
export function nextTimer(run: Run): number | null {
  if (run.instance.status !== 'Runnable') return null;
  let earliest: number | null = null;
  for (const pointer of run.instance.pointers.values()) {
    const due = dueAt(pointer);
    if (due !== null && (earliest === null || due < earliest)) earliest = due;
  }
  return earliest;
}

/** Lets everything happen that is due at `run.now`, in the order of time. */
export function fireTimers(run: Run): void {
  if (!isRunnable(run)) return;
  const due = [...run.instance.pointers.values()]
    .map((pointer) => ({ pointer, at: dueAt(pointer) }))
    .filter(
      (timer): timer is { pointer: Pointer; at: number } =>
        timer.at !== null && timer.at <= run.now,
    )
    .sort((a, b) => a.at - b.at || a.pointer.id - b.pointer.id);
  for (const { pointer } of due) {
    // An earlier timer may have ended this pointer, or the whole instance.
    const stillDue = dueAt(pointer);
    if (run.instance.pointers.get(pointer.id) !== pointer || stillDue === null) continue;
    if (isRunnable(run) && stillDue <= run.now) fire(run, pointer);
  }
  settle(run);
}

function dueAt(pointer: Pointer): number | null {
  const { state, deadline } = pointer;
  // The time-out of an attempt that has not begun is later than the time it begins.
  if (state.kind === 'sleeping') {
    return state.reason === 'retry' || deadline === null
      ? state.until
      : Math.min(state.until, deadline);
  }
  // What has its result already is not late any more; what is being compensated cannot be.
  if (state.kind === 'finishing' || state.kind === 'compensating') return null;
  const until = state.kind === 'event' || state.kind === 'activity' ? state.until : null;
  if (until === null) return deadline;
  return deadline === null ? until : Math.min(until, deadline);
}

function fire(run: Run, pointer: Pointer): void {
  const { state, deadline } = pointer;
  if (state.kind === 'sleeping' && state.until <= run.now) {
    if (state.reason === 'retry') setState(run, pointer, { kind: 'ready' });
    else primitiveOf(run, pointer).woken(run, pointer);
  } else if (deadline !== null && deadline <= run.now) {
    failStep(run, pointer, { type: 'Timeout', message: 'the step did not end within its Timeout' });
  } else if (state.kind === 'event') {
    run.changes.removedSubscriptions.push(executionKey(run.instance.id, pointer));
    finish(run, pointer, { EventData: null, TimedOut: true });
  } else if (state.kind === 'activity') {
    failStep(run, pointer, { type: 'Timeout', message: 'no result came within the input Timeout' });
  }
}

function isRunnable(run: Run): boolean {
  return run.instance.status === 'Runnable';
}
