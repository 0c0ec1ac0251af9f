/** Activities and their workers. */
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { WorkItem } from '../../src/api/wire/models/activity.js';
import { itFails } from './support/cases.js';
import { fresh, type Client } from './support/client.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, mark, step } from './support/steps.js';

const NEVER = '9999-12-31T23:59:59.9999999';

/** The number of waiting polls, from the metrics. */
async function pollers(client: Client): Promise<number> {
  const { text } = await client.get('/metrics');
  return Number(/^stepwright_pollers (\d+)$/m.exec(text)?.[1]);
}

const untilPollersAre = (client: Client, count: number) =>
  eventually(`${count} polls are waiting`, async () => (await pollers(client)) === count);

everyStore(
  'activities',
  (at) => {
    it('offers the parameters and accepts a result', async () => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart(
        chain(
          activity('ask', name, { Parameters: { '@amount': 'data.n * 2', unit: 'data.n' } }),
          mark('after'),
        ),
        { n: 21 },
      );
      const item = await client.work(name, '&workerId=w1');
      expect(item).toEqual({
        token: item.token,
        activityName: name,
        parameters: { amount: 42, unit: 'data.n' },
        tokenExpiry: NEVER,
        workflowId: id,
        stepId: 'ask',
        executionId: 1,
        idempotencyKey: `${id}/1`,
        attempt: 1,
      });
      const waiting = await client.untilWaiting(id, 'ask');
      expect(waiting.waitsFor).toEqual({ kind: 'activity', activityName: name });
      await client.succeed(item.token, { approved: true });
      const { data, status } = await client.ended(id);
      expect({ data, status }).toEqual({
        data: { n: 21, result: { approved: true }, trail: ['after'] },
        status: 'Complete',
      });
    });

    it.each([[null], [0], [false], [''], ['text'], [[1, { a: null }]], [{}]])(
      'accepts any JSON value as the result: %j',
      async (value) => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([activity('ask', name)]);
        await client.succeed((await client.work(name)).token, value);
        expect((await client.ended(id)).data).toEqual({ result: value });
      },
    );

    it('accepts a missing body as null', async () => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart([activity('ask', name)]);
      const { token } = await client.work(name);
      expect((await client.call('POST', `/api/activity/success/${token}`)).status).toBe(202);
      expect((await client.ended(id)).data).toEqual({ result: null });
    });

    it.each([
      ['an expression', 'data.n + 1', 5],
      ['a constant', 7, 7],
      ['a list of constants', ['data.n', 1], ['data.n', 1]],
      ['a string', '"text"', 'text'],
    ] as const)('offers parameters given as %s', async (_, parameters, expected) => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart([activity('ask', name, { Parameters: parameters })], {
        n: 4,
      });
      expect((await client.work(name)).parameters).toEqual(expected);
      await client.terminate(id);
    });

    it('hands out items oldest first, each to one worker', async () => {
      const { client } = at;
      const name = fresh('work');
      const definition = await client.define([activity('ask', name, { Parameters: 'data.n' })]);
      for (let n = 0; n < 6; n += 1) await client.start(definition, { n });
      const items: WorkItem[] = [];
      for (let n = 0; n < 3; n += 1) items.push(await client.work(name));
      expect(items.map(({ parameters }) => parameters)).toEqual([0, 1, 2]);
      const rest = await Promise.all([1, 2, 3, 4, 5].map(() => client.pull(name)));
      const taken = rest.filter(({ status }) => status === 200).map(({ body }) => body.parameters);
      expect(taken.sort()).toEqual([3, 4, 5]);
      expect(rest.filter(({ status }) => status === 404)).toHaveLength(2);
    });

    it('answers 404 if no work item appears in time', async () => {
      const { client } = at;
      const answer = await client.get<Problem>(`/api/activity/${fresh('none')}`);
      expect(answer.status).toBe(404);
      expect(answer.body.code).toBe('no_work');
      const startedAt = Date.now();
      expect((await client.pull(fresh('none'), '?timeout=1')).status).toBe(404);
      expect(Date.now() - startedAt).toBeGreaterThanOrEqual(990);
    });

    it.each(['-1', '1.5', 'abc', 'NaN', '1e3'])('rejects a timeout of %s', async (timeout) => {
      const answer = await at.client.get<Problem>(`/api/activity/x?timeout=${timeout}`);
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toMatch(/problem\+json/);
    });

    it('answers a waiting poll as soon as work appears', async () => {
      const { client } = at;
      const name = fresh('work');
      const definition = await client.define([activity('ask', name)]);
      const poll = client.work(name);
      await untilPollersAre(client, 1);
      const startedAt = Date.now();
      const id = await client.start(definition);
      const item = await poll;
      expect(Date.now() - startedAt).toBeLessThan(10_000);
      expect(item.workflowId).toBe(id);
      await client.terminate(id);
    });

    it('creates long random tokens', async () => {
      const { client } = at;
      const name = fresh('work');
      const definition = await client.define([activity('ask', name)]);
      await client.start(definition);
      await client.start(definition);
      const [a, b] = [await client.work(name), await client.work(name)];
      // 22 base64url characters hold 128 bits.
      const secrets = [a, b].map(({ token }) => token.split('.').at(-1)!);
      expect(secrets[0]!.length).toBeGreaterThanOrEqual(22);
      expect(secrets[0]).not.toBe(secrets[1]);
    });

    it('offers the work item to another worker when the first one hung up', async () => {
      const { client } = at;
      const name = fresh('work');
      const definition = await client.define([activity('ask', name)]);
      const gone = new AbortController();
      const lost = client
        .call('GET', `/api/activity/${name}?timeout=20`, { signal: gone.signal })
        .catch(() => 'hung up');
      await untilPollersAre(client, 1);
      gone.abort();
      expect(await lost).toBe('hung up');
      const id = await client.start(definition);
      await client.succeed((await client.work(name)).token, 1);
      expect((await client.ended(id)).data).toEqual({ result: 1 });
      await untilPollersAre(client, 0);
    });

    it("loses no work item to workers that hang up just as it's created", async () => {
      const { client } = at;
      for (let n = 0; n < 10; n += 1) {
        const name = fresh('work');
        const definition = await client.define([activity('ask', name)]);
        const gone = new AbortController();
        const { signal } = gone;
        const poll = client
          .call('GET', `/api/activity/${name}?timeout=20`, { signal })
          .catch(() => null);
        await untilPollersAre(client, 1);
        const starting = client.start(definition);
        gone.abort();
        await poll;
        const item = await client.work(name);
        expect(item.workflowId).toBe(await starting);
        await client.succeed(item.token, n);
      }
    });

    it("hands out no item of a suspended instance until it's resumed", async () => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart([activity('ask', name)]);
      await client.untilWaiting(id, 'ask');
      await client.control(id, 'suspend');
      expect((await client.pull(name)).status).toBe(404);
      const poll = client.work(name);
      await untilPollersAre(client, 1);
      const resumedAt = Date.now();
      await client.control(id, 'resume');
      const { token } = await poll;
      expect(Date.now() - resumedAt).toBeLessThan(10_000);
      await client.succeed(token, 1);
      expect((await client.ended(id)).data).toEqual({ result: 1 });
    });

    it('accepts a result while the instance is suspended, and applies it after the resume', async () => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart([activity('ask', name)]);
      const { token } = await client.work(name);
      await client.control(id, 'suspend');
      await client.succeed(token, 'kept');
      expect(await client.workflow(id)).toMatchObject({ status: 'Suspended', data: {} });
      await client.control(id, 'resume');
      expect((await client.ended(id)).data).toEqual({ result: 'kept' });
    });

    it('hands out no item of a terminated instance', async () => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart([activity('ask', name)]);
      await client.untilWaiting(id, 'ask');
      await client.terminate(id);
      expect((await client.pull(name)).status).toBe(404);
      expect((await client.pull(name, '?timeout=1')).status).toBe(404);
    });

    it('hands out no item of a canceled step', async () => {
      const { client } = at;
      const name = fresh('work');
      const other = fresh('work');
      const id = await client.defineAndStart([
        step(
          'both',
          'Parallel',
          {},
          {
            Do: [
              [activity('canceled', name, {}, { CancelCondition: 'data.get("stop", False)' })],
              [activity('stop', other, {}, { Outputs: { stop: 'step.Result' } })],
            ],
          },
        ),
      ]);
      await client.succeed((await client.work(other)).token, true);
      expect((await client.ended(id)).status).toBe('Complete');
      expect((await client.pull(name)).status).toBe(404);
    });

    describe('a failed activity', () => {
      it('records the error in the step, and with Retry offers the work again after the interval', async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([
          activity('ask', name, {}, { ErrorBehavior: 'Retry', RetryInterval: '00:00:00.2' }),
        ]);
        const { token } = await client.work(name);
        // Before the call, because its response may be late.
        const failedAt = Date.now();
        await client.fail(token, { message: 'no paper', tray: 2 });
        const retrying = await client
          .untilStep(id, 'ask', ({ waitsFor }) => waitsFor !== null && waitsFor.kind === 'retry')
          .catch(() => null);
        if (retrying !== null)
          expect(retrying.error).toMatchObject({ type: 'ActivityFailed', data: { tray: 2 } });
        const again = await client.work(name);
        expect(Date.now() - failedAt).toBeGreaterThanOrEqual(100);
        expect(again).toMatchObject({ workflowId: id, stepId: 'ask' });
        const failed = (await client.steps(id)).find(({ status }) => status === 'Failed');
        expect(failed).toMatchObject({
          stepId: 'ask',
          attempt: 1,
          error: { message: 'no paper', data: { message: 'no paper', tray: 2 } },
        });
        expect((await client.workflow(id)).lastError).toMatchObject({
          stepId: 'ask',
          message: 'no paper',
        });
        await client.succeed(again.token, 'done');
        expect(await client.ended(id)).toMatchObject({ data: { result: 'done' }, lastError: null });
      });

      it('suspends the run with Suspend, and offers the work again once the run is resumed', async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([
          activity('ask', name, {}, { ErrorBehavior: 'Suspend' }),
        ]);
        await client.fail((await client.work(name)).token, 'words');
        const { lastError } = await client.untilWorkflow(
          id,
          ({ status }) => status === 'Suspended',
        );
        expect(lastError).toMatchObject({ message: 'words', data: 'words' });
        expect((await client.pull(name)).status).toBe(404);
        await client.control(id, 'resume');
        await client.succeed((await client.work(name)).token, 1);
        expect((await client.ended(id)).data).toEqual({ result: 1 });
      });
    });

    it('times out an activity at its Timeout', async () => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart([
        activity('ask', name, { Timeout: 0.1 }, { ErrorBehavior: 'Suspend' }),
      ]);
      const { lastError } = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      expect(lastError).toMatchObject({ stepId: 'ask', type: 'Timeout' });
      expect((await client.pull(name)).status).toBe(404);
    });

    itFails(at, [
      {
        does: 'a missing name',
        step: step('ask', 'Activity', { ActivityName: 'None' }),
        message: /ActivityName/,
      },
      {
        does: 'an empty name, which no worker can poll',
        step: step('ask', 'Activity', { ActivityName: 'data.get("name", "")' }),
        message: /^the input ActivityName: the string is empty$/,
      },
      {
        does: 'a name that is longer than a poll accepts',
        step: step('ask', 'Activity', { ActivityName: '"n" * 201' }),
        message: /^the input ActivityName: the string is longer than 200 characters$/,
      },
    ]);
  },
  { dialects: 'alternating' },
);
