import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { check } from './support/checker.js';
import { answerAfter } from './support/ledger.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

const KILL_EVERY_MS_MIN = 2000;
const RESTART_AFTER_MS = 500;
/** So that many calls to the outside are under way at any time. */
const CALL_MS = 400;

describe.each([
  { store: 'sqlite', count: 3, runs: 180, kills: 5 },
  { store: 'services', count: 3, runs: 80, kills: 2 },
] as const)('T-02 kill -9 storm on $store', ({ store, count, runs, kills }) => {
  it('loses no acknowledged run and repeats only calls that were under way', async () => {
    await withFleet({ count, store }, async ({ fleet, ledger, random }) => {
      ledger.respond = answerAfter(CALL_MS);
      const workload = new Workload({ urls: () => fleet.urls, ledger, random });
      await workload.begin();
      const started = workload.start(scaled(runs), 12);
      const killedAt: number[] = [];
      for (let kill = 0; kill < scaled(kills); kill += 1) {
        await setTimeout(KILL_EVERY_MS_MIN + random() * 1000);
        const victim = Math.floor(random() * fleet.size);
        killedAt.push(Date.now());
        await fleet.kill(victim);
        await setTimeout(RESTART_AFTER_MS);
        await fleet.restart(victim);
      }
      await started;
      const verdict = await check(workload, ledger, fleet);
      await workload.end();
      console.log(`T-02 ${store}`, {
        runs: verdict.runs,
        callsMadeAgain: workload.client.retries,
        httpCallsRepeated: verdict.repeatedCalls.length,
        resultsRefused: workload.refused,
      });
      expect(verdict.violations).toEqual([]);
      expect(verdict.runs).toBe(scaled(runs));
      for (const name of verdict.repeatedCalls) {
        const [first] = ledger.callsTo(`/call/${name}`);
        // A repeated call was cut short by a kill: it had been made, and its result was not committed yet.
        const wasCut = killedAt.some(
          (at) => first !== undefined && first.at <= at + 500 && at - first.at < CALL_MS + 2000,
        );
        expect(wasCut, `${name} was called again without a kill`).toBe(true);
      }
      // The storm must have met calls, or it tested nothing.
      expect(workload.client.retries + verdict.repeatedCalls.length).toBeGreaterThan(0);
    });
  });
});
