/**
 * Runs a fuzzer for a time: rounds with random values from one seed, until the time is over or something is found.
 *
 * `FUZZ_SECONDS` says how long (10 by default, so that the test suite stays quick; `pnpm fuzz` takes longer), and
 * `FUZZ_SEED` repeats a run. A finding is a 5xx other than 503, an answer that takes longer than a hang may, or an error
 * in the server's log that no client should be able to cause.
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Client } from '../../behaviour/support/client.js';
import type { TestServer } from '../../behaviour/support/server.js';

const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 10);
const SEED = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31));
/** Generous, because machines that test do many things at once. */
const HANG_MS = 10_000;
const SLACK_MS = 60_000;

/** Small random decisions, all from one seed. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below `end`. */
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

  /** True once in so many times. */
  once(inTimes: number): boolean {
    return this.int(inTimes) === 0;
  }

  sample<Value>(arbitrary: fc.Arbitrary<Value>): Value {
    return fc.sample(arbitrary, { numRuns: 1, seed: this.int(2 ** 31) })[0]!;
  }
}

/** A test that repeats a round until its time is over; the round throws when it finds something. */
export function itSurvives(what: string, round: (chance: Chance) => Promise<void>): void {
  it(
    `${what} (${SECONDS} s from FUZZ_SEED=${SEED})`,
    async () => {
      const end = performance.now() + SECONDS * 1000;
      let rounds = 0;
      while (performance.now() < end) {
        await round(new Chance(SEED + rounds * 7919));
        rounds += 1;
      }
      console.log(`${what}: ${rounds} rounds in ${SECONDS} s from FUZZ_SEED=${SEED}`);
      expect(rounds).toBeGreaterThan(0);
    },
    SECONDS * 1000 + SLACK_MS,
  );
}

export interface Probe {
  readonly status: number;
  readonly text: string;
}

/** One call that must be answered in time and without a failure of the server. */
export async function probe(
  client: Client,
  line: readonly [method: string, path: string],
  options: Parameters<Client['call']>[2] = {},
): Promise<Probe> {
  const [method, path] = line;
  const began = performance.now();
  const { status, text } = await client.call(method, path, options);
  const tookMs = Math.round(performance.now() - began);
  const shown = () =>
    `${method} ${path} ${options.type ?? ''}\n${Buffer.from(options.body ?? '').toString('latin1')}\n=> ${status} after ${tookMs} ms: ${text}`;
  if (status >= 500 && status !== 503) throw new Error(shown());
  if (tookMs > HANG_MS) throw new Error(`slow: ${shown()}`);
  return { status, text };
}

/** Nothing in the log says that the server itself failed. */
export function expectNoFailures(server: TestServer): void {
  const failures = server.logLines.filter(
    ({ level, msg }) =>
      level === 'fatal' ||
      (level === 'error' && /Call failed|cannot be run|unreadable/.test(String(msg))),
  );
  expect(failures).toEqual([]);
}
