/**
 * S-42: no request blocks the server, whatever its size. Method: valid requests to every operation of the OpenAPI
 * document, derived from the document, grow in one dimension at a time up to the limits of the server. The same applies
 * to data, results, events and definitions that runs use, until the runs have ended and were read. The CPU time of the
 * server's main thread is read from the kernel, so that a busy machine changes nothing: at most 200 ms at a time, at
 * most in proportion to the size, and with at most 256 MB.
 *
 * There are thousands of dimensions; a run tests as many, in the order of `FUZZ_SEED`, as fit into `FUZZ_SECONDS` (10
 * by default) for each of the two tests. `GROWTH=all`, as in `pnpm fuzz`, tests all of them, which takes an hour on an
 * idle machine and ends after fifty minutes for each test at the latest. `GROWTH_ONLY` selects those with a text in
 * their name.
 */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startProcess, temporaryFolder } from '../../behavior/support/server-process.js';
import type { SpawnedServer } from '../../support/spawned-server.js';
import { liveGrowths, Runs } from './live-requests.js';
import { costDuringOtherCalls, costOf, findingOf, type Cost, type Growing } from './measure.js';
import { growths, type GrownRequest } from './requests.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const ALL = process.env['GROWTH'] === 'all';
const SECONDS = ALL ? 3000 : Number(process.env['FUZZ_SECONDS'] ?? 10);
const ONLY = process.env['GROWTH_ONLY'];

function send(url: string, { body, headers, method, path }: GrownRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(new URL(path, url), { method, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', () => resolve(0));
    });
    call.setTimeout(120_000, () => call.destroy(new Error('no response for two minutes')));
    // The response to a body that is too large comes before all of it was sent.
    call.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET' ? resolve(0) : reject(error),
    );
    call.end(body ?? undefined);
  });
}

/** Another order for each seed. */
function shuffled<Value>(values: readonly Value[], seed: number): Value[] {
  let state = seed >>> 0;
  const keyed = values.map((value) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return [state, value] as const;
  });
  return keyed.sort(([left], [right]) => left - right).map(([, value]) => value);
}

function chosen<Of extends { readonly name: string }>(every: readonly Of[]): readonly Of[] {
  return ONLY === undefined
    ? shuffled(every, SEED)
    : every.filter(({ name }) => name.includes(ONLY));
}

/** Tries one after the other until the time is up, and fails with all findings. */
async function growAll<Value, More>(
  every: readonly (Growing<Value> & More)[],
  costAt: (grown: Value, growing: More) => Promise<Cost>,
): Promise<void> {
  const endsAt = performance.now() + SECONDS * 1000;
  const findings: string[] = [];
  let tried = 0;
  for (const growing of chosen(every)) {
    if (ONLY === undefined && performance.now() > endsAt) break;
    const finding = await findingOf(growing, (grown) => costAt(grown, growing));
    if (finding !== null) {
      // Printed at once: a run over all of them takes long.
      console.log(finding);
      findings.push(finding);
    }
    tried += 1;
  }
  console.log(`${tried} of ${every.length} dimensions grew from FUZZ_SEED=${SEED}`);
  if (ONLY === undefined) expect(tried).toBeGreaterThan(0);
  expect(findings).toEqual([]);
}

async function start(): Promise<SpawnedServer> {
  return startProcess({
    PORT: '0',
    DATA_DIR: await temporaryFolder(),
    WRONG_TOKENS_PER_MINUTE_MAX: '1000000',
    // Waiting costs no CPU time.
    POLL_TIMEOUT_SECONDS_MAX: '1',
    WAIT_SECONDS_MAX: '1',
    log_level: 'error',
  });
}

describe.runIf(process.platform === 'linux')('a growing input', () => {
  const LIMIT = (SECONDS + 300) * 1000;

  it(
    `does not block other requests (FUZZ_SEED=${SEED})`,
    async () => {
      const server = await start();
      await growAll(growths(), (grown) =>
        costOf(server, async () => {
          expect(await send(server.url, grown)).not.toBe(500);
        }),
      );
    },
    LIMIT,
  );

  it(
    `does not block other requests when runs use it (FUZZ_SEED=${SEED})`,
    async () => {
      const server = await start();
      const runs = new Runs(server.url);
      await runs.define();
      await growAll(liveGrowths(), async (body, { prepare }) =>
        costDuringOtherCalls(server, await prepare(runs, body)),
      );
    },
    LIMIT,
  );
});
