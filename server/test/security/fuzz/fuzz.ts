/**
 * Runs a fuzzer for a time: rounds with random values from one seed, until the time is up or something is found.
 *
 * `FUZZ_SECONDS` is the total time of all tests of a fuzzer (10 by default, so that the test suite stays fast; `pnpm
 * fuzz` takes longer), and `FUZZ_SEED` repeats a run. A finding is a 5xx other than 503, a response that takes too
 * long, an event loop that does not turn, memory that is not released, or an error in the server's log that no client
 * should be able to cause.
 */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { createSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import type { Client } from '../../behavior/support/client.js';
import { serverForTests, type SecuredServer } from '../support/secured-server.js';
import { startWatchdog, usedMegabytes, type Watchdog } from './watchdog.js';

const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 10);
const SEED = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31));
/** CPU time of the server's thread from a call to its response, including all concurrent work. */
const HANG_CPU_MS = 2000;
/** The same on the clock: generous, because machines that run tests are busy. */
const HANG_MS = 60_000;
/** The memory that may stay in use after rounds on a store that keeps its data on disk: caches and compiled code. */
const GROWTH_MB_MAX = 96;
const SLACK_MS = 180_000;

/** Small random decisions, all from one seed. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0, below `end`. */
  int(end: number): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, end);
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.int(values.length)]!;
  }

  /** True with a probability of one in this many. */
  once(inTimes: number): boolean {
    return this.int(inTimes) === 0;
  }

  sample<Value>(arbitrary: fc.Arbitrary<Value>): Value {
    return fc.sample(arbitrary, { numRuns: 1, seed: this.int(2 ** 31) })[0]!;
  }
}

export interface Fuzzing {
  /** The number of tests in its file that share the time. */
  readonly shares?: number;
  /** False if the data sent stays in memory permanently. */
  readonly givesMemoryBack?: boolean;
}

let watchdog: Watchdog | null = null;

/** A test that repeats a round until its time is up; the round throws when it finds something. */
export function itSurvives(
  what: string,
  round: (chance: Chance) => Promise<void>,
  { givesMemoryBack = true, shares = 1 }: Fuzzing = {},
): void {
  const seconds = SECONDS / shares;
  it(
    `survives ${what} (${seconds} s from FUZZ_SEED=${SEED})`,
    async () => {
      const watching = startWatchdog(SEED);
      watchdog = watching;
      const began = performance.now();
      const elapsed = (): number => (performance.now() - began) / (seconds * 1000);
      let rounds = 0;
      let usedMb: number | null = null;
      try {
        for (; elapsed() < 1; rounds += 1) {
          watching.doing(`round ${rounds}`);
          await round(new Chance(SEED + rounds * 7919));
          // Permanently used memory has been allocated after a while.
          if (usedMb === null && elapsed() > 0.3) usedMb = usedMegabytes();
        }
      } catch (error) {
        throw new Error(`FUZZ_SEED=${SEED}, round ${rounds} found something`, { cause: error });
      } finally {
        watchdog = null;
        await watching.stop();
      }
      const nowMb = usedMegabytes();
      console.log(
        `${what}: ${rounds} rounds in ${seconds} s from FUZZ_SEED=${SEED}; longest stall ${watching.longestStallMs} ms, ` +
          `${usedMb} MB in use after a third of the time, ${nowMb} MB at the end`,
      );
      expect(rounds).toBeGreaterThan(0);
      if (givesMemoryBack) expect(nowMb - (usedMb ?? nowMb), 'MB more').toBeLessThan(GROWTH_MB_MAX);
    },
    SECONDS * 1000 + SLACK_MS,
  );
}

export interface Probe {
  readonly status: number;
  readonly text: string;
}

/** One call that must get a response in time, without a failure of the server. */
export async function probe(
  client: Client,
  line: readonly [method: string, path: string],
  options: Parameters<Client['call']>[2] = {},
): Promise<Probe> {
  const [method, path] = line;
  const sent = `${method} ${path} ${options.type ?? ''}\n${Buffer.from(options.body ?? '').toString('latin1')}`;
  watchdog?.doing(sent);
  const began = performance.now();
  const cpu = process.threadCpuUsage();
  const { status, text } = await client.call(method, path, options).catch((error: unknown) => {
    if (!isReset(error)) throw error;
    return client.call(method, path, options);
  });
  const tookMs = Math.round(performance.now() - began);
  const { system, user } = process.threadCpuUsage(cpu);
  const cpuMs = Math.round((system + user) / 1000);
  const shown = () => `${sent}\n=> ${status} after ${tookMs} ms, ${cpuMs} ms of CPU: ${text}`;
  if (status >= 500 && status !== 503) throw new Error(shown());
  if (cpuMs > HANG_CPU_MS || tookMs > HANG_MS) throw new Error(`slow: ${shown()}`);
  return { status, text };
}

/**
 * The server may close a persistent connection at the moment of the next call, especially on a busy machine. A call
 * that breaks its connection itself does so again.
 */
function isReset(error: unknown): boolean {
  const cause =
    error instanceof Error ? (error.cause as { readonly code?: unknown } | undefined) : undefined;
  return cause?.code === 'ECONNRESET' || cause?.code === 'UND_ERR_SOCKET';
}

export type FuzzedStore = 'memory' | 'sqlite';

/** A server for all tests of a block, whose log must contain no failure at the end. */
export function serverToFuzz(
  store: FuzzedStore,
  environment: Readonly<Record<string, string>> = {},
): SecuredServer {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-fuzz-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const openStore = () =>
    store === 'memory'
      ? createMemoryStore()
      : createSqliteStore({ path: path.join(folder, 'stepwright.db') });
  const at = serverForTests(environment, openStore, { keepsLine: isFailure });
  afterAll(() => expect(at.server.logLines).toEqual([]));
  return at;
}

/** The log line reports a failure of the server itself. A run that became too large is the fault of its author. */
export function isFailure({ level, msg, reason }: Record<string, unknown>): boolean {
  if (reason === 'InstanceTooLarge') return false;
  return (
    level === 'fatal' ||
    (level === 'error' && /Call failed|cannot be run|unreadable|unexpectedly/.test(String(msg)))
  );
}
