/** GET /api/node: the node that responds, its load, and a dead node. */
import { expect, it } from 'vitest';
import type { NodePage } from '../../src/api/wire/models/node.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { everyStore } from './support/every-store.js';

everyStore(
  'the list of nodes',
  (at) => {
    const nodes = async (): Promise<NodePage['items']> => {
      const { body, status, text } = await at.client.get<NodePage>('/api/node');
      expect(status, text).toBe(200);
      expect(body.nextCursor).toBeNull();
      return body.items;
    };

    it('shows the load of each node at its last heartbeat', async () => {
      const hangUp = new AbortController();
      const { signal } = hangUp;
      const path = '/api/activity/nobody-makes-this?timeout=60';
      const poll = at.client.call('GET', path, { signal }).catch(() => undefined);
      const [self] = await eventually('one poll is waiting', async () => {
        const value = await nodes();
        return value[0]?.load?.parkedPolls === 1 && value;
      });
      expect(self).toMatchObject({
        nodeId: expect.any(String) as unknown,
        pid: process.pid,
        alive: true,
        isThis: true,
        load: { callsUnderWay: 0, memoryBytes: expect.any(Number) as unknown },
        store: { kind: at.kind, reachable: true },
        backplane: { kind: 'local', connected: true },
      });
      const { load, startTime, lastBeatTime } = self!;
      expect(load!.memoryBytes).toBeGreaterThan(10_000_000);
      expect(load!.cpuPercent).toBeGreaterThanOrEqual(0);
      expect(load!.eventLoopDelayMs).toBeGreaterThanOrEqual(0);
      expect(Date.parse(startTime!)).toBeLessThanOrEqual(Date.parse(lastBeatTime));
      hangUp.abort();
      await poll;
    });

    it('includes dead nodes and those that report no load', async () => {
      const store = at.store.open();
      if (at.kind !== 'memory') await store.start();
      const gone = {
        id: 'gone',
        beatAt: Date.now() - 60_000,
        url: 'u',
        version: '0',
        hostname: 'h',
      };
      await store.putNode({ ...gone, pid: 1, details: '{"load":"heavy"}' });
      expect(await nodes()).toContainEqual({
        nodeId: 'gone',
        url: 'u',
        hostname: 'h',
        pid: 1,
        version: '0',
        startTime: null,
        lastBeatTime: new Date(gone.beatAt).toISOString(),
        alive: false,
        isThis: false,
        load: null,
        store: { kind: at.kind, reachable: false },
        backplane: null,
      });
      if (at.kind !== 'memory') await store.stop();
    });
  },
  { dialects: 'alternating' },
);
