import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { REMOTE_STORES, serverOf } from '../environment/databases.js';
import { check } from './support/checker.js';
import { eventually } from './support/eventually.js';
import { scaled } from './support/random.js';
import { linkOf, TcpProxy } from './support/tcp-proxy.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

/** The server gives its store two seconds; the rest is tolerance for a busy machine. */
const ANSWER_MS_MAX = 3000;
const RECOVERY_MS_MAX = 5000;
const OUTAGE_MS = 6000;
/** Shorter than the outage: the other node takes over. */
const settings = { NODE_LEASE_MS: '3000' };

const CASES = REMOTE_STORES.flatMap((store) =>
  (['refuse', 'blackhole'] as const).map((mode) => ({ store, mode })),
);

describe.each(CASES)('T-19 one node without its store ($store, $mode)', ({ mode, store }) => {
  it('reports this quickly, is not ready, and recovers soon after; nothing is lost', async ({
    skip,
  }) => {
    const server = serverOf(store) ?? skip(`this test run has no ${store}`);
    const link = await TcpProxy.start(linkOf(server));
    try {
      await withFleet(
        { count: 2, store, settings, links: [link] },
        async ({ fleet, ledger, random }) => {
          const workload = new Workload({ urls: () => fleet.urls, ledger, random });
          await workload.begin();
          const started = workload.start(scaled(80), 8);
          const { url } = fleet.node(0);
          const ready = async (): Promise<boolean> => (await fetch(`${url}/health/ready`)).ok;
          await setTimeout(1500);
          link.mode = mode;
          const cutAt = Date.now();
          const answers: { status: number; retryAfter: number; ms: number }[] = [];
          while (Date.now() < cutAt + OUTAGE_MS) {
            const calledAt = Date.now();
            const { headers, status } = await fetch(`${url}/api/workflow/none`);
            const retryAfter = Number(headers.get('retry-after'));
            answers.push({ status, retryAfter, ms: Date.now() - calledAt });
            await setTimeout(50);
          }
          const wasReady = await ready();
          link.mode = 'pass';
          const backAt = Date.now();
          await eventually('it is ready again', ready);
          const recoveryMs = Date.now() - backAt;
          await started;
          const verdict = await check(workload, ledger, fleet);
          await workload.end();
          const slowestMs = Math.max(...answers.map(({ ms }) => ms));
          console.log(`T-19 ${store} ${mode}`, {
            runs: verdict.runs,
            calls: answers.length,
            slowestMs,
            wasReady,
            recoveryMs,
          });
          expect(verdict.violations).toEqual([]);
          // A call made before the link broke may still get its response.
          const refused = answers.filter(({ status }) => status !== 404);
          expect(
            refused.filter(({ retryAfter, status }) => status !== 503 || retryAfter === 0),
          ).toEqual([]);
          expect(refused.length).toBeGreaterThan(0);
          expect(wasReady).toBe(false);
          expect(slowestMs).toBeLessThan(ANSWER_MS_MAX);
          expect(recoveryMs).toBeLessThan(RECOVERY_MS_MAX);
        },
      );
    } finally {
      await link.close();
    }
  });
});
