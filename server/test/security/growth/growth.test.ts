/**
 * S-42: no request blocks the server, however it grows. Method: valid requests to every operation of the OpenAPI document,
 * derived from the document, grow in one dimension at a time up to the limits of the server. What the server's main thread
 * works for one request is read from the kernel, so that a busy machine changes nothing: at most 200 ms, and not more than
 * in proportion to the size.
 *
 * There are thousands of dimensions; a run takes as many, in the order of `FUZZ_SEED`, as fit into `FUZZ_SECONDS` (10 by
 * default). `GROWTH=all`, as in `pnpm fuzz`, takes all of them, which takes twenty minutes on an idle machine, and ends after
 * fifty at the latest. `GROWTH_ONLY` takes those with a text in their name.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startProcess, temporaryFolder } from '../../behaviour/support/server-process.js';
import type { SpawnedServer } from '../../support/spawned-server.js';
import { growths, type GrownRequest, type Growth } from './requests.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const ALL = process.env['GROWTH'] === 'all';
const SECONDS = ALL ? 3000 : Number(process.env['FUZZ_SECONDS'] ?? 10);
const ONLY = process.env['GROWTH_ONLY'];

const BLOCKED_MS_MAX = 200;
/** Eight times the size may cost this many times as much; below the time it is lost in what every request costs. */
const GROWTH_MAX = 8 * 2.5;
const WORTH_COMPARING_MS = 50;
const SIZE_MAX = 262_144;

/** CPU time of the thread that answers requests, in milliseconds. */
function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

function send(url: string, { body, headers, method, path }: GrownRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(new URL(path, url), { method, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', () => resolve(0));
    });
    call.setTimeout(120_000, () => call.destroy(new Error('no answer for two minutes')));
    // A body that is too large is answered before all of it was sent.
    call.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET' ? resolve(0) : reject(error),
    );
    call.end(body ?? undefined);
  });
}

/**
 * The largest request that can be sent, by doubling. It is made once: what is almost too deep to be written down may be too
 * deep the next time.
 */
function largest({ grow }: Growth): { readonly size: number; readonly grown: GrownRequest } {
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

/** Everything in another order for each seed. */
function shuffled<Value>(values: readonly Value[], seed: number): Value[] {
  let state = seed >>> 0;
  const keyed = values.map((value) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return [state, value] as const;
  });
  return keyed.sort(([left], [right]) => left - right).map(([, value]) => value);
}

/** The least of some tries: what else the thread had to do must not count. */
async function costMs(server: SpawnedServer, grown: GrownRequest, tries: number): Promise<number> {
  let least = Infinity;
  for (let count = 0; count < tries && least > WORTH_COMPARING_MS; count += 1) {
    const before = mainThreadMs(server.pid);
    expect(await send(server.url, grown)).not.toBe(500);
    least = Math.min(least, mainThreadMs(server.pid) - before);
  }
  return least;
}

async function findingOf(server: SpawnedServer, growth: Growth): Promise<string | null> {
  const { grown, size } = largest(growth);
  const cost = await costMs(server, grown, 3);
  const finding = (what: string): string => `${growth.name}: ${what} at size ${size}`;
  if (cost > BLOCKED_MS_MAX) return finding(`${Math.round(cost)} ms`);
  if (cost < WORTH_COMPARING_MS || size < 64) return null;
  const eighth = await costMs(server, growth.grow(size / 8), 3);
  if (cost <= GROWTH_MAX * Math.max(eighth, 1)) return null;
  return finding(`${Math.round(cost)} ms, ${Math.round(cost / eighth)} times as much as an eighth`);
}

describe.runIf(process.platform === 'linux')('requests that grow', () => {
  it(
    `block nobody (FUZZ_SEED=${SEED})`,
    async () => {
      const server = await startProcess({
        PORT: '0',
        DATA_DIR: await temporaryFolder(),
        WRONG_TOKENS_PER_MINUTE_MAX: '1000000',
        // Waiting is no work.
        POLL_TIMEOUT_SECONDS_MAX: '1',
        WAIT_SECONDS_MAX: '1',
        log_level: 'error',
      });
      const every = growths();
      const chosen =
        ONLY === undefined
          ? shuffled(every, SEED)
          : every.filter(({ name }) => name.includes(ONLY));
      const began = performance.now();
      const isOver = (): boolean => performance.now() - began > SECONDS * 1000;
      const findings: string[] = [];
      let tried = 0;
      for (const growth of chosen) {
        if (ONLY === undefined && isOver()) break;
        const finding = await findingOf(server, growth);
        if (finding !== null) findings.push(finding);
        tried += 1;
      }
      console.log(`${tried} of ${every.length} dimensions grew from FUZZ_SEED=${SEED}`);
      expect(tried).toBeGreaterThan(0);
      expect(findings).toEqual([]);
    },
    (SECONDS + 300) * 1000,
  );
});
