import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { REMOTE_STORES, serverOf } from '../environment/databases.js';
import { check } from './support/checker.js';
import { assign, definition, KINDS } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet, type Scene } from './support/with-fleet.js';
import { Workload } from './support/workload.js';
import { WrongClock } from './support/wrong-clock.js';
import type { Instance } from './support/wire.js';

const HOUR_MS = 3_600_000;
/** Slow nodes must not be presumed dead: the only cause of fencing here must be the clocks. */
const settings = { NODE_LEASE_MS: '10000' };
const PAUSE_MS = 6000;
/** By the clock of the test, which may differ from that of the database by milliseconds. */
const AGREEMENT_MS = 1000;
/** The fault would be an hour; the rest is tolerance for a busy machine. */
const LATE_MS_MAX = 60_000;

const TIMER = definition('timer', [
  { Id: 'pause', StepType: 'Delay', Inputs: { Period: PAUSE_MS / 1000 } },
  assign('end', { rang: true }),
]);

/** Starts timers, each on the next node; returns how long each took by the clock of the test. */
async function startTimers(
  { fleet }: Scene,
  count: number,
): Promise<readonly (() => Promise<number>)[]> {
  const client = new PersistentClient(() => fleet.urls);
  await client.call('POST', '/api/definition', { body: TIMER });
  const start = async (): Promise<() => Promise<number>> => {
    const startedAt = performance.now();
    const { body } = await client.call('POST', '/api/workflow/timer', { body: {} });
    const { workflowId } = body as Instance;
    const done = (async () => {
      for (;;) {
        const call = await client.call('GET', `/api/workflow/${workflowId}?wait=5`);
        if ((call.body as Instance).status === 'Complete') return performance.now() - startedAt;
        if (performance.now() - startedAt > PAUSE_MS + LATE_MS_MAX) return Infinity;
      }
    })();
    return () => done;
  };
  return Promise.all(Array.from({ length: count }, start));
}

async function expectOnTime(timers: readonly (() => Promise<number>)[]): Promise<object> {
  const tookMs = (await Promise.all(timers.map((done) => done()))).sort((a, b) => a - b);
  const [firstMs = 0, lastMs = Infinity] = [tookMs[0], tookMs.at(-1)];
  expect(firstMs).toBeGreaterThanOrEqual(PAUSE_MS - AGREEMENT_MS);
  expect(lastMs).toBeLessThan(PAUSE_MS + LATE_MS_MAX);
  return { timers: timers.length, earliestMs: firstMs - PAUSE_MS, latestMs: lastMs - PAUSE_MS };
}

/** Runs a mixed workload with one part per disturbance, each applied as its part starts; then checks all invariants. */
async function work(
  { fleet, ledger, random }: Scene,
  disturbances: readonly (() => Promise<void>)[],
): Promise<{ readonly runs: number; readonly fenced: number }> {
  const workload = new Workload({ urls: () => fleet.urls, ledger, random });
  await workload.begin();
  for (const disturb of disturbances) {
    const started = workload.start(scaled(60), 8);
    await Promise.all([disturb(), started]);
  }
  const verdict = await check(workload, ledger, fleet);
  await workload.end();
  expect(verdict.violations).toEqual([]);
  return { runs: verdict.runs, fenced: await fleet.metric('stepwright_commits_fenced_total') };
}

/** Nodes that follow the clock of their machine have noticed that it is correct again. */
async function untilClocksAreRight(urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    await eventually('the clock is right', async () => {
      const started = await fetch(`${url}/api/workflow/pure`, { method: 'POST' });
      const { startTime } = (await started.json()) as { readonly startTime: string };
      return Math.abs(Date.parse(startTime) - Date.now()) < LATE_MS_MAX;
    });
  }
}

describe.each(REMOTE_STORES)('T-18 a fleet with wrong clocks and %s', (store) => {
  it('shares work between nodes 90 s ahead and 90 s behind, and one of them dies', async ({
    skip,
  }) => {
    if (serverOf(store) === null) skip(`this test run has no ${store}`);
    const clocks = [90_000, -90_000, 0].map((wrongMs) => new WrongClock(wrongMs));
    const settingsOf = (index: number): Readonly<Record<string, string>> =>
      clocks[index]?.settings ?? {};
    try {
      await withFleet({ count: 3, store, settings, settingsOf }, async (scene) => {
        const { fleet } = scene;
        const timers = await startTimers(scene, scaled(30));
        const die = async (): Promise<void> => {
          await setTimeout(PAUSE_MS / 3);
          // Nodes whose clocks differ from its own continue its timers.
          await fleet.kill(0);
          await fleet.restart(0);
        };
        const outcome = await work(scene, [die]);
        console.log('T-18 apart', { ...outcome, ...(await expectOnTime(timers)) });
      });
    } finally {
      for (const clock of clocks) clock.remove();
    }
  }, 400_000);

  it('dates no event before a run that was started before it', async ({ skip }) => {
    if (serverOf(store) === null) skip(`this test run has no ${store}`);
    const clocks = [400, -400].map((wrongMs) => new WrongClock(wrongMs));
    const settingsOf = (index: number): Readonly<Record<string, string>> =>
      clocks[index]?.settings ?? {};
    try {
      await withFleet({ count: 2, store, settings, settingsOf }, async ({ fleet }) => {
        const [ahead, behind] = [0, 1].map((at) => {
          const { url } = fleet.node(at);
          return new PersistentClient(() => [url]);
        }) as [PersistentClient, PersistentClient];
        await ahead.call('POST', '/api/definition', { body: KINDS.waitBefore.definition });
        for (let n = 0; n < scaled(30); n += 1) {
          const name = `run-${n}`;
          const start = { body: { name, n, ledger: '' }, key: name };
          const { body } = await ahead.call('POST', '/api/workflow/waitBefore', start);
          // Immediately, before the run reaches its wait.
          await behind.call('POST', `/api/event/go/${name}`, { body: { value: n }, key: name });
          const { data } = await untilEnded(behind, (body as Instance).workflowId, 30_000);
          expect(data).toMatchObject({ got: { value: n } });
        }
      });
    } finally {
      for (const clock of clocks) clock.remove();
    }
  }, 400_000);

  it('survives a clock that jumps one hour ahead and then back while timers are running', async ({
    skip,
  }) => {
    if (serverOf(store) === null) skip(`this test run has no ${store}`);
    const clock = new WrongClock(0);
    const settingsOf = (index: number): Readonly<Record<string, string>> =>
      index === 0 ? clock.settings : {};
    try {
      await withFleet({ count: 2, store, settings, settingsOf }, async (scene) => {
        const outcomes: object[] = [];
        const jump = (wrongMs: number) => async (): Promise<void> => {
          const timers = await startTimers(scene, scaled(20));
          clock.set(wrongMs);
          outcomes.push({ wrongMs, ...(await expectOnTime(timers)) });
        };
        outcomes.push(await work(scene, [jump(HOUR_MS), jump(-HOUR_MS)]));
        console.log('T-18 jumps', outcomes);
      });
    } finally {
      clock.remove();
    }
  }, 400_000);
});

describe('T-18 a machine with a wrong clock', () => {
  it('continues runs and takes them over after its clock was set one hour ahead and then back', async () => {
    const clock = new WrongClock(0);
    try {
      await withFleet({ count: 2, store: 'sqlite', settings: clock.settings }, async (scene) => {
        const { fleet } = scene;
        const setAhead = async (): Promise<void> => {
          await setTimeout(PAUSE_MS / 3);
          clock.set(HOUR_MS);
        };
        const ahead = await work(scene, [setAhead]);
        clock.set(0);
        await untilClocksAreRight(fleet.urls);
        // The run started by the new time, so it is on time by that; work scheduled later by the old time must wait for
        // it.
        const timers = await startTimers(scene, scaled(20));
        await fleet.kill(0);
        await fleet.restart(0);
        console.log('T-18 one machine', { ahead, back: await expectOnTime(timers) });
        expect(fleet.faults).toEqual([]);
      });
    } finally {
      clock.remove();
    }
  }, 400_000);
});
