/**
 * `worstLiveLatency`: how long the built server lets others wait while something attacks it.
 *
 *     const server = await startProcess({ PORT: '0', DATA_DIR: await temporaryFolder() });
 *     const { answer, worstMs } = await worstLiveLatency(server, () => attack(server.url));
 *     expect(worstMs).toBeLessThan(LIVE_LATENCY_MAX_MS);
 *
 * Three processes: the server, this one, which attacks, and a probe (live-probe.ts) that asks `/health/live` meanwhile.
 * A probe in the attacking process would measure that process; one in the server could not be asked while it stalls.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import type { SpawnedServer } from '../../support/spawned-server.js';
import type { ProbeReport } from './live-probe.js';

/** No caller may keep the server from answering others for longer. */
export const LIVE_LATENCY_MAX_MS = 200;

export interface LiveLatency<T> extends ProbeReport {
  /** What the attack came back with. */
  readonly answer: T;
}

/** Runs the attack, and measures from its start until the server has answered once more after its end. */
export async function worstLiveLatency<T>(
  server: Pick<SpawnedServer, 'url' | 'pid'>,
  attack: () => Promise<T>,
): Promise<LiveLatency<T>> {
  const probe = fork(new URL('live-probe.ts', import.meta.url), [server.url, `${server.pid}`], {
    execArgv: [],
  });
  try {
    await once(probe, 'message');
    const answer = await attack();
    const reported = once(probe, 'message') as Promise<[ProbeReport]>; // Its second and last one.
    probe.send('stop');
    const [report] = await reported;
    return { ...report, answer };
  } finally {
    probe.kill();
  }
}

/** The bar for every attack: the server lives, and nobody else has waited for long. */
export function expectLively(latency: ProbeReport, what = 'worst latency of /health/live'): void {
  expect(latency.failures, `${what}: calls without an answer`).toBe(0);
  expect(latency.calls, `${what}: calls`).toBeGreaterThan(0);
  expect(latency.worstMs, what).toBeLessThan(LIVE_LATENCY_MAX_MS);
}
