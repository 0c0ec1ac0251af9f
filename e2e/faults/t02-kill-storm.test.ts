import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { check } from './support/checker.js';
import { answerAfter } from '../../server/test/support/ledger.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

const KILL_EVERY_MS_MIN = 2000;
const RESTART_AFTER_MS = 500;
/** Keeps many external calls in progress at any time. */
const CALL_MS = 400;
/** A kill may hit an idle node; the storm continues until one has hit a working node, within these limits. */
const KILLS_MAX_FACTOR = 6;
/** If a node takes a minute to start, the load does not pile up in the meantime. */
const RUNS_MAX_FACTOR = 2;
/** The maximum delay until the bytes that a killed node has sent are read. */
const READ_LATE_MS = 5000;

describe.each([
  { store: 'sqlite', count: 3, runs: 180, killsMin: 5 },
  { store: 'mongo', count: 3, runs: 80, killsMin: 2 },
  { store: 'postgres', count: 3, runs: 80, killsMin: 2 },
] as const)('T-02 a storm of kill -9 on $store', ({ store, count, runs, killsMin }) => {
  it('loses no acknowledged run and repeats only calls that were in progress', async () => {
    await withFleet({ count, store }, async ({ fleet, ledger, random }) => {
      ledger.respond = answerAfter(CALL_MS);
      const workload = new Workload({ urls: () => fleet.urls, ledger, random });
      await workload.begin();
      const kills: { readonly from: number; readonly to: number }[] = [];
      const hasMetWork = (): boolean => workload.client.retries + ledger.repeats > 0;
      const stormContinues = (): boolean =>
        kills.length < scaled(killsMin) ||
        (!hasMetWork() && kills.length < scaled(killsMin) * KILLS_MAX_FACTOR);
      const goesOn = (count: number): boolean =>
        count < scaled(runs) || (stormContinues() && count < scaled(runs) * RUNS_MAX_FACTOR);
      const started = workload.startWhile(goesOn, 12);
      while (stormContinues()) {
        await setTimeout(KILL_EVERY_MS_MIN + random() * 1000);
        const victim = Math.floor(random() * fleet.size);
        const from = Date.now();
        await fleet.kill(victim);
        kills.push({ from, to: Date.now() });
        await setTimeout(RESTART_AFTER_MS);
        await fleet.restart(victim);
      }
      await started;
      const verdict = await check(workload, ledger, fleet);
      await workload.end();
      console.log(`T-02 ${store}`, {
        runs: verdict.runs,
        kills: kills.length,
        callsMadeAgain: workload.client.retries,
        httpCallsRepeated: verdict.repeatedCalls.length,
        resultsRefused: workload.refused,
      });
      expect(verdict.violations).toEqual([]);
      expect(verdict.runs).toBeGreaterThanOrEqual(scaled(runs));
      for (const name of verdict.repeatedCalls) {
        const calls = ledger.callsTo(`/call/${name}`);
        for (const [at, again] of calls.slice(1).entries()) {
          const before = calls[at]?.at ?? Infinity;
          const wasCut = kills.some(
            ({ from, to }) => before <= to + READ_LATE_MS && from <= again.at,
          );
          expect(wasCut, `${name} was called again without a kill in between`).toBe(true);
        }
      }
      // The storm must have hit calls; otherwise it has tested nothing.
      expect(hasMetWork()).toBe(true);
    });
  });
});
