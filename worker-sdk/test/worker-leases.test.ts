/** Workers with a real server: concurrency, leases, stopping, and failing servers. */
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../sdk/test/support/eventually.js';
import { HttpAnswers, json, problem } from '../../sdk/test/support/http-answers.js';
import { createClient, LeaseLostError, Worker, WorkerStoppedError } from '../src/index.js';
import { countingFetch, startWork } from './support/work.js';
import { during, quiet, workServer } from './support/worker-tests.js';

const at = workServer();

describe('the concurrency of a worker', () => {
  it('limits all work and the work of one activity, and polls only for free slots', async () => {
    const running = { all: 0, one: 0, allMax: 0, oneMax: 0, slotsMax: 0 };
    // The first ones wait for the others: on a slow machine they would have ended before the others arrived.
    const [allThere, bothThere] = [Promise.withResolvers(), Promise.withResolvers()];
    const work = async (): Promise<void> => {
      running.all += 1;
      running.allMax = Math.max(running.allMax, running.all);
      if (running.all === 5) allThere.resolve(null);
      const { running: handlers, polling } = worker.stats();
      running.slotsMax = Math.max(running.slotsMax, handlers + polling);
      await allThere.promise;
      await setTimeout(20);
      running.all -= 1;
    };
    const worker = new Worker({
      client: at.client,
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
    const ids = [
      ...(await startWork(at.client, 'many', 30)),
      ...(await startWork(at.client, 'few', 20)),
    ];
    await during(worker, async () => {
      await Promise.all(ids.map((id) => at.client.workflows.wait(id)));
    });
    expect(running).toMatchObject({ allMax: 5, oneMax: 2, slotsMax: 5 });
  });

  it('becomes available to the others soon after one busy activity has used it up', async () => {
    const worker = new Worker({
      client: at.client,
      concurrency: 4,
      activities: {
        busy: () => 1,
        held: () => new Promise<undefined>(() => undefined),
      },
    });
    await during(worker, async () => {
      const ids = await startWork(at.client, 'busy', 40);
      await Promise.all(ids.map((id) => at.client.workflows.wait(id)));
      // Polls for more busy work wait in the slots that the two held items need.
      await at.start('held');
      await at.start('held');
      const began = performance.now();
      await eventually('both are held', () => worker.stats().running === 2);
      expect(performance.now() - began).toBeLessThan(10_000);
    });
  });

  it('serves every activity even if it is 1', async () => {
    const seen: string[] = [];
    const names = ['turn-a', 'turn-b', 'turn-c'];
    const worker = new Worker({
      client: at.client,
      concurrency: 1,
      activities: Object.fromEntries(names.map((name) => [name, () => void seen.push(name)])),
    });
    await during(worker, async () => {
      for (const name of [...names].reverse()) {
        expect((await (await at.start(name)).wait({ timeoutMs: 40_000 })).status).toBe('Complete');
      }
    });
    expect(seen).toEqual([...names].reverse());
  });

  it('is used for only one poll per activity while the worker is idle', async () => {
    const { calls, fetch } = countingFetch();
    const worker = new Worker({
      client: createClient({ baseUrl: at.server.url, fetch }),
      concurrency: 100,
      activities: { 'idle-a': () => 1, 'idle-b': () => 2 },
    });
    await during(worker, async () => {
      await eventually('both polls wait', () => worker.stats().polling === 2);
      // Only the clock shows that no third one arrives.
      await setTimeout(300);
      expect(calls.sort()).toEqual(['GET /api/activity/idle-a', 'GET /api/activity/idle-b']);
    });
  });
});

describe('a lease', () => {
  it('is extended by heartbeats as long as the handler runs', async () => {
    let runs = 0;
    const { calls, fetch } = countingFetch();
    const worker = new Worker({
      client: createClient({ baseUrl: at.server.url, fetch }),
      leaseSeconds: 1,
      activities: {
        slow: async (_parameters, { signal }) => {
          runs += 1;
          await setTimeout(2500);
          return signal.aborted;
        },
      },
    });
    await during(worker, async () => {
      expect((await (await at.start('slow')).wait()).data.result).toBe(false);
    });
    expect(runs).toBe(1);
    expect(calls.filter((call) => call.startsWith('PUT')).length).toBeGreaterThanOrEqual(6);
  });

  it('aborts the signal when it is lost, and the late result is dropped', async () => {
    const reasons: unknown[] = [];
    const worker = new Worker({
      client: at.client,
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
      const handle = await at.start('taken');
      await eventually('the handler runs', () => worker.stats().running === 1);
      await handle.terminate();
      await eventually('the result is dropped', () => worker.stats().dropped === 1);
    });
    expect(reasons).toMatchObject([{ name: 'LeaseLostError', activityName: 'taken' }]);
    expect(reasons[0]).toBeInstanceOf(LeaseLostError);
    expect(worker.stats()).toMatchObject({ succeeded: 0, failed: 0, dropped: 1 });
  });

  it('does not fail the activity when it is lost and the handler stops because of it', async () => {
    let runs = 0;
    const worker = new Worker({
      client: at.client,
      leaseSeconds: 1,
      log: quiet,
      activities: {
        obedient: (_parameters, { signal }) => {
          runs += 1;
          if (runs > 1) return 'second time';
          // Nothing is sent while the loop is blocked, so that the lease expires.
          const until = performance.now() + 1500;
          while (performance.now() < until);
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          });
        },
      },
    });
    await during(worker, async () => {
      const ended = await (await at.start('obedient')).wait({ timeoutMs: 40_000 });
      expect(ended).toMatchObject({ status: 'Complete', data: { result: 'second time' } });
      await eventually('both ends are counted', () => worker.stats().succeeded === 1);
    });
    expect(worker.stats()).toMatchObject({ received: 2, succeeded: 1, dropped: 1, failed: 0 });
  });

  it('is extended by the handler', async () => {
    const { calls, fetch } = countingFetch();
    const worker = new Worker({
      client: createClient({ baseUrl: at.server.url, fetch }),
      activities: { own: (_parameters, { heartbeat }) => heartbeat() },
    });
    await during(worker, async () => {
      expect((await (await at.start('own')).wait()).status).toBe('Complete');
    });
    expect(calls.filter((call) => call.startsWith('PUT'))).toHaveLength(1);
  });
});

describe('worker.stop', () => {
  it('lets handlers finish within the grace period', async () => {
    const release = Promise.withResolvers<string>();
    const worker = new Worker({
      client: at.client,
      activities: { 'ends-in-time': () => release.promise },
    });
    const running = worker.run();
    const handle = await at.start('ends-in-time');
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
      client: at.client,
      leaseSeconds: 600,
      activities: {
        listens: (_parameters, { signal }) => listens(signal),
        deaf: () => new Promise(() => undefined),
      },
    });
    const running = stopped.run();
    const handles = [await at.start('listens'), await at.start('deaf')];
    await eventually('both handlers run', () => stopped.stats().running === 2);
    const began = performance.now();
    await stopped.stop({ graceMs: 50 });
    await running;
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(reasons[0]).toBeInstanceOf(WorkerStoppedError);
    expect(stopped.stats()).toMatchObject({ released: 2, failed: 0, dropped: 0 });
    const next = new Worker({
      client: at.client,
      activities: { listens: () => 'b', deaf: () => 'b' },
    });
    await during(next, async () => {
      for (const handle of handles) {
        expect((await handle.wait({ timeoutMs: 40_000 })).data.result).toBe('b');
      }
    });
  });

  it('leaves no work under the lease of the stopped worker, even during a burst', async () => {
    const ids = await startWork(at.client, 'burst', 60);
    const first = new Worker({
      client: at.client,
      concurrency: 16,
      leaseSeconds: 600,
      activities: { burst: () => 'first' },
    });
    const running = first.run();
    await eventually('it is halfway through', () => first.stats().succeeded >= 10);
    await first.stop();
    await running;
    const { received, succeeded, failed, dropped } = first.stats();
    expect({ failed, dropped, received }).toEqual({ failed: 0, dropped: 0, received: succeeded });
    const second = new Worker({
      client: at.client,
      concurrency: 16,
      activities: { burst: () => 'second' },
    });
    await during(second, async () => {
      const ended = await Promise.all(
        ids.map((id) => at.client.workflows.wait(id, { timeoutMs: 40_000 })),
      );
      expect(ended.every(({ status }) => status === 'Complete')).toBe(true);
    });
    expect(second.stats().succeeded).toBe(60 - succeeded);
  });

  it('works before run, when called twice, and through the signal of run', async () => {
    const make = (): Worker => new Worker({ client: at.client, activities: { never: () => 1 } });
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

describe('the configuration of a worker', () => {
  it.each([
    ['no activities', { activities: {} }],
    ['an invalid handler', { activities: { wrong: 'text' } }],
    ['no slots', { concurrency: 0, activities: { fine: String } }],
    ['a lease of half a second', { leaseSeconds: 0.5, activities: { fine: String } }],
  ])('is rejected with %s', (_name, options) => {
    expect(() => new Worker({ client: at.client, ...options } as never)).toThrow();
  });
});

describe('a worker', () => {
  it('polls with growing pauses for an activity that the server rejects, and normally for the others', async () => {
    const refused: number[] = [];
    const { calls, fetch } = countingFetch();
    const forbidden = 'x'.repeat(5000);
    const worker = new Worker({
      client: createClient({ baseUrl: at.server.url, fetch }),
      log: quiet,
      activities: { [forbidden]: () => 1, allowed: () => 'done' },
    });
    worker.on('refused', ({ retryInMs }) => refused.push(retryInMs));
    worker.on('disconnected', ({ error }) => {
      throw error;
    });
    await during(worker, async () => {
      for (let count = 0; count < 5; count += 1) {
        expect((await (await at.start('allowed')).wait()).data.result).toBe('done');
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
