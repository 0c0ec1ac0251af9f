/**
 * Floods of legitimate calls by one caller, and another caller who measures what the server did before it answered.
 *
 * The callers have different addresses of the loopback network, so the server tells them apart. Delays are counted in CPU
 * time of the server, so that other load on the machine does not matter.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';

const FLOODER = '127.0.0.1';
const OTHER = '127.0.0.2';
/** Linux counts CPU time in hundredths of a second on every machine. */
const TICK_MS = 10;

export interface FloodAnswer {
  /** 0: the connection broke. */
  readonly status: number;
  readonly text: string;
}

export interface FloodTarget {
  readonly url: string;
  readonly pid: number;
}

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly from?: string;
  /** The answer is read, but not kept. */
  readonly discards?: boolean;
  readonly signal?: AbortSignal;
}

const agent = new Agent({ keepAlive: true });

/** One call on a connection of its address. */
export function callFrom(
  { url }: FloodTarget,
  { body, discards = false, from = FLOODER, method = 'GET', path, signal }: Call,
): Promise<FloodAnswer> {
  return new Promise((resolve) => {
    const broken = (): void => resolve({ status: 0, text: '' });
    const sent = request(
      url + path,
      {
        method,
        agent,
        localAddress: from,
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        ...(signal && { signal }),
      },
      (response) => {
        let text = '';
        response.setEncoding('latin1');
        response.on('data', (part: string) => {
          if (!discards) text += part;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', broken);
      },
    );
    sent.on('error', broken);
    sent.end(body);
  });
}

/** A stream of changes: the number of bytes that arrived. */
export interface OpenStream {
  readonly status: number;
  bytes: number;
  readonly close: () => void;
}

export function openStream({ url }: FloodTarget, from: string): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/stream`, { localAddress: from }, (response) => {
      const stream: OpenStream = {
        status: response.statusCode ?? 0,
        bytes: 0,
        close: () => sent.destroy(),
      };
      response.on('data', (part: Buffer) => (stream.bytes += part.length));
      response.on('error', () => undefined);
      resolve(stream);
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** CPU time of all threads of the server so far, in milliseconds. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

export interface OtherCaller {
  /** The most CPU time of the server between a start, or a poll, and its answer. */
  readonly worstCpuMs: number;
  readonly calls: number;
  /** Statuses other than those of an accepted call. */
  readonly refusals: readonly number[];
}

/** Starts runs of the definition `other` and polls for their work, one call after the other, until `work` is over. */
export async function whileOtherCalls(
  server: FloodTarget,
  work: () => Promise<void>,
): Promise<OtherCaller> {
  const seen = { worstCpuMs: 0, calls: 0, refusals: [] as number[] };
  const measured = async (call: Call): Promise<FloodAnswer> => {
    const before = cpuMs(server.pid);
    const answer = await callFrom(server, { ...call, from: OTHER });
    if (answer.status === 0) return answer;
    seen.worstCpuMs = Math.max(seen.worstCpuMs, cpuMs(server.pid) - before);
    seen.calls += 1;
    if (![200, 201, 202].includes(answer.status)) seen.refusals.push(answer.status);
    return answer;
  };
  const over = new AbortController();
  const calling = (async () => {
    while (!over.signal.aborted) {
      await measured({ method: 'POST', path: '/api/workflow/other', body: '{}' });
      const { status, text } = await measured({ path: '/api/activity/other?timeout=20' });
      if (status === 0) return;
      if (status === 200) {
        const { token } = JSON.parse(text) as { token: string };
        await measured({ method: 'POST', path: `/api/activity/success/${token}`, body: 'null' });
      }
      await setTimeout(5);
    }
  })();
  try {
    await work();
  } finally {
    over.abort();
    await calling;
  }
  return seen;
}

/** Small work for the other caller. */
export const OTHER_WORK = {
  Id: 'other',
  Steps: [{ Id: 'a', StepType: 'Activity', Inputs: { ActivityName: "'other'", Parameters: '1' } }],
};

/** The value of a metric. */
export async function metric(server: FloodTarget, line: string): Promise<number> {
  const { text } = await callFrom(server, { path: '/metrics', from: OTHER });
  const found = text.split('\n').find((each) => each.startsWith(`${line} `));
  if (found === undefined) throw new Error(`there is no metric ${line}`);
  return Number(found.slice(line.length));
}

/** Resolves when no memory for answers is in use. */
export async function untilMemoryIsBack(server: FloodTarget): Promise<void> {
  const line = 'stepwright_memory_used_bytes{part="answers"}';
  const until = performance.now() + 20_000;
  while (performance.now() < until) {
    if ((await metric(server, line)) === 0) return;
    await setTimeout(50);
  }
  throw new Error(`${await metric(server, line)} bytes are still in use`);
}
