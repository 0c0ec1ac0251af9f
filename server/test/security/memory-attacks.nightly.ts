/**
 * S-35 on the built server with a heap of 128 MB: many runs with large data, one large event for all waiting runs, many
 * large bodies and responses at once. Without the memory budget the first and the third crash it. With it the server
 * stays up, survives every restart, and all runs end. e2e/faults/t38 does the same with the heap sizes of real
 * containers.
 */
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../behavior/support/server-process.js';
import {
  call,
  callUntilAccepted,
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
} from './support/memory-attack.js';

const heapMb = 128;
const timeout = 300_000;

describe('S-35 a server with little memory', () => {
  it('runs more large runs than fit in memory, even across restarts', { timeout }, async () => {
    await withLimitedServer({ heapMb, folder: await temporaryFolder() }, async (at) => {
      await define(at.server, WAITING);
      await define(at.server, UNRELATED);
      await startRuns(at.server, 20, { definitionId: 'waiting', load: smallObjects(290_000) });
      for (const end of ['kill', 'stop', 'kill'] as const) {
        await at.restart(end);
        await unrelatedRunMs(at.server);
      }
      expect((await callUntilAccepted(at.server, 'POST', '/api/event/go/k', '{}')).status).toBe(
        202,
      );
      await untilComplete(at.server, 'waiting', 20);
    });
  });

  it('delivers a large event to many waiting runs', { timeout }, async () => {
    await withLimitedServer({ heapMb, folder: await temporaryFolder() }, async (at) => {
      await define(at.server, KEEPING);
      await define(at.server, UNRELATED);
      await startRuns(at.server, 40, { definitionId: 'keeping', load: '0' });
      const event = smallObjects(280_000);
      const published = callUntilAccepted(at.server, 'POST', '/api/event/load/k', event);
      await unrelatedRunMs(at.server);
      expect((await published).status).toBe(202);
      await at.restart('kill');
      const ended = callUntilAccepted(at.server, 'POST', '/api/event/end/k', '{}');
      expect((await ended).status).toBe(202);
      await untilComplete(at.server, 'keeping', 40);
    });
  });

  it('rejects bodies and responses that do not fit, and counts them', { timeout }, async () => {
    await withLimitedServer({ heapMb, folder: await temporaryFolder() }, async (at) => {
      const { server } = at;
      await define(server, WAITING);
      await define(server, UNRELATED);
      const body = smallObjects(280_000);
      const publish = () => call(server, 'POST', '/api/event/other/k', body);
      const answers = await inParallel(60, publish, 60);
      const statuses = new Set(answers.map(({ status }) => status));
      expect([...statuses].every((status) => [202, 429, 503].includes(status))).toBe(true);
      expect(statuses).toContain(429);
      const [id = ''] = await startRuns(server, 1, { definitionId: 'waiting', load: body });
      const paths = ['', '/steps', '/explain'].map((view) => `/api/workflow/${id}${view}`);
      const views = await inParallel(
        45,
        (index) => call(server, 'GET', paths[index % paths.length] ?? ''),
        45,
      );
      expect(views.every(({ status }) => [200, 429, 503].includes(status))).toBe(true);
      await unrelatedRunMs(server);
      const metrics = (await call(server, 'GET', '/metrics')).text;
      expect(metrics).toMatch(/stepwright_memory_refusals_total\{what="request"\} [1-9]/);
      expect(metrics).toMatch(/stepwright_memory_used_bytes\{part="bodies"\} 0\n/);
    });
  });
});
