/**
 * S-35 with the heap sizes that Node gives a server in containers of 512 MB and 1 GiB: nothing that clients send or
 * store exhausts its memory, and it serves after each of three restarts.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { worstLiveLatency } from '../../server/test/security/support/live-latency.js';
import {
  call,
  callUntilAccepted,
  CONTAINERS,
  define,
  inParallel,
  KEEPING,
  smallObjects,
  startRuns,
  UNRELATED,
  unrelatedRunMs,
  untilComplete,
  WAITING,
  withLimitedServer,
} from '../../server/test/security/support/memory-attack.js';
import type { SpawnedServer } from '../../server/test/support/spawned-server.js';
import { scaled } from './support/random.js';

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'stepwright-memory-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** The number of restarts that a server must survive with all of this in its store. */
const RESTARTS = ['kill', 'stop', 'kill'] as const;

const LARGE_DATA = [
  { data: 'empty objects', load: smallObjects(290_000) },
  { data: 'zeros', load: smallObjects(290_000, '0') },
  { data: 'nested lists', load: smallObjects(290_000, '['.repeat(50) + ']'.repeat(50)) },
];

async function shown(
  server: SpawnedServer,
  what: string,
  act: () => Promise<unknown>,
): Promise<void> {
  const { worstCpuMs, worstMs, worstRunMs } = await worstLiveLatency(server, act);
  console.log('T-38', what, { worstLiveMs: worstMs, worstLiveCpuMs: worstCpuMs, worstRunMs });
}

describe.each(CONTAINERS)('T-38 the heap of a container with $container', ({ heapMb }) => {
  it.each(LARGE_DATA)('is enough for any number of runs with $data', async ({ data, load }) => {
    const count = scaled(400);
    await withLimitedServer({ heapMb, folder: await folder() }, async (at) => {
      await define(at.server, WAITING);
      await define(at.server, UNRELATED);
      const definitionId = 'waiting';
      await shown(at.server, `starts with ${data}`, () =>
        startRuns(at.server, count, { definitionId, load }),
      );
      for (const end of RESTARTS) {
        await at.restart(end);
        await shown(at.server, 'restart', () => unrelatedRunMs(at.server));
      }
      await shown(at.server, 'end', async () => {
        const { status } = await callUntilAccepted(at.server, 'POST', '/api/event/go/k', '{}');
        expect(status).toBe(202);
        await unrelatedRunMs(at.server);
        await untilComplete(at.server, definitionId, count);
      });
    });
  });

  it('is enough to deliver one event of 930 kB to 2,000 waiting runs', async () => {
    const count = scaled(2000);
    await withLimitedServer({ heapMb, folder: await folder() }, async (at) => {
      await define(at.server, KEEPING);
      await define(at.server, UNRELATED);
      await startRuns(at.server, count, { definitionId: 'keeping', load: '0' });
      const event = smallObjects(930_000, '"xxxxxx"');
      await shown(at.server, 'event', async () => {
        const published = callUntilAccepted(at.server, 'POST', '/api/event/load/k', event);
        await unrelatedRunMs(at.server);
        expect((await published).status).toBe(202);
      });
      for (const end of RESTARTS) {
        await at.restart(end);
        await shown(at.server, 'restart', () => unrelatedRunMs(at.server));
      }
      expect((await callUntilAccepted(at.server, 'POST', '/api/event/end/k', '{}')).status).toBe(
        202,
      );
      await untilComplete(at.server, 'keeping', count);
    });
  });

  it('is protected by rejecting bodies and responses that do not fit', async () => {
    await withLimitedServer({ heapMb, folder: await folder() }, async ({ server }) => {
      await define(server, WAITING);
      await define(server, UNRELATED);
      const load = smallObjects(290_000);
      const ids = await startRuns(server, 20, { definitionId: 'waiting', load });
      await shown(server, 'bodies and answers', async () => {
        const paths = ids.flatMap((id) => ['', '/steps', '/explain'].map((view) => id + view));
        const views = inParallel(
          scaled(1000),
          (n) => call(server, 'GET', `/api/workflow/${paths[n % paths.length] ?? ''}`),
          200,
        );
        const events = inParallel(
          scaled(1000),
          () => call(server, 'POST', '/api/event/other/k', load),
          200,
        );
        await unrelatedRunMs(server);
        const answers = [...(await views), ...(await events)];
        const odd = answers.filter(({ status }) => ![200, 202, 429, 503].includes(status));
        expect(odd).toEqual([]);
      });
    });
  });
});
