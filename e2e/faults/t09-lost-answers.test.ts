import { describe, expect, it } from 'vitest';
import { REMOTE_STORES, serverOf } from '../environment/databases.js';
import { check } from './support/checker.js';
import { scaled } from './support/random.js';
import { linkOf, TcpProxy } from './support/tcp-proxy.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

/** The share of the writes to the store that succeed although the writer sees a failure. */
const LOST_SHARE = 0.05;
const WRITES = {
  mongo: /\x02(insert|update|delete|findAndModify)\0/,
  postgres: /\b(INSERT INTO|UPDATE|DELETE FROM)\b/,
};

describe.each(REMOTE_STORES)(
  'T-09 a write to %s that succeeds but whose response is lost',
  (store) => {
    it('starts no run twice and commits nothing twice', async ({ skip }) => {
      const server = serverOf(store) ?? skip(`this test run has no ${store}`);
      const links = await Promise.all([0, 1].map(() => TcpProxy.start(linkOf(server))));
      try {
        await withFleet({ count: 2, store, links }, async ({ fleet, ledger, random }) => {
          const workload = new Workload({ urls: () => fleet.urls, ledger, random });
          await workload.begin();
          for (const link of links) {
            link.losesAnswer = (request) =>
              WRITES[store].test(request.toString('latin1')) && random() < LOST_SHARE;
          }
          await workload.start(scaled(80), 10);
          for (const link of links) link.losesAnswer = () => false;
          const verdict = await check(workload, ledger, fleet);
          await workload.end();
          const answersLost = links.reduce((sum, link) => sum + link.answersLost, 0);
          console.log(`T-09 ${store}`, {
            runs: verdict.runs,
            answersLost,
            callsMadeAgain: workload.client.retries,
            httpCallsRepeated: verdict.repeatedCalls.length,
          });
          expect(verdict.violations).toEqual([]);
          expect(answersLost).toBeGreaterThan(0);
        });
      } finally {
        await Promise.all(links.map((link) => link.close()));
      }
    });
  },
);
