/** How many store operations a second a node makes. */
import type { StoreCall } from '../../../src/store/observed-store.js';

export interface TimedCall extends StoreCall {
  readonly at: number;
}

/**
 * By the interval between two calls of each kind: a count would depend on which of them happen to fall into the time. A kind
 * that occurred once is measured from its previous call, which may be a minute ago.
 *
 * @param seen the calls of this many seconds
 * @param before all earlier calls
 */
export function callsPerSecond(
  seen: readonly TimedCall[],
  before: readonly TimedCall[],
  seconds: number,
): number {
  const names = new Set(seen.map(({ name }) => name));
  return [...names].reduce((sum, wanted) => {
    const times = seen.filter(({ name }) => name === wanted).map(({ at }) => at);
    if (times.length > 1) return sum + (times.length - 1) / secondsBetween(times[0], times.at(-1));
    const previous = before.findLast(({ name }) => name === wanted);
    return sum + 1 / Math.max(seconds, secondsBetween(previous?.at, times[0]));
  }, 0);
}

function secondsBetween(start: number | undefined, end: number | undefined): number {
  return start === undefined || end === undefined ? 0 : (end - start) / 1000;
}
