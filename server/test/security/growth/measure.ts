/**
 * The cost of an action for the server, read from the kernel, so that a busy machine changes nothing, and which costs
 * are too high.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import type { SpawnedServer } from '../../support/spawned-server.js';

export interface Cost {
  /** CPU time of the thread that handles requests. */
  readonly cpuMs: number;
  /** The longest part of it without a response. */
  readonly stallMs: number;
  /** The peak of the memory in use, above the initial amount. */
  readonly peakMb: number;
}

/** Something that is sent, in any size. */
export interface Growing<Value> {
  readonly name: string;
  /** Throws RangeError if this size cannot be written. */
  readonly grow: (size: number) => Value;
}

const STALL_MS_MAX = 200;
/** A request takes 1 MiB at most. */
const PEAK_MB_MAX = 256;
/** Eight times the size may cost this many times as much; below the minimum, the cost is that of any request. */
const GROWTH_MAX = 8 * 2.5;
const COMPARED_FROM_MS = 50;
const SIZE_MAX = 262_144;
const TRIES = 3;
/** A processor with other work makes everything slower: an excessive cost is measured again. */
const ATTEMPTS_OF_EXCESS = 8;

function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

function megabytes(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** The whole cost is assumed to be one stall. */
export async function costOf(server: SpawnedServer, work: () => Promise<void>): Promise<Cost> {
  const { pid } = server;
  // Resets the peak that the kernel records.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const usedMb = megabytes(pid, 'VmRSS');
  const before = mainThreadMs(pid);
  await work();
  const cpuMs = mainThreadMs(pid) - before;
  return { cpuMs, stallMs: cpuMs, peakMb: megabytes(pid, 'VmHWM') - usedMb };
}

/**
 * Work over many turns: another client sends requests all the time, and a stall is the server's work between two
 * responses.
 */
export async function costDuringOtherCalls(
  server: SpawnedServer,
  work: () => Promise<void>,
): Promise<Cost> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let stallMs = 0;
  let isOver = false;
  const others = async (): Promise<void> => {
    let before = mainThreadMs(server.pid);
    while (!isOver) {
      await ask(`${server.url}/health/live`, agent);
      const now = mainThreadMs(server.pid);
      stallMs = Math.max(stallMs, now - before);
      before = now;
    }
  };
  await ask(`${server.url}/health/live`, agent);
  const asking = others();
  try {
    const cost = await costOf(server, work);
    isOver = true;
    await asking;
    return { ...cost, stallMs };
  } finally {
    isOver = true;
    agent.destroy();
  }
}

function ask(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => response.resume().on('end', resolve).on('error', reject))
      .on('error', reject)
      .end();
  });
}

/** The minimum of several attempts: other work of the thread must not count. */
async function leastCost(measure: () => Promise<Cost>): Promise<Cost> {
  let least = await measure();
  const wantsAnother = (tries: number): boolean =>
    isTooMuch(least) ? tries < ATTEMPTS_OF_EXCESS : least.cpuMs > COMPARED_FROM_MS && tries < TRIES;
  for (let tries = 1; wantsAnother(tries); tries += 1) {
    const cost = await measure();
    least = {
      cpuMs: Math.min(least.cpuMs, cost.cpuMs),
      stallMs: Math.min(least.stallMs, cost.stallMs),
      peakMb: Math.min(least.peakMb, cost.peakMb),
    };
  }
  return least;
}

function isTooMuch({ peakMb, stallMs }: Cost): boolean {
  return stallMs > STALL_MS_MAX || peakMb > PEAK_MB_MAX;
}

/**
 * The largest size that can be written, found by doubling. It is created once: a value that is almost too deep may fail
 * the next time.
 */
function largest<Value>({ grow }: Growing<Value>): {
  readonly size: number;
  readonly grown: Value;
} {
  let found = { size: 1, grown: grow(1) };
  for (let size = 2; size <= SIZE_MAX; size *= 2) {
    try {
      found = { size, grown: grow(size) };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      break;
    }
  }
  return found;
}

/** The problem at the largest size that can be sent; null if there is none. */
export async function findingOf<Value>(
  growing: Growing<Value>,
  costAt: (grown: Value) => Promise<Cost>,
): Promise<string | null> {
  const { grown, size } = largest(growing);
  const { cpuMs, peakMb, stallMs } = await leastCost(() => costAt(grown));
  const finding = (what: string): string => `${growing.name}: ${what} at size ${size}`;
  if (stallMs > STALL_MS_MAX) return finding(`a stall of ${Math.round(stallMs)} ms`);
  if (peakMb > PEAK_MB_MAX) return finding(`${Math.round(peakMb)} MB`);
  if (cpuMs < COMPARED_FROM_MS || size < 64) return null;
  const eighth = growing.grow(size / 8);
  const { cpuMs: eighthMs } = await leastCost(() => costAt(eighth));
  if (cpuMs <= GROWTH_MAX * Math.max(eighthMs, 1)) return null;
  const times = Math.round(cpuMs / eighthMs);
  return finding(`${Math.round(cpuMs)} ms, ${times} times as much as an eighth`);
}
