/** Workers against a real server: work, failures, leases, stopping. */
import type { StepwrightClient } from '@stepwright/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../sdk/test/support/eventually.js';
import { HttpAnswers, json, problem } from '../../sdk/test/support/http-answers.js';
import type { ServerProcess } from '../../sdk/test/support/server-process.js';
import {
  activity,
  ActivityFailure,
  createClient,
  defineActivities,
  LeaseLostError,
  Worker,
  WorkerStoppedError,
} from '../src/index.js';
import { countingFetch, keptLog, startWork, startWorkServer, type Work } from './support/work.js';

let server: ServerProcess;
let client: StepwrightClient;

beforeAll(async () => {
  ({ server, client } = await startWorkServer());
});
afterAll(async () => {
  await server.remove();
});

/** Runs a worker for as long as the test needs it. */
async function during<T>(worker: Worker, body: () => Promise<T>): Promise<T> {
  const running = worker.run();
  try {
    return await body();
  } finally {
    await worker.stop({ graceMs: 0 });
    await running;
  }
}

const quiet = keptLog().log;

function start(name: string, parameters: unknown = {}, definition = 'work-once') {
  return client.workflows.start<Work>(definition, { activity: name, parameters });
}

describe('a handler', () => {
  it('gets large integers as bigints when its worker was created with integers: bigint', async () => {
    const seen: unknown[] = [];
    const worker = new Worker({
      baseUrl: server.url,
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
      const handle = await start('count', { large: 2n ** 60n });
      await handle.wait();
      expect(seen).toEqual([2n ** 60n]);
    });
  });

  it('gets the parameters and their origin, and returns the result', async () => {
    const seen: unknown[] = [];
    const { lines, log } = keptLog();
    const worker = new Worker({
      client,
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
      const handle = await start('greet', { name: 'Ada' });
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

  it('that returns undefined reports null as the result', async () => {
    const worker = new Worker({ client, activities: { nothing: () => undefined } });
    await during(worker, async () => {
      expect((await (await start('nothing')).wait()).data.result).toBeNull();
    });
  });

  it.each([
    ['an error', new RangeError('too big'), { name: 'RangeError', message: 'too big', data: null }],
    [
      'an ActivityFailure',
      new ActivityFailure('no money', { data: { missing: 3 } }),
      { name: 'ActivityFailure', message: 'no money', data: { missing: 3 } },
    ],
    ['a string', 'just a text', { name: 'NonError', message: 'just a text', data: null }],
    ['data', { code: 7 }, { name: 'NonError', data: { code: 7 } }],
  ])('that throws %s fails the activity with this value', async (_name, thrown, reported) => {
    const worker = new Worker({
      client,
      log: quiet,
      activities: {
        throws: () => {
          throw thrown as Error; // Some throw what is none.
        },
      },
    });
    const failures: unknown[] = [];
    worker.on('failed', ({ error }) => failures.push(error));
    await during(worker, async () => {
      const ended = await (await start('throws')).wait();
      expect(ended).toMatchObject({ status: 'Terminated', lastError: { data: reported } });
    });
    expect(failures).toEqual([thrown]);
  });

  it('whose result is not JSON or is too large fails the activity', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const worker = new Worker({
      client,
      log: quiet,
      activities: { circular: () => circular, large: () => 'x'.repeat(3_000_000) },
    });
    await during(worker, async () => {
      for (const name of ['circular', 'large']) {
        const ended = await (await start(name)).wait();
        expect(ended.lastError?.data).toMatchObject({ name: 'InvalidResult' });
      }
    });
    expect(worker.stats()).toMatchObject({ failed: 2, succeeded: 0 });
  });

  it('whose failure is not JSON still fails the activity', async () => {
    const worker = new Worker({
      client,
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
      const ended = await (await start('unspeakable')).wait();
      expect(ended.lastError?.data).toEqual({
        name: 'ActivityFailure',
        message: 'cannot say',
        data: null,
      });
    });
  });

  it('that throws a non-retryable ActivityFailure is not retried', async () => {
    const attempts: number[] = [];
    const worker = new Worker({
      client,
      log: quiet,
      activities: {
        hopeless: (_parameters, { attempt }) => {
          attempts.push(attempt);
          throw new ActivityFailure('no such card', { retryable: false });
        },
      },
    });
    await during(worker, async () => {
      const [id = ''] = await startWork(client, 'hopeless', 1, 'work');
      await eventually('the workflow is suspended', async () => {
        const { status, lastError } = await client.workflows.get(id);
        return status === 'Suspended' && lastError?.message === 'no such card';
      });
    });
    expect(attempts).toEqual([1]);
  });

  it('gets the same idempotency key in all attempts of an execution, and another key in the next execution', async () => {
    const seen: { key: string; executionId: number; attempt: number }[] = [];
    const worker = new Worker({
      client,
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
      for (const id of await startWork(client, 'keyed', 2, 'work')) await client.workflows.wait(id);
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
      client,
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
      const ended = await (await start('third-time', {}, 'work')).wait();
      expect(ended.data.result).toBe('done');
    });
    expect(attempts).toEqual([1, 2, 3]);
  });
});

describe('schemas', () => {
  it('validate the parameters before the handler runs, and pass it their output', async () => {
    const seen: unknown[] = [];
    const worker = new Worker({
      client,
      log: quiet,
      activities: {
        dated: {
          parameters: z.object({ on: z.coerce.date() }),
          handler: (parameters) => void seen.push(parameters),
        },
      },
    });
    await during(worker, async () => {
      expect((await (await start('dated', { on: '2026-01-02' })).wait()).status).toBe('Complete');
      const refused = await (await start('dated', { on: 'never' })).wait();
      expect(refused.lastError?.data).toMatchObject({
        name: 'InvalidDataError',
        data: [{ path: 'on', message: expect.any(String) as string }],
      });
    });
    expect(seen).toEqual([{ on: new Date('2026-01-02') }]);
  });

  it('of declared activities apply to parameters and results in every worker of the client', async () => {
    const declared = defineActivities({
      double: { parameters: z.object({ n: z.number() }), result: z.object({ n: z.number() }) },
      plain: activity<{ n: number }, number>(),
    });
    const typed = createClient({ baseUrl: server.url, activities: declared });
    const worker = new Worker({
      client: typed,
      log: quiet,
      activities: { double: ({ n }) => ({ n: n === 13 ? NaN : n * 2 }), plain: ({ n }) => n + 1 },
    });
    await during(worker, async () => {
      expect((await (await start('double', { n: 4 })).wait()).data.result).toEqual({ n: 8 });
      expect((await (await start('plain', { n: 4 })).wait()).data.result).toBe(5);
      const wrong = await (await start('double', { n: 'four' })).wait();
      expect(wrong.lastError?.data).toMatchObject({
        message: expect.stringMatching(/parameters/) as string,
      });
      const wrongResult = await (await start('double', { n: 13 })).wait();
      expect(wrongResult.lastError?.data).toMatchObject({
        message: expect.stringMatching(/result/) as string,
      });
    });
  });
});

describe('middleware', () => {
  it('wraps the handler, the first one outermost, and may change the result', async () => {
    const order: string[] = [];
    const worker = new Worker({ client, activities: { wrapped: () => order.push('handler') } })
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
      expect((await (await start('wrapped', [1])).wait()).data.result).toEqual({ wrapped: 3 });
    });
    expect(order).toEqual(['first wrapped', 'second [1]', 'handler', 'first after']);
  });
});

describe('listeners', () => {
  it('that throw do not affect the worker or other listeners', async () => {
    const { lines, log } = keptLog();
    const worker = new Worker({ client, log, activities: { heard: () => 1 } });
    worker.on('received', () => {
      throw new Error('a bad listener');
    });
    const names: string[] = [];
    for (const name of ['started', 'received', 'succeeded', 'stopping', 'stopped'] as const) {
      worker.on(name, () => names.push(name));
    }
    await during(worker, async () => {
      expect((await (await start('heard')).wait()).status).toBe('Complete');
      await eventually('the report is in', () => worker.stats().succeeded === 1);
    });
    expect(names).toEqual(['started', 'received', 'succeeded', 'stopping', 'stopped']);
    expect(lines.map(({ message }) => message)).toContain('a listener failed');
  });
});

describe('concurrency', () => {
  it('limits all work and the work of one activity, and polls only for free slots', async () => {
    const running = { all: 0, one: 0, allMax: 0, oneMax: 0, slotsMax: 0 };
    // The first ones wait for the others: on a slow machine they would have ended before those came.
    const [allThere, bothThere] = [Promise.withResolvers(), Promise.withResolvers()];
    const work = async (): Promise<void> => {
      running.all += 1;
      running.allMax = Math.max(running.allMax, running.all);
      if (running.all === 5) allThere.resolve(null);
      const { running: handlers, polling } = worker.stats();
      running.slotsMax = Math.max(running.slotsMax, handlers + polling);
      await allThere.promise;
      await new Promise((resolve) => setTimeout(resolve, 20));
      running.all -= 1;
    };
    const worker = new Worker({
      client,
      concurrency: 5,
      activities: {
        many: work,
        few: {
          concurrency: 2,
          handler: async () => {
            running.one += 1;
            running.oneMax = Math.max(running.oneMax, running.one);
            if (running.one === 2) bothThere.resolve(null);
            await Promise.all([work(), bothThere.promise]);
            running.one -= 1;
          },
        },
      },
    });
    const ids = [...(await startWork(client, 'many', 30)), ...(await startWork(client, 'few', 20))];
    await during(worker, async () => {
      await Promise.all(ids.map((id) => client.workflows.wait(id)));
    });
    expect(running).toMatchObject({ allMax: 5, oneMax: 2, slotsMax: 5 });
  });

  it('that one busy activity has used up soon becomes available to the others', async () => {
    const worker = new Worker({
      client,
      concurrency: 4,
      activities: {
        busy: () => 1,
        held: () => new Promise<undefined>(() => undefined),
      },
    });
    await during(worker, async () => {
      const ids = await startWork(client, 'busy', 40);
      await Promise.all(ids.map((id) => client.workflows.wait(id)));
      // Polls for more busy work wait in the slots that two held ones need.
      await start('held');
      await start('held');
      const began = performance.now();
      await eventually('both are held', () => worker.stats().running === 2);
      expect(performance.now() - began).toBeLessThan(10_000);
    });
  });

  it('of 1 still serves every activity', async () => {
    const seen: string[] = [];
    const names = ['turn-a', 'turn-b', 'turn-c'];
    const worker = new Worker({
      client,
      concurrency: 1,
      activities: Object.fromEntries(names.map((name) => [name, () => void seen.push(name)])),
    });
    await during(worker, async () => {
      for (const name of [...names].reverse()) {
        expect((await (await start(name)).wait({ timeoutMs: 10_000 })).status).toBe('Complete');
      }
    });
    expect(seen).toEqual([...names].reverse());
  });

  it('is used for only one poll per activity while the worker is idle', async () => {
    const { calls, fetch } = countingFetch();
    const worker = new Worker({
      client: createClient({ baseUrl: server.url, fetch }),
      concurrency: 100,
      activities: { 'idle-a': () => 1, 'idle-b': () => 2 },
    });
    await during(worker, async () => {
      await eventually('both polls wait', () => worker.stats().polling === 2);
      // Nothing but a clock tells that no third one comes.
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(calls.sort()).toEqual(['GET /api/activity/idle-a', 'GET /api/activity/idle-b']);
    });
  });
});

describe('leases', () => {
  it('are extended by heartbeats as long as the handler runs', async () => {
    let runs = 0;
    const { calls, fetch } = countingFetch();
    const worker = new Worker({
      client: createClient({ baseUrl: server.url, fetch }),
      leaseSeconds: 1,
      activities: {
        slow: async (_parameters, { signal }) => {
          runs += 1;
          await new Promise((resolve) => setTimeout(resolve, 2500));
          return signal.aborted;
        },
      },
    });
    await during(worker, async () => {
      expect((await (await start('slow')).wait()).data.result).toBe(false);
    });
    expect(runs).toBe(1);
    expect(calls.filter((call) => call.startsWith('PUT')).length).toBeGreaterThanOrEqual(6);
  });

  it('that are lost abort the signal, and the late result is dropped', async () => {
    const reasons: unknown[] = [];
    const worker = new Worker({
      client,
      leaseSeconds: 1,
      log: quiet,
      activities: {
        taken: (_parameters, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              reasons.push(signal.reason);
              resolve('too late');
            });
          }),
      },
    });
    await during(worker, async () => {
      const handle = await start('taken');
      await eventually('the handler runs', () => worker.stats().running === 1);
      await handle.terminate();
      await eventually('the result is dropped', () => worker.stats().dropped === 1);
    });
    expect(reasons).toMatchObject([{ name: 'LeaseLostError', activityName: 'taken' }]);
    expect(reasons[0]).toBeInstanceOf(LeaseLostError);
    expect(worker.stats()).toMatchObject({ succeeded: 0, failed: 0, dropped: 1 });
  });

  it('that are lost do not fail the activity when the handler stops because of it', async () => {
    let runs = 0;
    const worker = new Worker({
      client,
      leaseSeconds: 1,
      log: quiet,
      activities: {
        obedient: (_parameters, { signal }) => {
          runs += 1;
          if (runs > 1) return 'second time';
          // Nothing is sent while the loop is blocked, so that the lease ends.
          const until = performance.now() + 1500;
          while (performance.now() < until);
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          });
        },
      },
    });
    await during(worker, async () => {
      const ended = await (await start('obedient')).wait({ timeoutMs: 10_000 });
      expect(ended).toMatchObject({ status: 'Complete', data: { result: 'second time' } });
      await eventually('both ends are counted', () => worker.stats().succeeded === 1);
    });
    expect(worker.stats()).toMatchObject({ received: 2, succeeded: 1, dropped: 1, failed: 0 });
  });

  it('can be extended by the handler', async () => {
    const { calls, fetch } = countingFetch();
    const worker = new Worker({
      client: createClient({ baseUrl: server.url, fetch }),
      activities: { own: (_parameters, { heartbeat }) => heartbeat() },
    });
    await during(worker, async () => {
      expect((await (await start('own')).wait()).status).toBe('Complete');
    });
    expect(calls.filter((call) => call.startsWith('PUT'))).toHaveLength(1);
  });
});

describe('worker.stop', () => {
  it('lets handlers finish within the grace period', async () => {
    const release = Promise.withResolvers<string>();
    const worker = new Worker({ client, activities: { 'ends-in-time': () => release.promise } });
    const running = worker.run();
    const handle = await start('ends-in-time');
    await eventually('the handler runs', () => worker.stats().running === 1);
    const stopping = worker.stop({ graceMs: 20_000 });
    release.resolve('in time');
    await stopping;
    await running;
    expect((await handle.wait()).data.result).toBe('in time');
    expect(worker.stats()).toMatchObject({ succeeded: 1, released: 0, running: 0, polling: 0 });
  });

  it('releases unfinished work, so that another worker gets it immediately', async () => {
    const reasons: unknown[] = [];
    const listens = (signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason);
          reject(signal.reason as Error);
        });
      });
    const stopped = new Worker({
      client,
      leaseSeconds: 600,
      activities: {
        listens: (_parameters, { signal }) => listens(signal),
        deaf: () => new Promise(() => undefined),
      },
    });
    const running = stopped.run();
    const handles = [await start('listens'), await start('deaf')];
    await eventually('both handlers run', () => stopped.stats().running === 2);
    const began = performance.now();
    await stopped.stop({ graceMs: 50 });
    await running;
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(reasons[0]).toBeInstanceOf(WorkerStoppedError);
    expect(stopped.stats()).toMatchObject({ released: 2, failed: 0, dropped: 0 });
    const next = new Worker({ client, activities: { listens: () => 'b', deaf: () => 'b' } });
    await during(next, async () => {
      for (const handle of handles) {
        expect((await handle.wait({ timeoutMs: 5000 })).data.result).toBe('b');
      }
    });
  });

  it('leaves no work under the lease of the stopped worker, even during a burst', async () => {
    const ids = await startWork(client, 'burst', 60);
    const first = new Worker({
      client,
      concurrency: 16,
      leaseSeconds: 600,
      activities: { burst: () => 'first' },
    });
    const running = first.run();
    await eventually('it is in the middle', () => first.stats().succeeded >= 10);
    await first.stop();
    await running;
    const { received, succeeded, failed, dropped } = first.stats();
    expect({ failed, dropped, received }).toEqual({ failed: 0, dropped: 0, received: succeeded });
    const second = new Worker({ client, concurrency: 16, activities: { burst: () => 'second' } });
    await during(second, async () => {
      const ended = await Promise.all(
        ids.map((id) => client.workflows.wait(id, { timeoutMs: 15_000 })),
      );
      expect(ended.every(({ status }) => status === 'Complete')).toBe(true);
    });
    expect(second.stats().succeeded).toBe(60 - succeeded);
  });

  it('works before run, when called twice, and through the signal of run', async () => {
    const make = (): Worker => new Worker({ client, activities: { never: () => 1 } });
    const first = make();
    await Promise.all([first.stop(), first.stop()]);
    await expect(first.run()).rejects.toThrow(/once/);
    const second = make();
    const controller = new AbortController();
    const running = second.run({ signal: controller.signal });
    await eventually('it polls', () => second.stats().polling === 1);
    controller.abort();
    await running;
    expect(second.stats()).toMatchObject({ polling: 0, running: 0 });
    await make().run({ signal: AbortSignal.abort() });
  });
});

describe('worker options', () => {
  it.each([
    ['no activities', { activities: {} }],
    ['an invalid handler', { activities: { wrong: 'text' } }],
    ['no slots', { concurrency: 0, activities: { fine: String } }],
    ['a lease of half a second', { leaseSeconds: 0.5, activities: { fine: String } }],
  ])('with %s are rejected', (_name, options) => {
    expect(() => new Worker({ client, ...options } as never)).toThrow();
  });
});

describe('a worker', () => {
  it('polls with growing pauses for an activity that the server rejects, and normally for the others', async () => {
    const refused: number[] = [];
    const { calls, fetch } = countingFetch();
    const forbidden = 'x'.repeat(5000);
    const worker = new Worker({
      client: createClient({ baseUrl: server.url, fetch }),
      log: quiet,
      activities: { [forbidden]: () => 1, allowed: () => 'done' },
    });
    worker.on('refused', ({ retryInMs }) => refused.push(retryInMs));
    worker.on('disconnected', ({ error }) => {
      throw error;
    });
    await during(worker, async () => {
      for (let count = 0; count < 5; count += 1) {
        expect((await (await start('allowed')).wait()).data.result).toBe('done');
      }
      await eventually('it was refused four times', () => refused.length >= 4);
    });
    expect(refused[3]).toBeGreaterThan(350);
    expect(calls.filter((call) => call.includes(forbidden)).length).toBeLessThan(8);
  });

  it('reports a failure if the server repeatedly fails to process a result', async () => {
    const item = {
      token: 't',
      activityName: 'odd',
      parameters: null,
      workflowId: 'w',
      stepId: 's',
    };
    const stumbling = await HttpAnswers.start(
      json(200, { ...item, attempt: 1, tokenExpiry: '' }),
      ...Array.from({ length: 3 }, () => problem(500, 'internal')),
      (_request, response) => void response.writeHead(202).end(),
      problem(404, 'no_work'),
    );
    const worker = new Worker({
      baseUrl: stumbling.url,
      concurrency: 1,
      log: quiet,
      activities: { odd: () => 'odd' },
    });
    await during(worker, async () => {
      await eventually('it gave up', () => worker.stats().failed === 1);
    });
    expect(stumbling.seen.slice(1, 5).map(({ path }) => path)).toEqual([
      ...Array.from({ length: 3 }, () => '/api/activity/success/t'),
      '/api/activity/fail/t',
    ]);
    expect(stumbling.seen[4]!.body).toContain('InvalidResult');
    await stumbling.close();
  });
});
