/** The time at which the store's scan must find an instance that nothing else wakes. */
import { canContinue, type Session } from '../../engine/session/session.js';
import { nextTimer } from '../../engine/flow/timers.js';
import { hasUnderWay } from './under-way.js';

/** An instance with a running effect becomes due eventually, as a fallback. */
const RECHECK_MS = 60 * 60_000;

/** @param leaving true if the node is stopping: work in progress is due immediately */
export function wakeTimeOf(session: Session, leaving: boolean): number | null {
  const { instance } = session;
  if (instance.outbox.length > 0) return 0;
  // The grace of a stop also ends while the instance is suspended.
  if (instance.status !== 'Runnable') return nextTimer(session);
  if (canContinue(session)) return 0;
  const timer = nextTimer(session);
  if (!hasUnderWay(instance)) return timer;
  const recheck = leaving ? session.now : session.now + RECHECK_MS;
  return timer === null ? recheck : Math.min(timer, recheck);
}
