/**
 * A process of its own that asks `/health/live` again and again, one call at a time, and says what the worst one took.
 * It sends "ready" after the first answer and `ProbeReport` when its parent asks for it.
 *
 * Only the server's share is counted. On Linux the kernel tells how long a thread was ready to run and had no core;
 * that time, of the server's main thread and of this one, is taken off, so that a busy machine does not fail a test.
 */
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';

export interface ProbeReport {
  /** Milliseconds of the slowest answer, without the time that the machine kept the threads waiting. */
  readonly worstMs: number;
  /** The same as the clock shows it. */
  readonly worstWallMs: number;
  /**
   * CPU time of the server's main thread during one call, at most: what it did before it answered. Other load on the machine
   * does not change it. 0 where the kernel does not tell.
   */
  readonly worstCpuMs: number;
  readonly calls: number;
  /** Calls without an answer 200: the server was gone, or refused. */
  readonly failures: number;
}

/** Between two calls; short against the bar, so that no stall hides between them. */
const PAUSE_MS = 5;
const CALL_TIMEOUT_MS = 60_000;

const [url = '', serverPid = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const report = { worstMs: 0, worstWallMs: 0, worstCpuMs: 0, calls: 0, failures: 0 };

interface Usage {
  /** Milliseconds on a core. */
  readonly cpuMs: number;
  /** Milliseconds ready to run, without a core. */
  readonly waitedMs: number;
}

/** Of the main thread of a process; zeros where the kernel does not tell. */
function usageOf(pid: string | number): Usage {
  try {
    const fields = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return { cpuMs: Number(fields[0]) / 1e6, waitedMs: Number(fields[1]) / 1e6 };
  } catch {
    return { cpuMs: 0, waitedMs: 0 };
  }
}

function ask(): Promise<boolean> {
  return new Promise((resolve) => {
    const outgoing = get(`${url}/health/live`, { agent, timeout: CALL_TIMEOUT_MS }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode === 200));
    });
    outgoing.once('timeout', () => outgoing.destroy());
    outgoing.once('error', () => resolve(false));
  });
}

async function measure(): Promise<void> {
  const before = [usageOf(serverPid), usageOf(process.pid)] as const;
  const began = performance.now();
  const isAlive = await ask();
  const wallMs = performance.now() - began;
  const after = [usageOf(serverPid), usageOf(process.pid)] as const;
  const waitedMs = after[0].waitedMs + after[1].waitedMs - before[0].waitedMs - before[1].waitedMs;
  report.calls += 1;
  if (!isAlive) report.failures += 1;
  report.worstWallMs = Math.max(report.worstWallMs, Math.round(wallMs));
  report.worstCpuMs = Math.max(report.worstCpuMs, Math.round(after[0].cpuMs - before[0].cpuMs));
  report.worstMs = Math.max(report.worstMs, Math.round(wallMs - waitedMs));
}

// Connecting and compiling are not the server's latency.
await ask();
process.send?.('ready');
const state = { isStopping: false };
process.once('message', () => (state.isStopping = true));
while (!state.isStopping) {
  await measure();
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
// One more call after the attack: what it left to do counts as well.
await measure();
process.send?.(report satisfies ProbeReport, () => process.exit(0));
