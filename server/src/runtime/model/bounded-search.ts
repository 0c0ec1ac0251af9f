/** Limits the duration of client searches. */
import type { Clock } from '../../base/clock.js';

/** Default duration of a search. */
export const SEARCH_MS_MAX = 300;
const SEARCH_CALLS_MAX = 200;

/** Yields before each store call that a search may make. Between calls, the store serves others. */
export function* searches(clock: Clock, ms: number = SEARCH_MS_MAX): Generator<() => boolean> {
  const end = clock.now() + ms;
  for (let left = SEARCH_CALLS_MAX; left > 0; left -= 1) {
    yield () => left === 1 || clock.now() >= end;
  }
}
