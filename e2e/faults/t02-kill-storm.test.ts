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
/** A kill may meet a node that does nothing; the storm goes on until one has met work, within these bounds. */
const KILLS_MAX_FACTOR = 6;

describe.each([
  { store: 'sqlite', count: 3, runs: 180, kills: 5 },
  { store: 'services', count: 3, runs: 80, kills: 2 },
] as const)('T-02 kill -9 storm on $store', ({ store, count, runs, kills }) => {
  it('loses no acknowledged run and repeats only calls that were under way', async () => {
    await withFleet({ count, store }, async ({ fleet, ledger, random }) => {
      ledger.respond = answerAfter(CALL_MS);
      const workload = new Workload({ urls: () => fleet.urls, ledger, random });
      await workload.begin();
      const killedAt: number[] = [];
      const hasMetWork = (): boolean => workload.client.retries + ledger.repeats > 0;
      const stormGoesOn = (): boolean =>
        killedAt.length < scaled(kills) ||
        (!hasMetWork() && killedAt.length < scaled(kills) * KILLS_MAX_FACTOR);
      const started = workload.startWhile((count) => count < scaled(runs) || stormGoesOn(), 12);
      while (stormGoesOn()) {
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
        kills: killedAt.length,
        callsMadeAgain: workload.client.retries,
        httpCallsRepeated: verdict.repeatedCalls.length,
        resultsRefused: workload.refused,
      });
      expect(verdict.violations).toEqual([]);
      expect(verdict.runs).toBeGreaterThanOrEqual(scaled(runs));
      for (const name of verdict.repeatedCalls) {
        const [first] = ledger.callsTo(`/call/${name}`);
        // A repeated call was cut short by a kill: it had been made, and its result was not committed yet.
        const wasCut = killedAt.some(
          (at) => first !== undefined && first.at <= at + 500 && at - first.at < CALL_MS + 2000,
        );
        expect(wasCut, `${name} was called again without a kill`).toBe(true);
      }
      // The storm must have met calls, or it tested nothing.
      expect(hasMetWork()).toBe(true);
    });
  });
});
