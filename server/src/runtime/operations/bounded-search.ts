/** How long a search of a client goes on. */
import type { Clock } from '../../base/clock.js';

/** Unless its caller says otherwise. */
export const SEARCH_MS_MAX = 300;
const SEARCH_CALLS_MAX = 200;

/** The calls to the store that one search may make. Between them, the store serves others. */
export function* searches(clock: Clock, ms: number = SEARCH_MS_MAX): Generator<() => boolean> {
  const end = clock.now() + ms;
  for (let left = SEARCH_CALLS_MAX; left > 0; left -= 1) {
    yield () => left === 1 || clock.now() >= end;
  }
}
