import { setTimeout } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { check } from './support/checker.js';
import { eventually } from './support/eventually.js';
import { scaled } from './support/random.js';
import { linkOf, TcpProxy } from './support/tcp-proxy.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

const ANSWER_MS_MAX = 2000;
const RECOVERY_MS_MAX = 5000;
const OUTAGE_MS = 6000;

describe.each([{ mode: 'refuse' }, { mode: 'blackhole' }] as const)(
  'T-19 one node loses its store ($mode)',
  ({ mode }) => {
    it('says so quickly, is not ready, and is back soon after; nothing is lost', async ({
      skip,
    }) => {
      const dbhost = inject('dbhost');
      if (dbhost === null) skip('the link to the store is a network link only with MongoDB');
      const link = await TcpProxy.start(linkOf(dbhost ?? ''));
      const settingsOf = (index: number): Record<string, string> =>
        index === 0 ? { dbhost: `mongodb://127.0.0.1:${link.port}/?directConnection=true` } : {};
      try {
        await withFleet(
          { count: 2, store: 'services', settingsOf },
          async ({ fleet, ledger, random }) => {
            const workload = new Workload({ urls: () => fleet.urls, ledger, random });
            await workload.begin();
            const started = workload.start(scaled(80), 8);
            const { url } = fleet.node(0);
            const ready = async (): Promise<boolean> => (await fetch(`${url}/health/ready`)).ok;
            await setTimeout(1500);
            link.mode = mode;
            const cutAt = Date.now();
            const slowest = { ms: 0 };
            while (Date.now() < cutAt + OUTAGE_MS) {
              const calledAt = Date.now();
              const response = await fetch(`${url}/api/workflow/none`);
              slowest.ms = Math.max(slowest.ms, Date.now() - calledAt);
              // The first calls may still find a connection that is good.
              if (response.status === 404) continue;
              expect(response.status).toBe(503);
              expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
            }
            expect(await ready()).toBe(false);
            link.mode = 'pass';
            const backAt = Date.now();
            await eventually('it is ready again', ready);
            const recoveryMs = Date.now() - backAt;
            await started;
            const verdict = await check(workload, ledger, fleet);
            await workload.end();
            console.log(`T-19 ${mode}`, { runs: verdict.runs, slowestMs: slowest.ms, recoveryMs });
            expect(verdict.violations).toEqual([]);
            expect(slowest.ms).toBeLessThan(ANSWER_MS_MAX);
            expect(recoveryMs).toBeLessThan(RECOVERY_MS_MAX);
          },
        );
      } finally {
        await link.close();
      }
    });
  },
);
