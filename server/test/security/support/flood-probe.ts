/**
 * A separate process that acts as another caller while a server is flooded: it starts a run, takes its work item with a poll,
 * and completes it, again and again. It sends "ready" after the first of each, and a `FloodProbeReport` when its parent
 * requests it.
 *
 * A delay counts in CPU time of the server's process, and of its database's processes if it has a database server, from before
 * a call is sent until its answer has arrived, without the time that this process waited for a core: other load on the machine
 * adds nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';

export interface FloodProbeReport {
  readonly worstStartCpuMs: number;
  readonly worstPollCpuMs: number;
  readonly starts: number;
  readonly polls: number;
  /** Calls without success: their status, or the error of the connection. */
  readonly failures: readonly string[];
}

const PAUSE_MS = 10;
const CALL_TIMEOUT_MS = 120_000;
const [serverUrl = '', token = '', ...pids] = process.argv.slice(2);
const OWN_PIDS = [`${process.pid}`];
const agent = new Agent({ keepAlive: true, maxSockets: 2 });
const report = {
  worstStartCpuMs: 0,
  worstPollCpuMs: 0,
  starts: 0,
  polls: 0,
  failures: [] as string[],
};

/** Milliseconds on a core of all threads of processes, and ready to run without one. */
function usageOf(processes: readonly string[]): {
  readonly cpuMs: number;
  readonly waitedMs: number;
} {
  let cpuMs = 0;
  let waitedMs = 0;
  for (const folder of processes.flatMap(threadFoldersOf)) {
    const fields = readOrNothing(`${folder}/schedstat`).split(' ');
    cpuMs += Number(fields[0]) / 1e6;
    waitedMs += Number(fields[1] ?? 0) / 1e6;
  }
  return { cpuMs, waitedMs };
}

function threadFoldersOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  } catch {
    return [];
  }
}

/** A thread or process may have ended. */
function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** PostgreSQL has a process for each connection. */
function withChildren(pid: string): readonly string[] {
  const children = threadFoldersOf(pid).flatMap((folder) =>
    readOrNothing(`${folder}/children`).split(' '),
  );
  return [pid, ...children.filter((child) => child.trim() !== '')];
}

interface Answer {
  readonly text: string;
  readonly cpuMs: number;
}

/** @throws Error with the status */
async function measured(method: string, path: string, body?: string): Promise<Answer> {
  const [server, ...database] = pids;
  const processes = [server ?? '', ...database.flatMap(withChildren)];
  const before = usageOf(processes);
  const own = usageOf(OWN_PIDS);
  const text = await ask(method, path, body);
  const cpuMs = usageOf(processes).cpuMs - before.cpuMs;
  return { text, cpuMs: Math.max(0, cpuMs - (usageOf(OWN_PIDS).waitedMs - own.waitedMs)) };
}

function ask(method: string, path: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const options = { method, agent, headers, timeout: CALL_TIMEOUT_MS };
    const call = request(serverUrl + path, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('error', reject).on('end', () => {
        const { statusCode = 0 } = response;
        if (statusCode >= 200 && statusCode < 300 && statusCode !== 204) resolve(text);
        else
          reject(new Error(`${method} ${path.slice(0, 30)} ${statusCode} ${text.slice(0, 300)}`));
      });
    });
    call.on('timeout', () => call.destroy(new Error(`no answer to ${method} ${path}`)));
    call.on('error', reject).end(body);
  });
}

async function round(): Promise<void> {
  const started = await measured('POST', '/api/workflow/other', '{}');
  report.starts += 1;
  report.worstStartCpuMs = Math.max(report.worstStartCpuMs, started.cpuMs);
  const polled = await measured('GET', '/api/activity/other-work?timeout=60&lease=600');
  report.polls += 1;
  report.worstPollCpuMs = Math.max(report.worstPollCpuMs, polled.cpuMs);
  const item = JSON.parse(polled.text) as { token: string };
  await ask('POST', `/api/activity/success/${item.token}`, '{}');
}

async function main(): Promise<void> {
  const over = new AbortController();
  process.once('message', () => over.abort());
  // What runs first is compiled first.
  for (let warm = 0; warm < 5; warm += 1) await round();
  Object.assign(report, { worstStartCpuMs: 0, worstPollCpuMs: 0, starts: 0, polls: 0 });
  process.send?.('ready');
  do {
    try {
      await round();
    } catch (error) {
      report.failures.push(error instanceof Error ? error.message : String(error));
    }
    await setTimeout(PAUSE_MS);
  } while (!over.signal.aborted && report.failures.length < 100);
  process.send?.(report, () => process.exit());
}

await main();
