/**
 * S-53
 * Goal: many legitimate calls of one caller neither end a server with a heap of 256 MB nor stop other callers.
 * Method: the built server; a flood of polls, waits or streams whose answers together are many times larger than the heap.
 */
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { IS_NIGHTLY } from '../../../sdk/test/support/nightly.js';
import { temporaryFolder } from '../behavior/support/server-process.js';
import {
  callFrom,
  openStream,
  OTHER_WORK,
  untilMemoryIsBack,
  whileOtherCalls,
  type FloodTarget,
  type OtherCaller,
} from './support/memory-flood.js';
import { define, inParallel, startRuns, withLimitedServer } from './support/memory-attack.js';

const heapMb = 256;
const timeout = 120_000;
const LOAD = JSON.stringify('x'.repeat(900_000));
/**
 * More CPU time of the server before another caller's answer is a stall. A busy machine needs two to three times as much for the
 * same work, and unprotected servers took 2 to 10 s: only the nightly set, on a quiet machine, tests the promised limit.
 */
const STALL_MS = IS_NIGHTLY ? 500 : 2500;

const LARGE_WORK = {
  Id: 'large-work',
  Steps: [
    {
      Id: 'a',
      StepType: 'Activity',
      Inputs: { ActivityName: "'large'", Parameters: 'data.load' },
    },
  ],
};

/** Waits for an event, and keeps its data. */
const LARGE_RUN = {
  Id: 'large-run',
  Steps: [
    {
      Id: 'a',
      StepType: 'WaitFor',
      Inputs: { EventName: "'end'", EventKey: 'data.key' },
      Outputs: { got: 'True' },
    },
  ],
};

async function withServer(use: (server: FloodTarget) => Promise<void>): Promise<void> {
  await withLimitedServer({ heapMb, folder: await temporaryFolder() }, async ({ server }) => {
    for (const definition of [OTHER_WORK, LARGE_WORK, LARGE_RUN]) await define(server, definition);
    await use(server);
    await untilMemoryIsBack(server);
  });
}

function expectNoStall({ calls, refusals, worstCpuMs }: OtherCaller): void {
  expect(refusals).toEqual([]);
  expect(calls).toBeGreaterThan(3);
  expect(worstCpuMs).toBeLessThan(STALL_MS);
}

async function count(server: FloodTarget, of: string): Promise<number> {
  const { text } = await callFrom(server, { path: `/api/workflow/count?${of}` });
  return (JSON.parse(text) as { count: number }).count;
}

it('hands out large work items to many polls', { timeout }, async () => {
  const items = IS_NIGHTLY ? 200 : 40;
  await withServer(async (server) => {
    await startRuns(server, items, { definitionId: 'large-work', load: LOAD });
    const tokens = new Set<string>();
    const done = new AbortController();
    const poll = async (): Promise<void> => {
      const path = '/api/activity/large?timeout=60';
      const { status, text } = await callFrom(server, { path, signal: done.signal });
      if (status === 200) tokens.add(text.slice(0, 200));
      else if (!done.signal.aborted) throw new Error(`a poll returned ${status}`);
      // The other polls find nothing.
      if (tokens.size === items) done.abort();
    };
    const flood = async (): Promise<void> => {
      await inParallel(300, poll, 300);
    };
    expectNoStall(await whileOtherCalls(server, flood));
    expect(tokens.size).toBe(items);
  });
});

it('answers many waits for one large run', { timeout }, async () => {
  const rounds = IS_NIGHTLY ? 3 : 1;
  await withServer(async (server) => {
    for (let round = 0; round < rounds; round += 1) {
      const [id = ''] = await startRuns(server, 1, { definitionId: 'large-run', load: LOAD });
      const flood = async (): Promise<void> => {
        const path = `/api/workflow/${id}?wait=60`;
        const waits = inParallel(
          500,
          async () => (await callFrom(server, { path, discards: true })).status,
          500,
        );
        // All of them wait before the run ends.
        await setTimeout(1000);
        await callFrom(server, { method: 'POST', path: '/api/event/end/k', body: '{}' });
        expect(new Set(await waits)).toEqual(new Set([200]));
      };
      expectNoStall(await whileOtherCalls(server, flood));
    }
  });
});

it('reports the changes of many runs to many streams', { timeout }, async () => {
  await withServer(async (server) => {
    const runs = IS_NIGHTLY ? 1000 : 500;
    await startRuns(server, runs, { definitionId: 'large-run', load: '1' });
    const streams = await inParallel(
      500,
      (index) => openStream(server, `127.0.0.${3 + (index % 2)}`),
      100,
    );
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
    const flood = async (): Promise<void> => {
      await callFrom(server, { method: 'POST', path: '/api/event/end/k', body: '{}' });
      await expect
        .poll(() => count(server, 'definitionId=large-run&status=Complete'), { timeout: 60_000 })
        .toBe(runs);
    };
    expectNoStall(await whileOtherCalls(server, flood));
    await expect
      .poll(() => Math.min(...streams.map(({ bytes }) => bytes)))
      .toBeGreaterThan(runs * 100);
    for (const { close } of streams) close();
  });
});
