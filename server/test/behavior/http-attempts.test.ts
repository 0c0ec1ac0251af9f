/** Repeated HttpRequests: one key for all attempts, SucceedOn, Retry-After. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import { useCallee } from './support/callee.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, compute, mark, step } from './support/steps.js';

interface Call {
  readonly key: string;
  readonly at: number;
}

/** The requests received, by path. */
const calls = new Map<string, Call[]>();

/**
 * Responds to the path `/name/<statuses>/<retry-after>`: one status after another, the last one forever; 0 closes the
 * connection without a response.
 */
const callee = useCallee((request, response) => {
  const path = request.url ?? '';
  const known = calls.get(path) ?? [];
  calls.set(path, [...known, { key: String(request.headers['idempotency-key']), at: Date.now() }]);
  const [, , statuses = '200', retryAfter] = path.split('/');
  const status = Number(statuses.split(',')[known.length] ?? statuses.split(',').at(-1));
  if (status === 0) {
    request.socket.destroy();
    return;
  }
  if (retryAfter !== undefined) response.setHeader('Retry-After', decodeURIComponent(retryAfter));
  response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`says ${status}`);
});

function request(Id: string, path: string, inputs: JsonObject = {}, rest: JsonObject = {}) {
  return step(
    Id,
    'HttpRequest',
    { BaseUrl: `"${callee.url}"`, Resource: `"${path}"`, ...inputs },
    { Outputs: { code: 'step.ResponseCode' }, ...rest },
  );
}

const keysOf = (path: string): readonly string[] => (calls.get(path) ?? []).map(({ key }) => key);
const SUCCEED_ON = { SucceedOn: ['2xx', 404] };
/** Sent only once for each attempt, even if the callee closes a connection that was kept. */
const POSTED = { ...SUCCEED_ON, Method: '"POST"' };

everyStore('repeated HttpRequests', (at) => {
  describe('the Idempotency-Key', () => {
    it('is the same for all attempts, and available to the expressions of the step', async () => {
      const path = `/${fresh('same')}/500,0,200`;
      const workflow = await at.client.run([
        request('call', path, POSTED, {
          RetryInterval: 0,
          Outputs: { key: 'context.Step.IdempotencyKey', attempt: 'context.Step.Attempt' },
        }),
      ]);
      const [key] = keysOf(path);
      expect(keysOf(path)).toEqual([key, key, key]);
      expect(workflow.data).toEqual({ key, attempt: 3 });
      expect(key).toContain(workflow.workflowId);
    });

    it('is the same after a suspension and after a restart', async () => {
      const { client } = at;
      const path = `/${fresh('resumed')}/500,200`;
      const id = await client.defineAndStart([
        request('call', path, SUCCEED_ON, { ErrorBehavior: 'Suspend' }),
      ]);
      await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      if (at.kind !== 'memory') await at.restart();
      await at.client.control(id, 'resume');
      await at.client.ended(id);
      const [key] = keysOf(path);
      expect(keysOf(path)).toEqual([key, key]);
    });

    it('differs in each iteration of a loop', async () => {
      const path = `/${fresh('turns')}/200`;
      await at.client.run([
        step('each', 'Foreach', { Collection: [1, 2] }, { Do: [[request('call', path)]] }),
      ]);
      expect(new Set(keysOf(path)).size).toBe(2);
    });

    it('differs when a saga runs again, because its calls were compensated', async () => {
      const path = `/${fresh('saga')}/200`;
      const workflow = await at.client.run([
        step(
          'saga',
          'Sequence',
          {},
          {
            Saga: true,
            ErrorBehavior: 'Retry',
            RetryInterval: 0,
            Do: [
              chain(
                request('pay', path, {}, { CompensateWith: [mark('refund')] }),
                compute('then', { n: '1 if data.get("trail") else data.missing' }),
              ),
            ],
          },
        ),
      ]);
      expect(workflow.data).toMatchObject({ trail: ['refund'], n: 1 });
      expect(new Set(keysOf(path)).size).toBe(2);
    });

    it('gives way to a key that the author sets', async () => {
      const path = `/${fresh('mine')}/500,200`;
      const inputs = { ...SUCCEED_ON, Headers: { 'idempotency-key': 'order-7' } };
      await at.client.run([request('call', path, inputs, { RetryInterval: 0 })]);
      expect(keysOf(path)).toEqual(['order-7', 'order-7']);
    });

    it('reaches a custom step or an activity through an expression', async () => {
      const { client } = at;
      const script = await client.script('seen = key');
      const name = fresh('work');
      const id = await client.defineAndStart(
        chain(
          step(
            'script',
            script,
            { key: 'context.Step.IdempotencyKey' },
            { Outputs: { seen: 'step["seen"]' } },
          ),
          activity('ask', name, { Parameters: { '@key': 'context.Step.IdempotencyKey' } }),
        ),
      );
      const item = await client.work(name);
      expect(item.parameters).toEqual({ key: item.idempotencyKey });
      await client.succeed(item.token, 1);
      const { data } = await client.ended(id);
      const scriptStep = (await client.steps(id)).find(({ stepId }) => stepId === 'script')!;
      expect(data['seen']).toBe(`${id}/${scriptStep.executionId}`);
    });
  });

  describe('SucceedOn', () => {
    it.each([200, 404])('accepts a response with status %i', async (status) => {
      const path = `/${fresh('wanted')}/${status}`;
      const { data } = await at.client.run([request('call', path, SUCCEED_ON)]);
      expect(data).toEqual({ code: status });
    });

    it('fails the step with status and body for any other response', async () => {
      const path = `/${fresh('other')}/503`;
      const id = await at.client.defineAndStart([
        request('call', path, SUCCEED_ON, { ErrorBehavior: 'Suspend' }),
      ]);
      const { lastError } = await at.client.untilWorkflow(
        id,
        ({ status }) => status === 'Suspended',
      );
      expect(lastError).toMatchObject({
        type: 'HttpError',
        message: `GET ${callee.url}${path} answered 503: says 503`,
        data: { ResponseCode: 503 },
      });
    });

    it('fails the step if there is no response, and the step is retried', async () => {
      const path = `/${fresh('none')}/0,200`;
      const rest = { MaxRetries: 3, RetryInterval: 0 };
      expect((await at.client.run([request('call', path, POSTED, rest)])).data).toEqual({
        code: 200,
      });
    });

    it("doesn't retry error types that NonRetryable lists", async () => {
      const path = `/${fresh('final')}/422`;
      const rest = { MaxRetries: 3, NonRetryable: ['HttpClientError'], RetryInterval: 0 };
      const id = await at.client.defineAndStart([request('call', path, SUCCEED_ON, rest)]);
      await at.client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      expect(keysOf(path)).toHaveLength(1);
    });

    it('accepts an expression', async () => {
      const path = `/${fresh('computed')}/418`;
      const { data } = await at.client.run([request('call', path, { SucceedOn: '[400 + 18]' })]);
      expect(data).toEqual({ code: 418 });
    });

    it.each([[[]], [['2x']], [[99]], [200], [{}]])('is rejected if it is %j', async (SucceedOn) => {
      const Id = fresh('definition');
      const Steps = [request('call', '/x', { SucceedOn })];
      const { body, status } = await at.client.postDefinition({ Id, Steps });
      expect(status).toBe(400);
      expect(JSON.stringify(body.errors)).toMatch(/SucceedOn: expected a list of statuses/);
    });
  });

  describe('Retry-After', () => {
    const gapMs = (path: string): number => {
      const [first, second] = calls.get(path)!;
      return second!.at - first!.at;
    };

    it('delays the next attempt', async () => {
      const path = `/${fresh('later')}/503,200/1`;
      await at.client.run([request('call', path, SUCCEED_ON, { RetryInterval: 0 })]);
      expect(gapMs(path)).toBeGreaterThanOrEqual(1000);
    });

    it.each(['soon', '-1', 'Sun, 06 Nov 1994 08:49:37 GMT'])(
      'is ignored if it is %j',
      async (field) => {
        const path = `/${fresh('ignored')}/503,200/${encodeURIComponent(field)}`;
        await at.client.run([request('call', path, SUCCEED_ON, { RetryInterval: 0 })]);
        expect(keysOf(path)).toHaveLength(2);
      },
    );

    it("doesn't shorten a longer RetryInterval, and is limited to a day", async () => {
      const { client } = at;
      for (const [field, RetryInterval, seconds] of [
        ['5', 500, 500],
        ['999999', 1, 86_400],
      ] as const) {
        const path = `/${fresh('bounds')}/503/${field}`;
        const id = await client.defineAndStart([
          request('call', path, SUCCEED_ON, { RetryInterval }),
        ]);
        const waiting = await client.untilWaiting(id, 'call');
        const failed = (await client.steps(id))[0]!;
        const pauseMs = Date.parse(waiting.waitsFor!.until!) - Date.parse(failed.endTime!);
        expect(pauseMs).toBe(seconds * 1000);
        await client.terminate(id);
      }
    });
  });
});
