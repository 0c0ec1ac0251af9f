/** `stepwright_steps_total` counts every attempt of a step once, however it ends. */
import { expect, it } from 'vitest';
import { useCallee } from './support/callee.js';
import type { Client } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, failing, mark, step, type Steps } from './support/steps.js';

const callee = useCallee((_request, response) => {
  response.statusCode = 500;
  response.end();
});

/** The attempts of each type by result, such as `{ 'NoOp ok': 3 }`. */
async function attempts(client: Client): Promise<Record<string, number>> {
  const { text } = await client.get('/metrics');
  const lines = text.matchAll(/^stepwright_steps_total\{type="(.*)",result="(.*)"\} (\d+)$/gm);
  return Object.fromEntries(
    [...lines].map(([, type, result, count]) => [`${type} ${result}`, Number(count)]),
  );
}

const terminating = { ErrorBehavior: 'Terminate' };
const neverPublished = { EventName: '"never"', EventKey: '"published"' };

everyStore(
  'the counter of step attempts',
  (at) => {
    const counted = async (act: () => Promise<unknown>): Promise<Record<string, number>> => {
      const before = await attempts(at.client);
      await act();
      const after = await attempts(at.client);
      const changes = Object.entries(after).map(
        ([key, count]) => [key, count - (before[key] ?? 0)] as const,
      );
      return Object.fromEntries(changes.filter(([, change]) => change > 0));
    };
    const countedRun = (steps: Steps) => counted(() => at.client.run(steps));

    it('counts completed attempts', async () => {
      const steps = chain(mark('a'), mark('b'), step('c', 'Delay', { Period: 0.01 }));
      expect(await countedRun(steps)).toEqual({ 'NoOp ok': 2, 'Delay ok': 1 });
    });

    it.each([
      { kind: 'outputs', steps: [failing('s', terminating)], result: { 'NoOp failed': 1 } },
      {
        kind: 'inputs',
        steps: [step('s', 'Delay', { Period: 'data.missing' }, terminating)],
        result: { 'Delay failed': 1 },
      },
      {
        kind: 'a Fail step',
        steps: [step('s', 'Fail', { Message: '"no"' }, terminating)],
        result: { 'Fail failed': 1 },
      },
      {
        kind: 'a timeout',
        steps: [step('s', 'WaitFor', neverPublished, { Timeout: 0.05, ...terminating })],
        result: { 'WaitFor failed': 1 },
      },
      {
        kind: 'every retry',
        steps: [
          failing('s', { MaxRetries: 2, RetryInterval: 0.01, OnRetriesExhausted: 'Terminate' }),
        ],
        result: { 'NoOp failed': 3 },
      },
    ])('counts attempts that fail by $kind', async ({ result, steps }) => {
      expect(await countedRun(steps)).toEqual(result);
    });

    it('counts failed HTTP calls', async () => {
      const inputs = { BaseUrl: `"${callee.url}"`, SucceedOn: ['2xx'] };
      const steps = [step('s', 'HttpRequest', inputs, terminating)];
      expect(await countedRun(steps)).toEqual({ 'HttpRequest failed': 1 });
    });

    it('counts failed custom steps', async () => {
      const name = await at.client.script('raise ValueError("no")');
      expect(await countedRun([step('s', name, {}, terminating)])).toEqual({
        [`${name} failed`]: 1,
      });
    });

    it('counts activities that a worker fails', async () => {
      const { client } = at;
      const failed = await counted(async () => {
        const id = await client.defineAndStart([activity('s', 'count-failures', {}, terminating)]);
        await client.fail((await client.work('count-failures')).token, 'no');
        await client.ended(id);
      });
      expect(failed).toEqual({ 'Activity failed': 1 });
    });

    it('counts canceled steps', async () => {
      const wait = step('s', 'WaitFor', neverPublished, { CancelCondition: 'data.get("stop")' });
      const stop = { Id: 'stop', StepType: 'NoOp', Outputs: { stop: 'True' } };
      const canceled = await countedRun([step('p', 'Parallel', {}, { Do: [[wait], [stop]] })]);
      expect(canceled).toEqual({ 'WaitFor cancelled': 1, 'NoOp ok': 1, 'Parallel ok': 1 });
    });
  },
  { dialects: 'alternating' },
);
