/** Goal: scrapes of a large store cost little, and those of a small one are up to date. */
import { expect, it } from 'vitest';
import { StatisticsCache } from '../../../src/runtime/fleet/statistics-cache.js';
import type { StoreStatistics } from '../../../src/store/records/housekeeping.js';
import { StoreUnavailableError } from '../../../src/store/store.js';
import { ManualClock } from '../support/manual-clock.js';

function cacheOf(complete: number, nodes = 1) {
  const clock = new ManualClock();
  const reads: ((result: StoreStatistics | Error) => void)[] = [];
  const store = {
    statistics: () =>
      new Promise<StoreStatistics>((resolve, reject) => {
        reads.push((result) => {
          if (result instanceof Error) reject(result);
          else resolve(result);
        });
      }),
  };
  const cache = new StatisticsCache({ store, clock, nodes: () => nodes });
  const statistics = (more = 0): StoreStatistics => ({
    instances: { Runnable: 0, Suspended: 0, Complete: complete + more, Terminated: 0 },
    activities: [],
    undeliveredEvents: 0,
  });
  return { clock, cache, reads, statistics };
}

it('reads the statistics of a small store each time', async () => {
  const { cache, reads, statistics } = cacheOf(19_000);
  const first = cache.read();
  reads[0]!(statistics());
  expect(await first).toEqual(statistics());
  const second = cache.read();
  reads[1]!(statistics(1));
  expect(await second).toEqual(statistics(1));
});

it.each([
  [1_000_000, 1, 20_000],
  [1_000_000, 3, 60_000],
  [100_000, 1, 2000],
  [1_000_000_000, 1, 600_000],
])('keeps the statistics of %i instances on %i nodes for %i ms', async (count, nodes, keptMs) => {
  const { clock, cache, reads, statistics } = cacheOf(count, nodes);
  const first = cache.read();
  reads[0]!(statistics());
  await first;
  clock.advance(keptMs - 1);
  expect(await cache.read()).toEqual(statistics());
  expect(reads).toHaveLength(1);
  expect(cache.ageMs).toBe(keptMs - 1);
  clock.advance(1);
  const next = cache.read();
  expect(reads).toHaveLength(2);
  reads[1]!(statistics(1));
  expect(await next).toEqual(statistics(1));
  expect(cache.ageMs).toBe(0);
});

it('shares one read between concurrent calls, and does not keep a failed one', async () => {
  const { cache, reads, statistics } = cacheOf(1_000_000);
  const both = [cache.read(), cache.read()];
  expect(reads).toHaveLength(1);
  reads[0]!(new StoreUnavailableError('no answer'));
  expect(await Promise.all(both)).toEqual([null, null]);
  const next = cache.read();
  reads[1]!(statistics());
  expect(await next).toEqual(statistics());
});
