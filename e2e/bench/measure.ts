/** Runs an operation many times: sequentially for latency, in parallel for throughput. */
export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export async function latencyOf(
  count: number,
  warmUp: number,
  once: (n: number) => Promise<void>,
): Promise<Latency> {
  for (let n = 0; n < warmUp; n += 1) await once(n);
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const startedAt = performance.now();
    await once(warmUp + n);
    times.push(performance.now() - startedAt);
  }
  return latencyFrom(times);
}

export function latencyFrom(times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** NaN for no values. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/** Operations per second with this many in progress at any time. */
export async function throughputOf(
  count: number,
  concurrency: number,
  once: (n: number) => Promise<void>,
): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < count) {
        next += 1;
        await once(next);
      }
    }),
  );
  return count / ((performance.now() - startedAt) / 1000);
}
