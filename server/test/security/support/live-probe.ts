/**
 * A separate process that acts as other clients while a server is attacked, and reports the worst delay: it calls
 * `/health/live` repeatedly, one call at a time, and runs workflows that are unrelated to the attack, one after the
 * other. It sends "ready" after the first of each and `ProbeReport` when its parent requests it.
 *
 * Only the server's share is counted. On Linux the kernel reports how long a thread was ready to run without a core;
 * that time, of the server's threads and of this one, is subtracted, so that a busy machine does not fail a test.
 */
import { setTimeout } from 'node:timers/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

export interface ProbeReport {
  /** Milliseconds of the slowest response, without the time that the machine kept the threads waiting. */
  readonly worstMs: number;
  /** The same by the clock. */
  readonly worstWallMs: number;
  /**
   * The maximum CPU time of the server's main thread during one call: its work before it responded. The time that this
   * process waited for a core is subtracted, so that other load on the machine does not add to it. 0 if the kernel does not
   * report it.
   */
  readonly worstCpuMs: number;
  readonly calls: number;
  /** Calls without a response 200: the server was gone, or rejected them. */
  readonly failures: number;
  /**
   * Milliseconds from the start of the slowest unrelated run to its end, including rejected starts, measured like
   * `worstMs`.
   */
  readonly worstRunMs: number;
  /** Unrelated runs that have succeeded. */
  readonly runs: number;
}

/** Between two calls; short compared with the limit, so that no stall is missed. */
const PAUSE_MS = 5;
/** Between two unrelated runs. */
const RUN_PAUSE_MS = 50;
const CALL_TIMEOUT_MS = 60_000;

const [serverUrl = '', serverPid = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 2 });
const report = {
  worstMs: 0,
  worstWallMs: 0,
  worstCpuMs: 0,
  calls: 0,
  failures: 0,
  worstRunMs: 0,
  runs: 0,
};

interface Usage {
  /** Milliseconds on a core. */
  readonly cpuMs: number;
  /** Milliseconds ready to run, without a core. */
  readonly waitedMs: number;
}

/** Of one thread; zeros if the kernel does not report them. */
function usageOf(pid: string | number, thread: string | number = pid): Usage {
  try {
    const fields = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return { cpuMs: Number(fields[0]) / 1e6, waitedMs: Number(fields[1]) / 1e6 };
  } catch {
    return { cpuMs: 0, waitedMs: 0 };
  }
}

/** The server, and the Python interpreters that it has started. */
function serverProcesses(): readonly string[] {
  try {
    const children = readFileSync(`/proc/${serverPid}/task/${serverPid}/children`, 'utf8');
    return [serverPid, ...children.split(' ').filter((pid) => pid !== '')];
  } catch {
    return [serverPid];
  }
}

/** By process and thread: a run waits for the server's main thread, for that of its store, and for an interpreter. */
function waitsOfServer(): ReadonlyMap<string, ReadonlyMap<string, number>> {
  return new Map(serverProcesses().map((pid) => [pid, waitsOfThreads(pid)]));
}

function waitsOfThreads(pid: string): ReadonlyMap<string, number> {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return new Map(threads.map((thread) => [thread, usageOf(pid, thread).waitedMs]));
  } catch {
    return new Map();
  }
}

/**
 * Milliseconds for which a run could have waited for a core since then: for a thread of the server, then for an
 * interpreter.
 */
function waitedSince(before: ReadonlyMap<string, ReadonlyMap<string, number>>): number {
  const longest = (pid: string, waits: ReadonlyMap<string, number>): number =>
    Math.max(0, ...[...waits].map(([thread, ms]) => ms - (before.get(pid)?.get(thread) ?? ms)));
  const { [serverPid]: ofServer = 0, ...ofInterpreters } = Object.fromEntries(
    [...waitsOfServer()].map(([pid, waits]) => [pid, longest(pid, waits)]),
  );
  return ofServer + Math.max(0, ...Object.values(ofInterpreters));
}

interface Answer {
  /** 0: none has arrived. */
  readonly status: number;
  readonly text: string;
}

function call(method: string, path: string, body?: object): Promise<Answer> {
  return new Promise((resolve) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = { agent, headers, method, timeout: CALL_TIMEOUT_MS };
    const outgoing = request(serverUrl + path, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    outgoing.once('timeout', () => outgoing.destroy());
    outgoing.once('error', () => resolve({ status: 0, text: '' }));
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function measure(): Promise<void> {
  const before = [usageOf(serverPid), usageOf(process.pid)] as const;
  const began = performance.now();
  const { status } = await call('GET', '/health/live');
  const wallMs = performance.now() - began;
  const after = [usageOf(serverPid), usageOf(process.pid)] as const;
  const ownWaitedMs = after[1].waitedMs - before[1].waitedMs;
  const waitedMs = after[0].waitedMs - before[0].waitedMs + ownWaitedMs;
  // While this process waits for a core, the call may not be sent yet, or be answered already.
  const cpuMs = Math.max(0, after[0].cpuMs - before[0].cpuMs - ownWaitedMs);
  report.calls += 1;
  if (status !== 200) report.failures += 1;
  report.worstWallMs = Math.max(report.worstWallMs, Math.round(wallMs));
  report.worstCpuMs = Math.max(report.worstCpuMs, Math.round(cpuMs));
  report.worstMs = Math.max(report.worstMs, Math.round(wallMs - waitedMs));
}

/** A step that needs Python between two that do not. */
const UNRELATED = {
  Id: `unrelated-${process.pid}`,
  Steps: [
    { Id: 'a', StepType: 'NoOp', Outputs: { a: '1' }, NextStepId: 'b' },
    { Id: 'b', StepType: 'NoOp', Outputs: { b: 'sorted([3, 2, 1])' }, NextStepId: 'c' },
    { Id: 'c', StepType: 'NoOp', Outputs: { c: 'data.b' } },
  ],
};

async function runUnrelated(): Promise<void> {
  const before = waitsOfServer();
  const ownBefore = usageOf(process.pid).waitedMs;
  const began = performance.now();
  let started = await call('POST', `/api/workflow/${UNRELATED.Id}`, {});
  while (started.status === 429 || started.status === 503) {
    await setTimeout(PAUSE_MS);
    started = await call('POST', `/api/workflow/${UNRELATED.Id}`, {});
  }
  // The server is gone, which `failures` reports too.
  if (started.status === 0) return;
  if (started.status !== 201) throw new Error(`${started.status} ${started.text}`);
  const { workflowId } = JSON.parse(started.text) as { workflowId?: string };
  const ended = await call('GET', `/api/workflow/${workflowId ?? ''}?wait=60`);
  const wallMs = performance.now() - began;
  const waitedMs = waitedSince(before) + usageOf(process.pid).waitedMs - ownBefore;
  if (ended.text.includes('"Succeeded"')) report.runs += 1;
  else if (ended.status !== 0) process.stderr.write(`unrelated: ${started.text} ${ended.text}\n`);
  report.worstRunMs = Math.max(report.worstRunMs, Math.round(wallMs - waitedMs));
}

const state = { isStopping: false };

async function measureRuns(): Promise<void> {
  while (!state.isStopping) {
    await runUnrelated();
    await setTimeout(RUN_PAUSE_MS);
  }
}

// Connecting and compiling do not count as latency of the server.
await call('GET', '/health/live');
const stored = await call('POST', '/api/definition', UNRELATED);
if (stored.status !== 201) throw new Error(`${stored.status} ${stored.text}`);
await runUnrelated();
Object.assign(report, { worstRunMs: 0, runs: 0 });
process.send?.('ready');
process.once('message', () => (state.isStopping = true));
const runs = measureRuns();
while (!state.isStopping) {
  await measure();
  await setTimeout(PAUSE_MS);
}
// One more of each after the attack: its delayed work counts too.
await Promise.all([measure(), runs.then(runUnrelated)]);
process.send?.(report satisfies ProbeReport, () => process.exit(0));
