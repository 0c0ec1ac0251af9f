/**
 * `worstLiveLatency`: how long other clients wait for the built server while it is under attack.
 *
 *     const server = await startProcess({ PORT: '0', DATA_DIR: await temporaryFolder() });
 *     const measured = await worstLiveLatency(server, () => attack(server.url));
 *     expectLively(measured);
 *
 * There are three processes: the server, this one, which attacks, and a probe (live-probe.ts), which calls `/health/live`
 * and runs unrelated workflows in the meantime. A probe in the attacking process would measure that process; one in the
 * server would not respond while the server stalls.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import type { SpawnedServer } from '../../support/spawned-server.js';
import type { ProbeReport } from './live-probe.js';

/** No caller may keep the server from responding to others for longer. */
const LIVE_LATENCY_MAX_MS = 200;
/**
 * For the time in which the main thread waits without working: the kernel does not report how much of it other processes
 * cause.
 */
const WAIT_MAX_MS = 1000;
/** No caller may delay an unrelated run, which takes about ten milliseconds, for longer. */
const UNRELATED_RUN_MAX_MS = 1000;

export interface LiveLatency<T> extends ProbeReport {
  /** The result of the attack. */
  readonly answer: T;
}

/**
 * Runs the attack, and measures from its start until the server has responded once more after its end. The server has
 * no `auth`.
 */
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

/** The criterion for every attack: the server is up, and no other client has waited for long. */
export function expectLively(
  latency: ProbeReport,
  what = 'worst latency of /health/live',
  cpuMsMax = LIVE_LATENCY_MAX_MS,
): void {
  expect(latency.failures, `${what}: calls without a response`).toBe(0);
  expect(latency.calls, `${what}: calls`).toBeGreaterThan(0);
  expectPromptAnswers(latency, what, cpuMsMax);
  expectPromptRuns(latency);
}

function expectPromptAnswers(
  { worstCpuMs, worstMs }: ProbeReport,
  what: string,
  cpuMsMax: number,
): void {
  const isMeasured = worstCpuMs > 0;
  if (isMeasured) expect(worstCpuMs, `${what}, in CPU time`).toBeLessThan(cpuMsMax);
  expect(worstMs, what).toBeLessThan(isMeasured ? WAIT_MAX_MS : LIVE_LATENCY_MAX_MS);
}

/** Unrelated runs have ended, and none has waited for long. */
function expectPromptRuns({ runs, worstRunMs }: ProbeReport): void {
  expect(runs, 'unrelated workflows').toBeGreaterThan(0);
  expect(worstRunMs, 'slowest unrelated workflow').toBeLessThan(UNRELATED_RUN_MAX_MS);
}
