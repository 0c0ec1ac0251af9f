/** When the store's scan must find an instance, should nobody have woken it by then. */
import { canGoOn, type Run } from '../../engine/flow/run.js';
import { nextTimer } from '../../engine/flow/timers.js';
import { hasUnderWay } from './under-way.js';

/** An instance with an effect under way is due at some time, should everything else fail that finds it. */
const RECHECK_MS = 60 * 60_000;

/** @param leaving its node stops: what is under way is due at once. */
export function wakeTimeOf(run: Run, leaving: boolean): number | null {
  const { instance } = run;
  if (instance.outbox.length > 0) return 0;
  if (instance.status !== 'Runnable') return null;
  if (canGoOn(run)) return 0;
  const timer = nextTimer(run);
  if (!hasUnderWay(instance)) return timer;
  const recheck = leaving ? run.now : run.now + RECHECK_MS;
  return timer === null ? recheck : Math.min(timer, recheck);
}
