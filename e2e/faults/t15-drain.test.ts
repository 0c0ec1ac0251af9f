import { describe, expect, it } from 'vitest';
import { check } from './support/checker.js';
import { eventually } from './support/eventually.js';
import { answerAfter, answerOk } from '../../server/test/support/ledger.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

/** Far longer than anything takes here. */
const GRACE_MS = 120_000;
const CALL_MS = 1000;

async function pollersOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^stepwright_pollers (\d+)/m.exec(text)?.[1] ?? 0);
}

describe('T-15 draining a node with SIGTERM', () => {
  it('completes within the grace period, answers open polls and lets running calls end', async () => {
    const settings = { SHUTDOWN_GRACE_MS: String(GRACE_MS) };
    await withFleet({ count: 2, store: 'sqlite', settings }, async ({ fleet, ledger, random }) => {
      ledger.respond = answerAfter(CALL_MS);
      const workload = new Workload({ urls: () => fleet.urls, ledger, random });
      await workload.begin();
      const started = workload.start(scaled(100), 15);
      await eventually('calls are under way', () => ledger.calls.length > 3);
      // From now on, no call ends before the polls were answered: the node cannot have stopped by then.
      const held: (() => void)[] = [];
      ledger.respond = (call, response) => held.push(() => answerOk(call, response));
      const { url } = fleet.node(0);
      const polls = Array.from({ length: 20 }, () =>
        fetch(`${url}/api/activity/nothing?workerId=w&timeout=100`).then(({ status }) => status),
      );
      await eventually('the polls and more calls wait', async () => {
        return (await pollersOf(url)) >= polls.length && held.length > 3;
      });

      const beganAt = Date.now();
      const draining = fleet.drain(0);
      const answers = await Promise.all(polls);
      const pollsAnsweredMs = Date.now() - beganAt;
      ledger.respond = answerOk;
      for (const answer of held) answer();
      const node = await draining;
      const drainedMs = Date.now() - beganAt;
      await started;
      const verdict = await check(workload, ledger, fleet);
      await workload.end();
      console.log('T-15', {
        runs: verdict.runs,
        drainedMs,
        pollsAnsweredMs,
        repeated: verdict.repeatedCalls,
      });
      expect(node.exitCode).toBe(0);
      // The node exited when its work was done, not when its grace period was over.
      expect(drainedMs).toBeLessThan(GRACE_MS);
      expect(answers.filter((status) => status !== 404 && status !== 503)).toEqual([]);
      expect(verdict.violations).toEqual([]);
      expect(verdict.repeatedCalls).toEqual([]);
    });
  });

  it('makes the node not ready, and leaves a running step to the next node at once', async () => {
    const settings = { SHUTDOWN_GRACE_MS: '2000' };
    await withFleet({ count: 1, store: 'sqlite', settings }, async ({ fleet, ledger, random }) => {
      // Never answered: the step cannot end within the grace period.
      ledger.respond = () => undefined;
      const workload = new Workload({ urls: () => fleet.urls, ledger, random, workers: 0 });
      await workload.begin();
      const { url } = fleet.node(0);
      const start = { name: 'run', n: 1, ledger: ledger.url };
      const { body } = await workload.client.call('POST', '/api/workflow/http', {
        body: start,
        key: 'start',
      });
      await eventually('the call is under way', () => ledger.calls.length === 1);
      const draining = fleet.drain(0);
      await eventually('it is not ready', async () => {
        const response = await fetch(`${url}/health/ready`).catch(() => null);
        return response === null || response.status === 503;
      });
      const node = await draining;
      expect(node.exitCode).toBe(0);
      ledger.respond = answerAfter(0);
      await fleet.restart(0);
      const { workflowId } = body as { readonly workflowId: string };
      const ended = await untilEnded(workload.client, workflowId);
      expect(ended).toMatchObject({ status: 'Complete', data: { answer: 200, ended: true } });
      expect(new Set(ledger.calls.map(({ key }) => key)).size).toBe(1);
    });
  });
});
