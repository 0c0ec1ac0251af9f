/**
 * S-53: what another caller notices of a flood. One narrowed caller makes the worst call of an operation 500 times in
 * parallel, on the built server with a heap of 256 MB. The server survives; starts and polls of the other caller cost at most
 * 500 ms of CPU until their answer; the memory comes back. floods.nightly.ts does this for every operation.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectUnharmed, FloodedServer } from './support/flood.js';
import { uncovered } from './support/flood-calls.js';

/** The worst of those that read from the store. */
const WORST = [
  'GET /api/workflow/count',
  'GET /api/workflow',
  'GET /api/workflow/failures',
  'GET /api/event',
  'GET /api/workflow/{id}/explain',
];

describe('S-53 a flood of one caller', () => {
  let folder: string;
  let server: FloodedServer | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stepwright-floods-'));
    server = await FloodedServer.start(folder);
  }, 600_000);
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('is tried with a worst call of every operation', () => {
    expect(uncovered()).toEqual([]);
  });

  it.for(WORST)('of %s harms no other caller', { timeout: 240_000 }, async (operation) => {
    expectUnharmed(await server!.flood(operation));
  });
});
