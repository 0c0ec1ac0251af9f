/**
 * Floods the built server, which has a heap of 256 MB, with one kind of call by one caller, and measures what another caller
 * notices (flood-probe.ts).
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { clientWith, TOKEN_ENVIRONMENT, tokenWith } from '../../behavior/support/token-client.js';
import type { Store } from '../../../src/store/store.js';
import { createSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { SpawnedServer } from '../../support/spawned-server.js';
import { worstCall, type FloodCall, type FloodSubjects } from './flood-calls.js';
import { fillStore, prepareFlood, type FloodSizes } from './flood-subjects.js';
import type { FloodProbeReport } from './flood-probe.js';

const HEAP_MB = 256;
/** Calls that wait, such as streams, are ended after this time. */
const FLOOD_MS_MAX = 20_000;
/** What the heap may hold afterwards, besides what it held before. */
const KEPT_MB_MAX = 64;
const BACK_MS_MAX = 60_000;
/** Some limits are per address. */
const FLOOD_ADDRESS = '127.0.0.2';
/** Read of an answer. */
const TEXT_LENGTH = 300;
/** Unless the call says otherwise. */
const WORKED = [200, 201, 202, 204];

const SCOPES = {
  narrowed: 'conductor:viewer:flood-* conductor:controller:flood-* conductor:worker:flood-*',
  viewer: 'conductor:viewer',
  author: 'conductor:author',
  admin: 'conductor:admin',
  other: 'conductor:viewer conductor:controller conductor:worker',
} as const;

export interface FloodOptions {
  readonly sizes: FloodSizes;
  /** Calls in parallel. */
  readonly parallel: number;
  /** Default: the embedded store. */
  readonly database?: FloodDatabase;
}

/** A database server of its own. */
export interface FloodDatabase {
  readonly environment: Readonly<Record<string, string>>;
  /** Null: it isn't a process of this machine. */
  readonly pid: number | null;
  open(): Store;
}

export interface FloodReport extends FloodProbeReport {
  readonly operation: string;
  /** How often each status was answered to the flood, and the first refusal of each; 0: no answer. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, string>>;
  /** Statuses that show that the calls did their work. */
  readonly expects: readonly number[];
  readonly isAlive: boolean;
  /** Megabytes in use of the heap: before, and when they were the fewest afterwards. */
  readonly heapMb: { readonly before: number; readonly after: number };
  readonly output: string;
}

/** A server with everything that the calls are about. */
export class FloodedServer {
  readonly #database: FloodDatabase;
  #server: SpawnedServer;
  readonly #subjects: FloodSubjects;
  readonly #parallel: number;

  private constructor(
    database: FloodDatabase,
    server: SpawnedServer,
    { parallel, subjects }: { readonly parallel: number; readonly subjects: FloodSubjects },
  ) {
    this.#database = database;
    this.#server = server;
    this.#subjects = subjects;
    this.#parallel = parallel;
  }

  static async start(folder: string, options: FloodOptions): Promise<FloodedServer> {
    const { parallel, sizes } = options;
    const database = options.database ?? embeddedStore(folder);
    const environment = { ...database.environment, DATA_DIR: folder };
    await fillStore(database.open(), sizes);
    const preparing = await startServer(environment, []);
    try {
      const subjects = await prepareFlood(await clientWith(preparing.url, SCOPES.admin), sizes);
      await preparing.stop();
      const server = await startServer(environment);
      return new FloodedServer({ ...database, environment }, server, { parallel, subjects });
    } finally {
      await preparing.kill();
    }
  }

  stop(): Promise<void> {
    return this.#server.kill();
  }

  async flood(operation: string): Promise<FloodReport> {
    const { environment, pid } = this.#database;
    if (!this.#server.isRunning) this.#server = await startServer(environment);
    const server = this.#server;
    const {
      by = 'narrowed',
      expects = WORKED,
      parallel = this.#parallel,
    } = worstCall(operation, this.#subjects, 0);
    const token = await tokenWith(SCOPES[by], 'flood');
    const before = await heapMb(server);
    const probe = await Probe.start(server, pid);
    const answers: Answers = { statuses: {}, refusals: {} };
    let report: FloodProbeReport;
    try {
      const calls = (at: number) => worstCall(operation, this.#subjects, at);
      await sendAll({
        url: server.url,
        token,
        operation,
        parallel,
        calls,
        answers,
      });
    } finally {
      report = await probe.stop();
    }
    const after = server.isRunning ? await heapMbAfter(server, before) : before;
    const { isRunning: isAlive, output } = server;
    return {
      operation,
      expects,
      ...answers,
      ...report,
      isAlive,
      heapMb: { before, after },
      output: output.slice(-2000),
    };
  }
}

/**
 * The criterion for every operation.
 * @param otherCpuMsMax how long another caller may wait, in CPU time of the server
 */
export function expectUnharmed(report: FloodReport, otherCpuMsMax: number): void {
  expect(problemsOf(report, otherCpuMsMax), JSON.stringify(report, null, 1)).toEqual([]);
}

function problemsOf(report: FloodReport, otherCpuMsMax: number): readonly string[] {
  const { expects, failures, heapMb: heap, isAlive, polls, starts, statuses } = report;
  const worst = Math.max(report.worstStartCpuMs, report.worstPollCpuMs);
  const problems = [
    isAlive ? '' : 'the server has died',
    failures.length === 0 ? '' : `failed calls of another: ${failures[0] ?? ''}`,
    starts > 0 && polls > 0 ? '' : 'another caller got nothing done',
    worst <= otherCpuMsMax ? '' : `another caller waited for ${Math.round(worst)} ms of CPU`,
    heap.after - heap.before <= KEPT_MB_MAX ? '' : `memory did not come back: ${heap.after} MB`,
    '500' in statuses ? 'the server failed' : '',
    expects.some((status) => status in statuses) ? '' : 'no call reached its work',
  ];
  return problems.filter((problem) => problem !== '');
}

/** One line for the log of the night. */
export function summaryOf(report: FloodReport): string {
  const { heapMb: heap, operation, polls, refusals, starts, statuses } = report;
  const start = `start ${Math.round(report.worstStartCpuMs)} ms of ${starts}`;
  const poll = `poll ${Math.round(report.worstPollCpuMs)} ms of ${polls}`;
  const memory = `heap ${heap.before} to ${heap.after} MB`;
  const refused = Object.keys(refusals).length === 0 ? '' : ` ${JSON.stringify(refusals)}`;
  return `${operation}: ${JSON.stringify(statuses)}, ${start}, ${poll}, ${memory}${refused}`;
}

function embeddedStore(folder: string): FloodDatabase {
  const open = (): Store => createSqliteStore({ path: path.join(folder, 'stepwright.db') });
  return { environment: {}, pid: null, open };
}

function startServer(
  environment: Readonly<Record<string, string>>,
  nodeOptions = [`--max-old-space-size=${HEAP_MB}`],
): Promise<SpawnedServer> {
  const settings = { PORT: '0', LOG_LEVEL: 'error', ...TOKEN_ENVIRONMENT };
  return SpawnedServer.start({ ...settings, ...environment }, { nodeOptions });
}

class Probe {
  readonly #child: ReturnType<typeof fork>;

  private constructor(child: ReturnType<typeof fork>) {
    this.#child = child;
  }

  static async start(server: SpawnedServer, databasePid: number | null): Promise<Probe> {
    const token = await tokenWith(SCOPES.other, 'other');
    const file = new URL('flood-probe.ts', import.meta.url);
    const pids = databasePid === null ? [server.pid] : [server.pid, databasePid];
    const child = fork(file, [server.url, token, ...pids.map(String)], { execArgv: [] });
    const ended = once(child, 'exit').then(() => {
      throw new Error('the other caller has ended');
    });
    await Promise.race([once(child, 'message'), ended]);
    ended.catch(() => undefined);
    return new Probe(child);
  }

  async stop(): Promise<FloodProbeReport> {
    if (!this.#child.connected) throw new Error('the other caller has ended');
    const reported = once(this.#child, 'message') as Promise<[FloodProbeReport]>;
    this.#child.send('stop');
    const [report] = await reported;
    return report;
  }
}

/** Filled by the flood. */
interface Answers {
  readonly statuses: Record<string, number>;
  readonly refusals: Record<string, string>;
}

interface Answer {
  readonly status: number;
  /** The beginning. */
  readonly text: string;
}

interface Flood {
  readonly url: string;
  readonly token: string;
  readonly operation: string;
  readonly parallel: number;
  readonly calls: (at: number) => FloodCall;
  readonly answers: Answers;
}

async function sendAll(flood: Flood): Promise<void> {
  const { parallel } = flood;
  const { refusals, statuses } = flood.answers;
  const agent = new Agent({ keepAlive: true, maxSockets: parallel });
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < parallel) {
      const at = next;
      next += 1;
      const { status, text } = await send(flood, flood.calls(at), agent);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status >= 300 && !(status in refusals)) refusals[status] = text;
    }
  };
  const lanes = Promise.all(Array.from({ length: parallel }, lane));
  const isOver = new AbortController();
  const late = setTimeout(FLOOD_MS_MAX, null, { signal: isOver.signal }).then(
    () => {
      next = parallel;
      agent.destroy();
    },
    () => undefined,
  );
  await Promise.race([lanes, late]);
  isOver.abort();
  agent.destroy();
  await lanes;
}

/** Status 0: no answer. */
function send(
  { operation, token, url }: Flood,
  { body, query = '', type = 'application/json', values = {} }: FloodCall,
  agent: Agent,
): Promise<Answer> {
  const [method = '', pattern = ''] = operation.split(' ');
  const filled = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve) => {
    let status = 0;
    let text = '';
    const done = (): void => resolve({ status, text });
    const options = { method, agent, headers, localAddress: FLOOD_ADDRESS };
    const call = request(url + filled + query, options, (response) => {
      status = response.statusCode ?? 0;
      response.on('data', (part: Buffer) => {
        if (text === '') text = part.toString('utf8', 0, TEXT_LENGTH);
      });
      response.on('end', done).on('close', done).on('error', done);
    });
    call.on('error', done).on('close', done);
    call.end(body);
  });
}

async function heapMb({ url }: SpawnedServer): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const bytes = /^nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1];
  return Math.round(Number(bytes) / 2 ** 20);
}

/** Garbage is collected when something is allocated, as each reading of the metrics does. */
async function heapMbAfter(server: SpawnedServer, before: number): Promise<number> {
  let fewest = Infinity;
  const isBack = async (): Promise<boolean> => {
    fewest = Math.min(fewest, await heapMb(server));
    return fewest - before <= KEPT_MB_MAX;
  };
  await eventually('memory comes back', isBack, BACK_MS_MAX).catch(() => undefined);
  return fewest;
}
