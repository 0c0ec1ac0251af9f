import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { REMOTE_STORES, serverOf } from '../environment/databases.js';
import { check } from './support/checker.js';
import type { Fleet } from './support/fleet.js';
import { scaled } from './support/random.js';
import { linkOf, TcpProxy } from './support/tcp-proxy.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

/** Three heartbeats: a heartbeat that is late by less must not cost a node its instances. */
const settings = { NODE_LEASE_MS: '3000' };
const RUNS = 60;
const VERY_SLOW_MS = 15_000;
const PER_SECOND = 8;
/** The writes of every run, whatever it does. Reads and heartbeats depend on the clock, not on the run. */
const WRITES = ['insertInstance', 'commitInstance', 'postMessages', 'insertEvent'];

interface Counts {
  readonly steps: number;
  readonly writes: number;
  readonly calls: number;
}

async function countsOf(fleet: Fleet): Promise<Counts> {
  const total = 'stepwright_store_operations_total';
  const writes = await Promise.all(
    WRITES.flatMap((operation) =>
      ['ok', 'failed'].map((result) =>
        fleet.metric(`${total}{operation="${operation}",result="${result}"}`),
      ),
    ),
  );
  return {
    steps: await fleet.metric('stepwright_steps_total'),
    writes: writes.reduce((sum, count) => sum + count, 0),
    calls: await fleet.metric(total),
  };
}

describe.each(REMOTE_STORES)('T-27 a slow store on %s', (store) => {
  it('slows runs down but causes no additional calls', { timeout: 900_000 }, async ({ skip }) => {
    const server = serverOf(store) ?? skip(`this test run has no ${store}`);
    const links = await Promise.all([0, 1].map(() => TcpProxy.start(linkOf(server))));
    try {
      await withFleet({ count: 2, store, settings, links }, async ({ fleet, ledger, random }) => {
        const workload = new Workload({ urls: () => fleet.urls, ledger, random });
        await workload.begin();
        const runs = scaled(RUNS);
        const phase = async (name: string, delayMs: () => number) => {
          for (const link of links) link.delayMs = delayMs;
          const before = await countsOf(fleet);
          const retriesBefore = workload.client.retries;
          const beganAt = Date.now();
          await workload.start(runs, PER_SECOND);
          const verdict = await check(workload, ledger, fleet);
          const seconds = (Date.now() - beganAt) / 1000;
          const after = await countsOf(fleet);
          const steps = after.steps - before.steps;
          const measured = {
            runs,
            seconds,
            writesPerStep: (after.writes - before.writes) / steps,
            callsPerSecond: Math.round((after.calls - before.calls) / seconds),
            clientRetries: workload.client.retries - retriesBefore,
          };
          console.log(`T-27 ${store} ${name}`, measured);
          expect(verdict.violations).toEqual([]);
          return measured;
        };
        await phase('warming up', () => 0);
        const fast = await phase('as it is', () => 0);
        const slow = await phase('50 ms ± 50', () => random() * 100);
        // The phases mix other kinds of runs, some of them with many more steps.
        expect(slow.writesPerStep).toBeLessThan(fast.writesPerStep * 2);
        expect(slow.clientRetries).toBe(0);
        // No instance was taken over from a live node.
        expect(await fleet.metric('stepwright_commits_fenced_total')).toBe(0);
        const claims = 'stepwright_store_operations_total{operation="claimInstance",result="ok"}';
        expect(await fleet.metric(claims)).toBe(0);

        // Slower than the server's timeout: writes arrive, but their responses come too late.
        for (const link of links) link.delayMs = () => 1900 + random() * 200;
        const before = await countsOf(fleet);
        const beganAt = Date.now();
        const started = workload.start(scaled(RUNS / 4), PER_SECOND / 4);
        await setTimeout(VERY_SLOW_MS);
        const after = await countsOf(fleet);
        const perSecond = (after.calls - before.calls) / ((Date.now() - beganAt) / 1000);
        for (const link of links) link.delayMs = () => 0;
        await started;
        const verdict = await check(workload, ledger, fleet);
        await workload.end();
        const fenced = await fleet.metric('stepwright_commits_fenced_total');
        const { retries } = workload.client;
        console.log('T-27 2 s', { callsPerSecond: Math.round(perSecond), retries, fenced });
        expect(verdict.violations).toEqual([]);
        expect(perSecond).toBeLessThan(fast.callsPerSecond * 2);
      });
    } finally {
      await Promise.all(links.map((link) => link.close()));
    }
  });
});
