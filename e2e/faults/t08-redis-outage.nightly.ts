import { setTimeout } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { check } from './support/checker.js';
import { scaled } from './support/random.js';
import { linkOf, TcpProxy } from './support/tcp-proxy.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

describe.each([
  { id: 'T-07 hints that are all lost', modes: ['blackhole'] },
  { id: 'T-08 Redis that goes and comes back', modes: ['refuse', 'pass', 'blackhole', 'pass'] },
] as const)('$id', ({ id, modes }) => {
  it('loses no run, and every node stays ready', async ({ skip }) => {
    const redis = inject('redis');
    if (redis === null) skip('there is no Redis');
    const link = await TcpProxy.start(linkOf(redis ?? ''));
    try {
      const settings = { redis: `redis://127.0.0.1:${link.port}` };
      await withFleet({ count: 2, store: 'mongo', settings }, async ({ fleet, ledger, random }) => {
        const workload = new Workload({ urls: () => fleet.urls, ledger, random });
        await workload.begin();
        const started = workload.start(scaled(80), 8);
        for (const mode of modes) {
          link.mode = mode;
          await setTimeout(2000);
          for (const url of fleet.urls) {
            expect((await fetch(`${url}/health/ready`)).status).toBe(200);
          }
        }
        await started;
        const verdict = await check(workload, ledger, fleet);
        await workload.end();
        console.log(id, { runs: verdict.runs, callsMadeAgain: workload.client.retries });
        expect(verdict.violations).toEqual([]);
        expect(verdict.repeatedCalls).toEqual([]);
      });
    } finally {
      await link.close();
    }
  });
});
