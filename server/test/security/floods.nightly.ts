/**
 * S-56: what another caller notices of a flood. One narrowed caller makes the worst call of an operation 500 times in
 * parallel, on the built server with a heap of 256 MB. The server survives; starts and polls of the other caller cost at most
 * 500 ms of CPU until their answer; the memory comes back.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectUnharmed, FloodedServer, summaryOf } from './support/flood.js';
import { LARGE_SIZES } from './support/flood-subjects.js';
import { OPERATIONS } from './support/recorder.js';

const OTHER_CPU_MS_MAX = 500;

describe('S-56 a flood of one caller', () => {
  let folder: string;
  let server: FloodedServer | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stepwright-floods-'));
    server = await FloodedServer.start(folder, { sizes: LARGE_SIZES, parallel: 500 });
  }, 600_000);
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.for(OPERATIONS)('harms no other caller with %s', { timeout: 240_000 }, async (operation) => {
    const report = await server!.flood(operation);
    console.log(summaryOf(report));
    expectUnharmed(report, OTHER_CPU_MS_MAX);
  });
});
