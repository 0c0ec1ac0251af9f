import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { assign, definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import type { Fleet } from './support/fleet.js';
import { inLanes } from './support/lanes.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled, type Random } from './support/random.js';
import type { Page } from './support/wire.js';
import { withFleet } from './support/with-fleet.js';

const CLIENTS = 16;
const KILLS_MAX = 20;
/** Some three batches. */
const KILL_WITHIN_BYTES = 200_000;
const LIMIT_MS = 300_000;

/** Due for removal when it ends, which happens when a node starts. */
const KEPT_BRIEFLY = {
  ...definition('kept-briefly', [assign('double', { b: 'data.n * 2' })]),
  Retention: 1,
};

interface ArchivedRun {
  readonly workflow: { readonly workflowId: string };
  readonly data: { readonly n: number; readonly b: number };
  readonly steps: readonly { readonly stepId: string }[];
}

async function startRuns(
  client: PersistentClient,
  count: number,
): Promise<ReadonlyMap<string, number>> {
  const started = new Map<string, number>();
  const numbers = Array.from({ length: count }, (_, n) => n);
  await inLanes(CLIENTS, numbers, async (n) => {
    const { body } = await client.call('POST', '/api/workflow/kept-briefly', { body: { n } });
    started.set((body as { readonly workflowId: string }).workflowId, n);
  });
  return started;
}

async function isEmpty(client: PersistentClient): Promise<boolean> {
  const { body } = await client.call('GET', '/api/workflow?limit=1');
  return (body as Page<unknown>).items.length === 0;
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** As `zcat` reads the files: what follows a batch that was not completed is padding. */
async function readArchive(folder: string): Promise<readonly ArchivedRun[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.ndjson.gz'));
  const texts = await Promise.all(
    files.map(async (name) => gunzipSync(await readFile(join(folder, name))).toString()),
  );
  return texts
    .flatMap((text) => text.split('\n').filter((line) => line !== ''))
    .map((line) => JSON.parse(line) as ArchivedRun);
}

/** Kills the server after a random part of each archive that it begins, until nothing is left. Resolves with the number of kills. */
async function killWhileArchiving(
  fleet: Fleet,
  { client, folder, random }: { client: PersistentClient; folder: string; random: Random },
): Promise<number> {
  for (let kills = 0; kills < KILLS_MAX; kills += 1) {
    const size = (await sizeOf(folder)) + random() * KILL_WITHIN_BYTES;
    await fleet.kill(0);
    await fleet.restart(0);
    const isDue = async (): Promise<boolean> =>
      (await sizeOf(folder)) > size || (await isEmpty(client));
    await eventually('the archive grows', isDue, LIMIT_MS);
    if (await isEmpty(client)) return kills + 1;
  }
  return KILLS_MAX;
}

describe.each(['sqlite', 'mongo', 'postgres'] as const)(
  'T-40 an archiving server that dies, on %s',
  (store) => {
    it('removes no run that is incomplete in the archive', { timeout: 1_200_000 }, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'stepwright-archive-'));
      const settings = { archive_dir: folder };
      try {
        await withFleet({ count: 1, store, settings }, async ({ fleet, random }) => {
          const client = new PersistentClient(() => fleet.urls);
          await client.call('POST', '/api/definition', { body: KEPT_BRIEFLY });
          const started = await startRuns(client, scaled(3000));
          const kills = await killWhileArchiving(fleet, { client, folder, random });
          await eventually('all runs are removed', () => isEmpty(client), LIMIT_MS);
          const lines = await readArchive(folder);
          const archived = new Map(lines.map((line) => [line.workflow.workflowId, line]));
          console.log(`T-40 ${store}`, { runs: started.size, kills, lines: lines.length });
          for (const [id, n] of started) {
            const run = archived.get(id);
            expect(run?.data, id).toEqual({ n, b: 2 * n });
            expect(
              run?.steps.map(({ stepId }) => stepId),
              id,
            ).toEqual(['double']);
          }
          expect(archived.size).toBe(started.size);
          expect(fleet.faults).toEqual([]);
        });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  },
);
