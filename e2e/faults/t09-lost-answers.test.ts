import { describe, expect, inject, it } from 'vitest';
import { check } from './support/checker.js';
import { scaled } from './support/random.js';
import { linkOf, mongoThrough, TcpProxy } from './support/tcp-proxy.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

/** The share of the writes to the store that succeed although the writer sees a failure. */
const LOST_SHARE = 0.05;
const WRITE = /\x02(insert|update|delete|findAndModify)\0/;

describe('T-09 store writes that succeed but whose response is lost', () => {
  it('start no run twice and commit nothing twice', async ({ skip }) => {
    const dbhost = inject('dbhost');
    if (dbhost === null) skip('the link to the store is a network link only with MongoDB');
    const links = await Promise.all([0, 1].map(() => TcpProxy.start(linkOf(dbhost ?? ''))));
    const settingsOf = (index: number) => mongoThrough(links[index]);
    try {
      await withFleet(
        { count: 2, store: 'services', settingsOf },
        async ({ fleet, ledger, random }) => {
          const workload = new Workload({ urls: () => fleet.urls, ledger, random });
          await workload.begin();
          for (const link of links) {
            link.losesAnswer = (request) =>
              WRITE.test(request.toString('latin1')) && random() < LOST_SHARE;
          }
          await workload.start(scaled(80), 10);
          for (const link of links) link.losesAnswer = () => false;
          const verdict = await check(workload, ledger, fleet);
          await workload.end();
          const answersLost = links.reduce((sum, link) => sum + link.answersLost, 0);
          console.log('T-09', {
            runs: verdict.runs,
            answersLost,
            callsMadeAgain: workload.client.retries,
            httpCallsRepeated: verdict.repeatedCalls.length,
          });
          expect(verdict.violations).toEqual([]);
          expect(answersLost).toBeGreaterThan(0);
        },
      );
    } finally {
      await Promise.all(links.map((link) => link.close()));
    }
  });
});
