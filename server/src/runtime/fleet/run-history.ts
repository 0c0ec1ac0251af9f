/**
 * How many runs this node has started and ended, and how long they took, by minute for an hour and by hour for a day.
 *
 * It costs a few additions per run and no store operation. It is only in memory: a node's counts are lost when it stops.
 */
import type { InstanceOutcome } from '../../store/records/instances.js';
import type { Clock } from '../../base/clock.js';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const MINUTES = 60;
export const HOURS = 24;

export interface RunCounts {
  readonly started: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Compensated or terminated. */
  readonly stopped: number;
  /** The total duration of all ended runs. */
  readonly totalMs: number;
  readonly longestMs: number;
}

/** One minute or hour: the number of whole minutes or hours from 1970 to its start. */
export interface RunBucket extends RunCounts {
  readonly at: number;
}

/** Omits minutes and hours without runs. */
export interface RunHistoryReport {
  readonly minutes: readonly RunBucket[];
  readonly hours: readonly RunBucket[];
}

export const NO_RUNS: RunCounts = {
  started: 0,
  succeeded: 0,
  failed: 0,
  stopped: 0,
  totalMs: 0,
  longestMs: 0,
};

const NAME_BY_OUTCOME: Readonly<Record<InstanceOutcome, 'succeeded' | 'failed' | 'stopped'>> = {
  Succeeded: 'succeeded',
  Failed: 'failed',
  Compensated: 'stopped',
  Terminated: 'stopped',
};

type OpenBucket = { -readonly [Name in keyof RunBucket]: number };

export class RunHistory {
  readonly #clock: Clock;
  readonly #minutes = new Buckets(MINUTE_MS, MINUTES);
  readonly #hours = new Buckets(HOUR_MS, HOURS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  started(): void {
    const now = this.#clock.now();
    this.#minutes.at(now).started += 1;
    this.#hours.at(now).started += 1;
  }

  ended(outcome: InstanceOutcome, startTime: number): void {
    const now = this.#clock.now();
    const ms = Math.max(0, now - startTime);
    const name = NAME_BY_OUTCOME[outcome];
    for (const bucket of [this.#minutes.at(now), this.#hours.at(now)]) {
      bucket[name] += 1;
      bucket.totalMs += ms;
      bucket.longestMs = Math.max(bucket.longestMs, ms);
    }
  }

  report(): RunHistoryReport {
    const now = this.#clock.now();
    return { minutes: this.#minutes.newest(now), hours: this.#hours.newest(now) };
  }
}

/** A ring: each new bucket replaces the oldest one. */
class Buckets {
  readonly #unitMs: number;
  readonly #ring: OpenBucket[];

  constructor(unitMs: number, count: number) {
    this.#unitMs = unitMs;
    this.#ring = Array.from({ length: count }, () => ({ at: 0, ...NO_RUNS }));
  }

  at(now: number): OpenBucket {
    const at = Math.floor(now / this.#unitMs);
    const place = at % this.#ring.length;
    const bucket = this.#ring[place];
    if (bucket?.at === at) return bucket;
    const empty = { at, ...NO_RUNS };
    this.#ring[place] = empty;
    return empty;
  }

  newest(now: number): readonly RunBucket[] {
    const last = Math.floor(now / this.#unitMs);
    return this.#ring
      .filter(({ at }) => at > last - this.#ring.length && at <= last)
      .map((bucket) => ({ ...bucket }));
  }
}

/** Adds up the buckets of several nodes, one for each of the last `count` minutes or hours, oldest first. */
export function addUp(
  reports: readonly (readonly RunBucket[])[],
  last: number,
  count: number,
): readonly RunBucket[] {
  const sums = Array.from({ length: count }, (_, n): OpenBucket => {
    return { at: last - count + 1 + n, ...NO_RUNS };
  });
  for (const bucket of reports.flat()) {
    const sum = sums[bucket.at - (last - count + 1)];
    if (sum === undefined) continue;
    sum.started += bucket.started;
    sum.succeeded += bucket.succeeded;
    sum.failed += bucket.failed;
    sum.stopped += bucket.stopped;
    sum.totalMs += bucket.totalMs;
    sum.longestMs = Math.max(sum.longestMs, bucket.longestMs);
  }
  return sums;
}
