/**
 * Workers in production: the server is down at the start, the connection breaks during work, the worker is stopped or
 * killed while it holds work, and much work arrives at once. Real server, real processes, real network.
 */
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../sdk/test/support/eventually.js';
import { HttpAnswers, problem } from '../../sdk/test/support/http-answers.js';
import type { ServerProcess } from '../../sdk/test/support/server-process.js';
import { TcpProxy } from '../../sdk/test/support/tcp-proxy.js';
import { Worker } from '../src/index.js';
import { countingFetch, keptLog, startWork, startWorkServer, type Work } from './support/work.js';
import { WorkerProcess } from './support/worker-process.js';

let server: ServerProcess;
let client: StepwrightClient;
const quiet = keptLog().log;

beforeAll(async () => {
  ({ server, client } = await startWorkServer());
});
afterAll(async () => {
  await server.remove();
});

describe('a worker whose server is unavailable', () => {
  it('waits for it, with one poll at a time after growing pauses', async () => {
    const handle = await client.workflows.start<Work>('work', {
      activity: 'early',
      parameters: null,
    });
    await server.stop();
    const { calls, fetch } = countingFetch();
    const worker = new Worker({
      client: createClient({ baseUrl: server.url, fetch }),
      log: quiet,
      activities: { early: () => 'served', 'early-too': () => 1, 'early-three': () => 1 },
    });
    const pausesMs: number[] = [];
    worker.on('disconnected', ({ retryInMs }) => pausesMs.push(retryInMs));
    const running = worker.run();
    await eventually('it has tried five times', () => pausesMs.length >= 5);
    // Three polls at the start, and one from then on.
    expect(calls.length).toBeLessThanOrEqual(pausesMs.length + 2);
    for (const [index, pauseMs] of pausesMs.entries()) {
      expect(pauseMs).toBeGreaterThanOrEqual(50 * 2 ** index);
      expect(pauseMs).toBeLessThanOrEqual(100 * 2 ** index);
    }
    await server.start();
    expect((await handle.wait({ timeoutMs: 40_000 })).data.result).toBe('served');
    await worker.stop();
    await running;
  });

  it('waits as long as Retry-After says', async () => {
    const busy = await HttpAnswers.start(
      problem(503, 'overloaded', { 'retry-after': '1' }),
      problem(404, 'no_work'),
    );
    const worker = new Worker({ baseUrl: busy.url, log: quiet, activities: { polite: () => 1 } });
    const running = worker.run();
    await eventually('it has asked again', () => busy.seen.length >= 2);
    expect(busy.seen[1]!.atMs - busy.seen[0]!.atMs).toBeGreaterThanOrEqual(990);
    await worker.stop();
    await running;
    await busy.close();
  });

  it('pauses before the next poll if the server responded without waiting', async () => {
    const hasty = await HttpAnswers.start(problem(404, 'no_work'));
    const worker = new Worker({ baseUrl: hasty.url, log: quiet, activities: { hasty: () => 1 } });
    const running = worker.run();
    await eventually('it has polled ten times', () => hasty.seen.length >= 10);
    expect(hasty.seen[9]!.atMs - hasty.seen[0]!.atMs).toBeGreaterThan(9 * 45);
    await worker.stop();
    await running;
    await hasty.close();
  });
});

describe('a worker that loses its connection during work', () => {
  it('loses no result, and reports it once the server is available again', async () => {
    const proxy = await TcpProxy.start(server.url);
    const done = Promise.withResolvers<undefined>();
    let runs = 0;
    const worker = new Worker({
      baseUrl: proxy.url,
      log: quiet,
      leaseSeconds: 30,
      activities: {
        cut: async () => {
          runs += 1;
          await done.promise;
          return 'survived';
        },
      },
    });
    const events: string[] = [];
    worker.on('disconnected', () => events.push('disconnected'));
    worker.on('connected', () => events.push('connected'));
    const running = worker.run();
    const handle = await client.workflows.start<Work>('work', {
      activity: 'cut',
      parameters: null,
    });
    await eventually('the handler runs', () => worker.stats().running === 1);
    proxy.down();
    done.resolve(undefined);
    await eventually('the worker has noticed', () => events.includes('disconnected'));
    expect((await handle.get()).status).toBe('Runnable');
    proxy.up();
    expect((await handle.wait({ timeoutMs: 40_000 })).data.result).toBe('survived');
    await eventually('it is connected again', () => events.at(-1) === 'connected');
    expect(runs).toBe(1);
    await eventually('the report was answered', () => worker.stats().succeeded === 1);
    expect(worker.stats()).toMatchObject({ received: 1, dropped: 0 });
    await worker.stop();
    await running;
    await proxy.close();
  });

  it('aborts the signal of the handler when the outage outlasts the lease', async () => {
    const proxy = await TcpProxy.start(server.url);
    const worker = new Worker({
      baseUrl: proxy.url,
      log: quiet,
      leaseSeconds: 1,
      activities: {
        'cut-off': (_parameters, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve((signal.reason as Error).name));
          }),
      },
    });
    let firedAfterMs = 0;
    const handle = await client.workflows.start<Work>('work', {
      activity: 'cut-off',
      parameters: null,
    });
    const running = worker.run();
    await eventually('the handler runs', () => worker.stats().running === 1);
    const began = performance.now();
    worker.on('leaseLost', () => (firedAfterMs = performance.now() - began));
    proxy.down();
    await eventually('the lease is lost', () => firedAfterMs > 0);
    expect(firedAfterMs).toBeLessThan(15_000);
    // No other worker claimed the work item, so the server still accepts the result.
    proxy.up();
    expect((await handle.wait({ timeoutMs: 40_000 })).data.result).toBe('LeaseLostError');
    await worker.stop();
    await running;
    await proxy.close();
  });

  it('reports its result after a restart of the server', async () => {
    const done = Promise.withResolvers<undefined>();
    const worker = new Worker({
      client,
      log: quiet,
      activities: { restarted: () => done.promise.then(() => 'after') },
    });
    const running = worker.run();
    const handle = await client.workflows.start<Work>('work', {
      activity: 'restarted',
      parameters: null,
    });
    await eventually('the handler runs', () => worker.stats().running === 1);
    await server.kill();
    done.resolve(undefined);
    await server.start();
    expect((await handle.wait({ timeoutMs: 40_000 })).data.result).toBe('after');
    await worker.stop();
    await running;
  });
});

describe('a worker process that holds work', () => {
  it('releases everything on SIGTERM and exits, and another worker claims it immediately', async () => {
    const process = new WorkerProcess(server.url, { concurrency: 8, leaseSeconds: 600 });
    const ids = await startWork(client, 'held', 8);
    await process.holds(8);
    expect(await process.end('SIGTERM')).toBe(0);
    const worker = new Worker({ client, log: quiet, activities: { held: () => 'by another' } });
    const running = worker.run();
    const ended = await Promise.all(
      ids.map((id) => client.workflows.wait<Work>(id, { timeoutMs: 40_000 })),
    );
    expect(ended.every(({ data }) => data.result === 'by another')).toBe(true);
    await worker.stop();
    await running;
  });

  it('loses nothing when it is killed: another worker soon has done each work item once', async () => {
    const count = 50;
    const process = new WorkerProcess(server.url, { concurrency: count, leaseSeconds: 2 });
    const ids = await startWork(client, 'held', count);
    await process.holds(count);
    expect(new Set(process.held)).toEqual(new Set(ids));
    const done: string[] = [];
    const worker = new Worker({
      client,
      log: quiet,
      concurrency: count,
      leaseSeconds: 2,
      activities: { held: (_parameters, { workflowId }) => done.push(workflowId) },
    });
    const running = worker.run();
    const killedAt = performance.now();
    await process.end('SIGKILL');
    await Promise.all(ids.map((id) => client.workflows.wait(id, { timeoutMs: 40_000 })));
    const tookMs = performance.now() - killedAt;
    console.info(`50 items of a killed worker were done ${Math.round(tookMs)} ms after the kill`);
    expect(tookMs).toBeLessThan(15_000);
    expect(done.sort()).toEqual([...ids].sort());
    await worker.stop();
    await running;
    expect(worker.stats()).toMatchObject({ succeeded: count, dropped: 0, failed: 0 });
  });
});

describe('each of a thousand activities', () => {
  it('is done once, with little more than two calls per work item', async () => {
    const count = 1000;
    const ids = await startWork(client, 'bulk', count);
    const { calls, fetch } = countingFetch();
    const done = new Map<string, number>();
    const worker = new Worker({
      client: createClient({ baseUrl: server.url, fetch }),
      log: quiet,
      concurrency: 32,
      activities: {
        bulk: (_parameters, { workflowId }) => {
          done.set(workflowId, (done.get(workflowId) ?? 0) + 1);
        },
      },
    });
    const began = performance.now();
    const running = worker.run();
    await eventually('all are done', () => worker.stats().succeeded === count, 60_000);
    const tookMs = performance.now() - began;
    // Remaining polls count too.
    await worker.stop();
    await running;
    const each = calls.length / count;
    console.info(`1000 activities: ${each} calls each, ${Math.round((count / tookMs) * 1000)}/s`);
    expect(each).toBeLessThanOrEqual(2.2);
    expect(done.size).toBe(count);
    expect([...done.values()].every((times) => times === 1)).toBe(true);
    for (const id of ids) expect((await client.workflows.get(id)).status).toBe('Complete');
  }, 120_000);
});
