import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { answerOk, type Ledger } from '../../server/test/support/ledger.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

const OUTAGE_MS = 30_000;
const RETRY_SECONDS = 10;
const STARTERS = 32;
/** A node that is slow in the storm must not be presumed dead: another node would repeat its calls. */
const settings = { NODE_LEASE_MS: '30000' };
/** Far more than a healthy node needs: the machine may be busy. */
const LAG_SECONDS_MAX = 5;

const STORM = definition('storm', [
  {
    Id: 'call',
    StepType: 'HttpRequest',
    RetryInterval: RETRY_SECONDS,
    RetryJitter: 1,
    Inputs: {
      BaseUrl: 'data.ledger',
      Resource: '"/call/" + data.name',
      Method: '"POST"',
      SucceedOn: ['2xx'],
    },
    Outputs: { answer: 'step.ResponseCode' },
  },
]);

/** The target fails until the test ends the outage; it counts the calls in progress. */
class BrokenTarget {
  isBroken = true;
  underWay = 0;
  mostUnderWay = 0;

  constructor(ledger: Ledger) {
    ledger.respond = (call, response) => {
      this.underWay += 1;
      this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
      response.once('close', () => {
        this.underWay -= 1;
      });
      if (this.isBroken) response.statusCode = 500;
      answerOk(call, response);
    };
  }
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-20 a target that fails for many runs on $store',
  ({ store }) => {
    it('gets one call per run and interval, and all runs end once it has recovered', async () => {
      await withFleet({ count: 2, store, settings }, async ({ fleet, ledger }) => {
        const target = new BrokenTarget(ledger);
        const client = new PersistentClient(() => fleet.urls);
        await client.call('POST', '/api/definition', { body: STORM });
        const runs = scaled(1000);
        const beganAt = Date.now();
        const names = Array.from({ length: runs }, (_, at) => `run-${at}`);
        const ids: string[] = [];
        const starter = async (): Promise<void> => {
          for (let name = names.pop(); name !== undefined; name = names.pop()) {
            const body = { name, ledger: ledger.url };
            const started = await client.call('POST', '/api/workflow/storm', { body, key: name });
            ids.push((started.body as Instance).workflowId);
          }
        };
        await Promise.all(Array.from({ length: STARTERS }, starter));
        const startedMs = Date.now() - beganAt;
        const outageAt = Date.now();
        let lagSeconds = 0;
        while (Date.now() < outageAt + OUTAGE_MS) {
          lagSeconds = Math.max(lagSeconds, await fleet.metric('nodejs_eventloop_lag_p99_seconds'));
          await setTimeout(500);
        }
        const endedAt = Date.now();
        target.isBroken = false;
        await eventually(
          'all runs end',
          async () => (await fleet.metric('stepwright_workflows{status="Runnable"}')) === 0,
          150_000,
        );
        const recoveredMs = Date.now() - endedAt;
        for (const id of ids) {
          const { body } = await client.call('GET', `/api/workflow/${id}`);
          expect(body).toMatchObject({ status: 'Complete', data: { answer: 200 } });
        }
        const perSecond = Array.from({ length: OUTAGE_MS / 1000 }, () => 0);
        for (const { at } of ledger.calls) {
          const second = Math.floor((at - outageAt) / 1000);
          if (second >= 0 && second < perSecond.length)
            perSecond[second] = (perSecond[second] ?? 0) + 1;
        }
        const mean = perSecond.reduce((sum, count) => sum + count, 0) / perSecond.length;
        const most = Math.max(...perSecond);
        const fenced = await fleet.metric('stepwright_commits_fenced_total');
        console.log(`T-20 ${store}`, {
          runs,
          startedMs,
          calls: ledger.calls.length,
          mostUnderWay: target.mostUnderWay,
          mean: Math.round(mean),
          most,
          perSecond: perSecond.join(' '),
          lagSeconds,
          fenced,
          shortestPauseMs: shortestPauseMs(ledger),
          recoveredMs,
        });
        // Without jitter, runs that start together would retry together.
        expect(most).toBeLessThanOrEqual(3 * mean);
        expect(shortestPauseMs(ledger)).toBeGreaterThanOrEqual(RETRY_SECONDS * 1000);
        expect(ledger.calls.length).toBeGreaterThan(2 * runs);
        expect(fenced).toBe(0);
        expect(lagSeconds).toBeLessThan(LAG_SECONDS_MAX);
        expect(fleet.faults).toEqual([]);
      });
    }, 400_000);
  },
);

/** The shortest time between two calls of one run, by the clock of the target. */
function shortestPauseMs({ calls }: Ledger): number {
  const lastAt = new Map<string, number>();
  let shortest = Infinity;
  for (const { at, path } of calls) {
    shortest = Math.min(shortest, at - (lastAt.get(path) ?? -Infinity));
    lastAt.set(path, at);
  }
  return shortest;
}
