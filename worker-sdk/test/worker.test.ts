/** Workers with a real server: handlers and their failures, schemas, middleware, listeners. */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../sdk/test/support/eventually.js';
import { activity, ActivityFailure, createClient, defineActivities, Worker } from '../src/index.js';
import { keptLog, startWork } from './support/work.js';
import { during, quiet, workServer } from './support/worker-tests.js';

const at = workServer();

describe('a handler', () => {
  it('gets large integers as bigints when its worker was created with integers: bigint', async () => {
    const seen: unknown[] = [];
    const worker = new Worker({
      baseUrl: at.server.url,
      integers: 'bigint',
      log: quiet,
      activities: {
        count: ({ large }: { large: bigint }) => {
          seen.push(large);
          return large + 1n;
        },
      },
    });
    await during(worker, async () => {
      const handle = await at.start('count', { large: 2n ** 60n });
      await handle.wait();
      expect(seen).toEqual([2n ** 60n]);
    });
  });

  it('gets the parameters and their origin, and returns the result', async () => {
    const seen: unknown[] = [];
    const { lines, log } = keptLog();
    const worker = new Worker({
      client: at.client,
      log,
      activities: {
        greet: async ({ name }: { name: string }, context) => {
          context.log.info('greeting', { name });
          const { activityName, workflowId, stepId, attempt } = context;
          seen.push({ activityName, workflowId, stepId, attempt });
          return { text: `Hello ${name}` };
        },
      },
    });
    await during(worker, async () => {
      const handle = await at.start('greet', { name: 'Ada' });
      expect((await handle.wait()).data.result).toEqual({ text: 'Hello Ada' });
      const subject = { activityName: 'greet', workflowId: handle.id, stepId: 'do', attempt: 1 };
      expect(seen).toEqual([subject]);
      expect(lines).toContainEqual({
        level: 'info',
        message: 'greeting',
        fields: { ...subject, name: 'Ada' },
      });
    });
    expect(worker.stats()).toMatchObject({ received: 1, succeeded: 1, failed: 0, running: 0 });
  });

  it('reports null as the result if it returns undefined', async () => {
    const worker = new Worker({ client: at.client, activities: { nothing: () => undefined } });
    await during(worker, async () => {
      expect((await (await at.start('nothing')).wait()).data.result).toBeNull();
    });
  });

  it.each([
    ['an error', new RangeError('too big'), { name: 'RangeError', message: 'too big', data: null }],
    [
      'an ActivityFailure',
      new ActivityFailure('no money', { data: { missing: 3 } }),
      { name: 'ActivityFailure', message: 'no money', data: { missing: 3 } },
    ],
    [
      'an ActivityFailure with a type',
      new ActivityFailure('no money', { type: 'NoMoney' }),
      { name: 'ActivityFailure', type: 'NoMoney', message: 'no money', data: null },
    ],
    [
      'an error of its own class',
      new (class NoMoney extends Error {})('no money'),
      { name: 'Error', type: 'NoMoney', message: 'no money', data: null },
    ],
    ['a string', 'just a text', { name: 'NonError', message: 'just a text', data: null }],
    ['data', { code: 7 }, { name: 'NonError', data: { code: 7 } }],
  ])('fails the activity with the thrown value: %s', async (_name, thrown, reported) => {
    const worker = new Worker({
      client: at.client,
      log: quiet,
      activities: {
        throws: () => {
          throw thrown as Error; // Some throw values that are not errors.
        },
      },
    });
    const failures: unknown[] = [];
    worker.on('failed', ({ error }) => failures.push(error));
    await during(worker, async () => {
      const ended = await (await at.start('throws')).wait();
      expect(ended).toMatchObject({ status: 'Terminated', lastError: { data: reported } });
    });
    expect(failures).toEqual([thrown]);
  });

  it('fails the activity if its result is not JSON or is too large', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const worker = new Worker({
      client: at.client,
      log: quiet,
      activities: { circular: () => circular, large: () => 'x'.repeat(3_000_000) },
    });
    await during(worker, async () => {
      for (const name of ['circular', 'large']) {
        const ended = await (await at.start(name)).wait();
        expect(ended.lastError?.data).toMatchObject({ name: 'InvalidResult' });
      }
    });
    expect(worker.stats()).toMatchObject({ failed: 2, succeeded: 0 });
  });

  it('fails the activity even if its failure is not JSON', async () => {
    const worker = new Worker({
      client: at.client,
      log: quiet,
      activities: {
        unspeakable: () => {
          const data: Record<string, unknown> = {};
          data['itself'] = data;
          throw new ActivityFailure('cannot say', { data });
        },
      },
    });
    await during(worker, async () => {
      const ended = await (await at.start('unspeakable')).wait();
      expect(ended.lastError?.data).toEqual({
        name: 'ActivityFailure',
        message: 'cannot say',
        data: null,
      });
    });
  });

  it('is not retried if it throws a type that NonRetryable lists', async () => {
    await at.client.definitions.register({
      id: 'reserve',
      steps: [
        {
          id: 'reserve',
          stepType: 'Activity',
          inputs: { ActivityName: "'reserve-stock'" },
          retryInterval: 0,
          maxRetries: 20,
          nonRetryable: ['OutOfStock'],
          onRetriesExhausted: 'Terminate',
        },
      ],
    });
    const attempts: number[] = [];
    const worker = new Worker({
      client: at.client,
      log: quiet,
      activities: {
        'reserve-stock': (_parameters, { attempt }) => {
          attempts.push(attempt);
          throw new ActivityFailure('no stock', { type: attempt < 3 ? 'Busy' : 'OutOfStock' });
        },
      },
    });
    await during(worker, async () => {
      const run = await (await at.client.workflows.start('reserve', {})).wait();
      expect(run).toMatchObject({ outcome: 'Failed', lastError: { attempt: 3 } });
    });
    expect(attempts).toEqual([1, 2, 3]);
  });

  it('is not retried if it throws a non-retryable ActivityFailure', async () => {
    const attempts: number[] = [];
    const worker = new Worker({
      client: at.client,
      log: quiet,
      activities: {
        hopeless: (_parameters, { attempt }) => {
          attempts.push(attempt);
          throw new ActivityFailure('no such card', { retryable: false });
        },
      },
    });
    await during(worker, async () => {
      const [id = ''] = await startWork(at.client, 'hopeless', 1, 'work');
      await eventually('the workflow is suspended', async () => {
        const { status, lastError } = await at.client.workflows.get(id);
        return status === 'Suspended' && lastError?.message === 'no such card';
      });
    });
    expect(attempts).toEqual([1]);
  });

  it('gets the same idempotency key in all attempts of an execution, and another key in the next execution', async () => {
    const seen: { key: string; executionId: number; attempt: number }[] = [];
    const worker = new Worker({
      client: at.client,
      log: quiet,
      activities: {
        keyed: (_parameters, { idempotencyKey: key, executionId, attempt }) => {
          seen.push({ key, executionId, attempt });
          if (attempt === 1) throw new Error('once more');
          return 'done';
        },
      },
    });
    await during(worker, async () => {
      for (const id of await startWork(at.client, 'keyed', 2, 'work'))
        await at.client.workflows.wait(id);
    });
    expect(seen.map(({ attempt }) => attempt).sort()).toEqual([1, 1, 2, 2]);
    const keys = new Set(seen.map(({ key }) => key));
    expect(keys.size).toBe(2);
    for (const key of keys) {
      const attempts = seen.filter((one) => one.key === key);
      expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(new Set(attempts.map(({ executionId }) => executionId)).size).toBe(1);
    }
  });

  it('is retried as the definition says, and gets the number of the attempt', async () => {
    const attempts: number[] = [];
    const worker = new Worker({
      client: at.client,
      log: quiet,
      activities: {
        'third-time': (_parameters, { attempt }) => {
          attempts.push(attempt);
          if (attempts.length < 3) throw new Error('not yet');
          return 'done';
        },
      },
    });
    await during(worker, async () => {
      const ended = await (await at.start('third-time', {}, 'work')).wait();
      expect(ended.data.result).toBe('done');
    });
    expect(attempts).toEqual([1, 2, 3]);
  });
});

describe('a schema', () => {
  it('validates the parameters before the handler runs, and passes it their output', async () => {
    const seen: unknown[] = [];
    const worker = new Worker({
      client: at.client,
      log: quiet,
      activities: {
        dated: {
          parameters: z.object({ on: z.coerce.date() }),
          handler: (parameters) => void seen.push(parameters),
        },
      },
    });
    await during(worker, async () => {
      expect((await (await at.start('dated', { on: '2026-01-02' })).wait()).status).toBe(
        'Complete',
      );
      const refused = await (await at.start('dated', { on: 'never' })).wait();
      expect(refused.lastError?.data).toMatchObject({
        name: 'InvalidDataError',
        data: [{ path: 'on', message: expect.any(String) as string }],
      });
    });
    expect(seen).toEqual([{ on: new Date('2026-01-02') }]);
  });

  it('applies, for a declared activity, to parameters and results in every worker of the client', async () => {
    const declared = defineActivities({
      double: { parameters: z.object({ n: z.number() }), result: z.object({ n: z.number() }) },
      plain: activity<{ n: number }, number>(),
    });
    const typed = createClient({ baseUrl: at.server.url, activities: declared });
    const worker = new Worker({
      client: typed,
      log: quiet,
      activities: { double: ({ n }) => ({ n: n === 13 ? NaN : n * 2 }), plain: ({ n }) => n + 1 },
    });
    await during(worker, async () => {
      expect((await (await at.start('double', { n: 4 })).wait()).data.result).toEqual({ n: 8 });
      expect((await (await at.start('plain', { n: 4 })).wait()).data.result).toBe(5);
      const wrong = await (await at.start('double', { n: 'four' })).wait();
      expect(wrong.lastError?.data).toMatchObject({
        message: expect.stringMatching(/parameters/) as string,
      });
      const wrongResult = await (await at.start('double', { n: 13 })).wait();
      expect(wrongResult.lastError?.data).toMatchObject({
        message: expect.stringMatching(/result/) as string,
      });
    });
  });
});

describe('middleware', () => {
  it('wraps the handler, the first one outermost, and may change the result', async () => {
    const order: string[] = [];
    const worker = new Worker({
      client: at.client,
      activities: { wrapped: () => order.push('handler') },
    })
      .use(async ({ context }, next) => {
        order.push(`first ${context.activityName}`);
        const result = await next();
        order.push('first after');
        return { wrapped: result };
      })
      .use(async ({ parameters }, next) => {
        order.push(`second ${JSON.stringify(parameters)}`);
        return next();
      });
    await during(worker, async () => {
      expect((await (await at.start('wrapped', [1])).wait()).data.result).toEqual({ wrapped: 3 });
    });
    expect(order).toEqual(['first wrapped', 'second [1]', 'handler', 'first after']);
  });
});

describe('a listener', () => {
  it('does not affect the worker or other listeners if it throws', async () => {
    const { lines, log } = keptLog();
    const worker = new Worker({ client: at.client, log, activities: { heard: () => 1 } });
    worker.on('received', () => {
      throw new Error('a bad listener');
    });
    const names: string[] = [];
    for (const name of ['started', 'received', 'succeeded', 'stopping', 'stopped'] as const) {
      worker.on(name, () => names.push(name));
    }
    await during(worker, async () => {
      expect((await (await at.start('heard')).wait()).status).toBe('Complete');
      await eventually('the report is in', () => worker.stats().succeeded === 1);
    });
    expect(names).toEqual(['started', 'received', 'succeeded', 'stopping', 'stopped']);
    expect(lines.map(({ message }) => message)).toContain('a listener failed');
  });
});

describe('the list of workers', () => {
  it('shows the machine, the process and the version of a worker that waits for work', async () => {
    const activities = { 'never-offered': () => null };
    const unnamed = new Worker({ client: at.client, log: quiet, activities });
    const options = { workerId: 'named', version: '2.4.1' };
    const named = new Worker({ client: at.client, log: quiet, activities, ...options });
    expect(unnamed.workerId).toMatch(/-\d+-[0-9a-f]{8}$/);
    expect(unnamed.workerId.startsWith(`${hostname().slice(0, 100)}-${process.pid}-`)).toBe(true);
    await during(unnamed, () =>
      during(named, async () => {
        const { items } = await eventually('both workers are waiting', async () => {
          const list = await at.client.workers.list({ activityName: 'never-offered' });
          return list.items.filter(({ polling }) => polling === 1).length === 2 && list;
        });
        const versions = items.map(({ host, version, workerId }) => ({ host, version, workerId }));
        const host = hostname().slice(0, 100);
        expect(versions).toContainEqual({ host, version: '2.4.1', workerId: 'named' });
        const version = expect.stringMatching(/^worker-sdk\/\d/) as unknown;
        expect(versions).toContainEqual({ host, version, workerId: unnamed.workerId });
      }),
    );
  });
});
