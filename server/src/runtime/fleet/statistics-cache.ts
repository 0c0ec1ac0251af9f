/**
 * The store's statistics for /metrics. Counting reads an entry for every instance, so the statistics of a large store are
 * cached: all nodes together spend about one percent of the database's time on them, however often they are requested.
 */
import type { Clock } from '../../base/clock.js';
import { runForServer } from '../../base/limits/current-caller.js';
import type { StoreStatistics } from '../../store/records/housekeeping.js';
import type { Store } from '../../store/store.js';

export interface StatisticsCacheOptions {
  readonly store: Pick<Store, 'statistics'>;
  readonly clock: Clock;
  /** Number of nodes that share the store. */
  readonly nodes: () => number;
}

/** Statistics of fewer records are read on every call. */
const SMALL_MAX = 20_000;
/** A database counts a million records in about 0.2 s. */
const KEPT_MS_PER_RECORD = 0.02;
const KEPT_MS_MAX = 600_000;

export class StatisticsCache {
  readonly #options: StatisticsCacheOptions;
  #newest: { readonly statistics: StoreStatistics; readonly readAt: number } | null = null;
  #reading: Promise<StoreStatistics | null> | null = null;

  constructor(options: StatisticsCacheOptions) {
    this.#options = options;
  }

  /** Milliseconds since the newest statistics were read; 0: there are none. */
  get ageMs(): number {
    return this.#newest === null ? 0 : Math.max(0, this.#options.clock.now() - this.#newest.readAt);
  }

  /** Null if the store does not respond. Concurrent callers share one read. */
  async read(): Promise<StoreStatistics | null> {
    const newest = this.#newest;
    if (newest !== null && this.ageMs < this.#keptMs(newest.statistics)) return newest.statistics;
    this.#reading ??= runForServer(() => this.#readStore()).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readStore(): Promise<StoreStatistics | null> {
    const { clock, store } = this.#options;
    const readAt = clock.now();
    try {
      const statistics = await store.statistics();
      this.#newest = { statistics, readAt };
      return statistics;
    } catch {
      // The other metrics matter even more while the store is unavailable.
      return null;
    }
  }

  #keptMs({ activities, instances, undeliveredEvents }: StoreStatistics): number {
    const waiting = activities.reduce((sum, { waiting: count }) => sum + count, 0);
    const ofInstances = Object.values(instances).reduce((sum, count) => sum + count, 0);
    const records = ofInstances + waiting + undeliveredEvents;
    if (records < SMALL_MAX) return 0;
    return Math.min(records * KEPT_MS_PER_RECORD * this.#options.nodes(), KEPT_MS_MAX);
  }
}
