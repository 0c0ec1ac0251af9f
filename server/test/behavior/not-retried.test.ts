/** Retry settings imply Retry; Fail; errors that are not retried. */
import { describe, expect, it } from 'vitest';
import { itRuns } from './support/cases.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, compute, failing, mark, step } from './support/steps.js';

const paid = mark('pay', { CompensateWith: [mark('-pay')] });

const saga = (inside: ReturnType<typeof chain>, rest = {}) =>
  chain(step('saga', 'Sequence', {}, { Saga: true, Do: [inside], ...rest }), mark('after'));

/** Fails until its n-th attempt. */
const flaky = (Id: string, attempts: number, rest = {}) =>
  compute(
    Id,
    { v: `context.Step.Attempt if context.Step.Attempt >= ${attempts} else data.missing` },
    rest,
  );

const fail = (Id: string, rest = {}) =>
  step(
    Id,
    'Fail',
    { Message: '"over the limit"', Type: '"Limit"', Data: { '@n': 'data.n' } },
    rest,
  );

everyStore('retries', (at) => {
  describe('a step with retry settings', () => {
    itRuns(at, [
      {
        does: 'is retried inside a saga before the saga compensates',
        steps: saga(chain(paid, flaky('s', 3, { MaxRetries: 5, RetryInterval: 0.02 }))),
        gives: { trail: ['pay', 'after'], v: 3 },
      },
      {
        does: 'compensates its saga once its retries are exhausted',
        steps: saga(chain(paid, failing('s', { MaxRetries: 2, RetryInterval: 0.02 }))),
        gives: { trail: ['pay', '-pay', 'after'] },
        trace: [
          'pay Complete',
          's Failed',
          's Failed',
          's Failed',
          '-pay Complete',
          'saga Compensated',
          'after Complete',
        ],
      },
      {
        does: 'is retried with DefaultErrorBehavior Terminate, which then terminates',
        steps: {
          DefaultErrorBehavior: 'Terminate',
          Steps: [failing('s', { MaxRetries: 1, RetryInterval: 0.02 })],
        },
        status: 'Terminated',
        trace: ['s Failed', 's Failed'],
      },
      {
        does: 'is retried with RetryBackoff alone',
        steps: {
          DefaultErrorBehavior: 'Terminate',
          Steps: [flaky('s', 3, { RetryBackoff: 2, RetryInterval: 0.02 })],
        },
        gives: { v: 3 },
      },
      {
        does: "isn't retried with RetryInterval alone",
        steps: saga(chain(paid, failing('s', { RetryInterval: 0.02 }))),
        gives: { trail: ['pay', '-pay', 'after'] },
      },
    ]);
  });

  describe('a Fail step', () => {
    itRuns(at, [
      {
        does: 'compensates its saga without a retry',
        steps: saga(chain(paid, fail('f', { MaxRetries: 5 }))),
        data: { n: 1 },
        gives: { n: 1, trail: ['pay', '-pay', 'after'] },
        trace: ['pay Complete', 'f Failed', '-pay Complete', 'saga Compensated', 'after Complete'],
      },
      {
        does: 'terminates the run with ErrorBehavior Terminate',
        steps: [fail('f', { ErrorBehavior: 'Terminate' })],
        data: { n: 1 },
        status: 'Terminated',
        trace: ['f Failed'],
      },
    ]);

    it.each([{}, { ErrorBehavior: 'Retry' }])(
      'suspends the run where other steps would be retried: %j',
      async (rest) => {
        const { client } = at;
        const id = await client.defineAndStart([fail('f', rest)], { n: 7 });
        const { lastError } = await client.untilWorkflow(
          id,
          ({ status }) => status === 'Suspended',
        );
        expect(lastError).toMatchObject({
          stepId: 'f',
          type: 'Limit',
          message: 'over the limit',
          data: { n: 7 },
          attempt: 1,
        });
        await client.control(id, 'resume');
        await client.untilStep(
          id,
          'f',
          ({ attempt, status }) => attempt === 3 && status !== 'Failed',
        );
        expect(await client.trace(id)).toEqual(['f Failed', 'f Failed', 'f Waiting']);
      },
    );

    it('requires a Message', async () => {
      const { body, status } = await at.client.postDefinition({
        Id: fresh('definition'),
        Steps: [step('f', 'Fail')],
      });
      expect(status).toBe(400);
      expect(body.errors).toMatchObject([{ code: 'missing_input' }]);
    });
  });

  describe('an activity that failed with retry=false', () => {
    it("isn't retried, and accepts the repeated call", async () => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart([
        activity(
          'ask',
          name,
          {},
          { MaxRetries: 5, RetryInterval: 0, OnRetriesExhausted: 'Terminate' },
        ),
      ]);
      const { token } = await client.work(name);
      const report = async (query: string, reason = 'no funds') =>
        (await client.post(`/api/activity/fail/${token}${query}`, reason)).status;
      expect(await report('?retry=maybe')).toBe(400);
      expect(await report('?retry=false')).toBe(202);
      expect(await report('?retry=false')).toBe(202);
      expect(await report('')).toBe(404);
      expect(await report('?retry=false', 'other')).toBe(404);
      expect(await client.ended(id)).toMatchObject({
        status: 'Terminated',
        lastError: { type: 'ActivityFailed', message: 'no funds', attempt: 1 },
      });
      expect(await report('?retry=false')).toBe(202);
    });

    it('is retried with retry=true, which is the default', async () => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart([activity('ask', name, {}, { RetryInterval: 0 })]);
      const keys: string[] = [];
      for (const [attempt, query] of ['?retry=true', ''].entries()) {
        const item = await client.work(name);
        expect(item).toMatchObject({ workflowId: id, attempt: attempt + 1 });
        keys.push(item.idempotencyKey);
        const failed = await client.post(`/api/activity/fail/${item.token}${query}`, 'busy');
        expect(failed.status).toBe(202);
      }
      const last = await client.work(name);
      keys.push(last.idempotencyKey);
      expect(new Set(keys)).toEqual(new Set([`${id}/${last.executionId}`]));
      await client.succeed(last.token, 'paid');
      expect((await client.ended(id)).data).toEqual({ result: 'paid' });
    });

    it("isn't retried if an operator reports the failure", async () => {
      const { client } = at;
      const id = await client.defineAndStart([activity('ask', fresh('work'))]);
      const waiting = await client.untilWaiting(id, 'ask');
      const path = `/api/workflow/${id}/steps/${waiting.executionId}/fail?retry=false`;
      expect((await client.post(path, 'no')).status).toBe(202);
      await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
    });

    it('keeps its idempotency key across a suspension', async () => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart([activity('ask', name)]);
      const first = await client.work(name);
      await client.post(`/api/activity/fail/${first.token}?retry=false`, 'no');
      await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      await client.control(id, 'resume');
      const second = await client.work(name);
      expect(second).toMatchObject({ attempt: 2, idempotencyKey: first.idempotencyKey });
      await client.terminate(id);
    });
  });

  describe('NonRetryable', () => {
    it.concurrent.each([
      { NonRetryable: ['ZeroDivisionError'], status: 'Terminated', attempts: 1 },
      { NonRetryable: ['ValueError'], status: 'Terminated', attempts: 3 },
    ])("lists the types of errors that aren't retried: $NonRetryable", async (expected) => {
      const { client } = at;
      const { NonRetryable, attempts, status } = expected;
      const id = await client.defineAndStart([
        compute(
          's',
          { v: '1 / 0' },
          { NonRetryable, MaxRetries: 2, RetryInterval: 0, OnRetriesExhausted: 'Terminate' },
        ),
      ]);
      expect(await client.ended(id)).toMatchObject({ status, lastError: { attempt: attempts } });
    });
  });
});
