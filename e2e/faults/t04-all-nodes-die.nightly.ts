import { describe, expect, it } from 'vitest';
import { check } from './support/checker.js';
import { answerOk } from '../../server/test/support/ledger.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-04 all nodes die with full queues, on $store',
  ({ store }) => {
    it('leaves every run to a single new node, which ends them all', async () => {
      await withFleet({ count: 3, store }, async ({ fleet, ledger, random }) => {
        // No run with an external call can end before the nodes die.
        ledger.respond = () => undefined;
        const workload = new Workload({ urls: () => fleet.urls, ledger, random, workers: 2 });
        await workload.begin();
        await workload.start(scaled(200), 100);
        await Promise.all([0, 1, 2].map((index) => fleet.kill(index)));
        ledger.respond = answerOk;
        await fleet.restart(0);
        const beganAt = Date.now();
        const verdict = await check(workload, ledger, fleet);
        await workload.end();
        const endedMs = Date.now() - beganAt;
        console.log(`T-04 ${store}`, { runs: verdict.runs, endedMs });
        expect(verdict.violations).toEqual([]);
        expect(verdict.repeatedCalls.length).toBeGreaterThan(0);
      });
    });
  },
);
