/** Work for external workers: several of them, lost ones, failing ones. */
import { Worker } from '@stepwright/worker-sdk';
import { expect } from 'vitest';
import { activity, assign, reached, run } from '../environment/steps.js';
import { scenarios, type TestEnvironment } from '../environment/test-environment.js';

const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {
  // The log of the workers is irrelevant here.
}

/** Runs a worker during the scenario. */
async function withWorker<Result>(
  environment: TestEnvironment,
  activities: Record<string, (parameters: never) => Promise<unknown>>,
  scenario: () => Promise<Result>,
): Promise<Result> {
  const worker = new Worker({
    baseUrl: 'http://any-node.invalid',
    fetch: (request: Request) => environment.fetch(request),
    activities,
    leaseSeconds: 2,
    log: SILENT,
  } as never);
  const running = worker.run();
  try {
    return await scenario();
  } finally {
    await worker.stop();
    await running;
  }
}

scenarios('an activity', {
  'is done by a worker, with parameters and result': async (environment) => {
    const name = environment.unique('work');
    const handle = await run(environment, [activity('result', name)]);
    await reached(handle, 'result');
    await environment.checkpoint();
    const { data } = await withWorker(
      environment,
      { [name]: async ({ from }: { from: string }) => ({ seen: from }) },
      () => handle.wait({ timeoutMs: 30_000 }),
    );
    expect(data).toEqual({ result: { seen: handle.id } });
  },

  'is done once, by whichever worker is free': async (environment) => {
    const name = environment.unique('many');
    const done: string[] = [];
    const work = async ({ from }: { from: string }): Promise<number> => done.push(from);
    const handles = await Promise.all(
      Array.from({ length: 20 }, () => run(environment, [activity('n', name)])),
    );
    await environment.checkpoint();
    await withWorker(environment, { [name]: work }, () =>
      withWorker(environment, { [name]: work }, () =>
        Promise.all(handles.map((handle) => handle.wait({ timeoutMs: 60_000 }))),
      ),
    );
    expect(done.sort()).toEqual(handles.map(({ id }) => id).sort());
  },

  'goes to another worker if one is lost': async (environment) => {
    const { activities } = environment.client;
    const name = environment.unique('lost');
    const handle = await run(environment, [activity('result', name)]);
    const lost = await activities.pull(name, { waitSeconds: 5, leaseSeconds: 1, workerId: 'lost' });
    expect(lost?.workflowId).toBe(handle.id);
    await environment.checkpoint();
    const next = await activities.pull(name, { waitSeconds: 20, workerId: 'next' });
    if (lost === null || next === null) throw new Error('expected two work items');
    await expect(activities.succeed(lost, 'late')).rejects.toMatchObject({
      code: 'activity_not_found',
    });
    await activities.succeed(next, 'done');
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({ result: 'done' });
  },

  'fails with the error of the worker, and is offered again': async (environment) => {
    const { activities } = environment.client;
    const name = environment.unique('failing');
    const handle = await run(environment, [activity('result', name, { RetryInterval: 0.5 })]);
    const first = await activities.pull(name, { waitSeconds: 10 });
    if (first === null) throw new Error('expected a work item');
    await activities.fail(first, { message: 'out of paper', tray: 2 });
    await environment.checkpoint();
    const second = await activities.pull(name, { waitSeconds: 20 });
    if (second === null) throw new Error('expected the work item to be offered again');
    expect(second.attempt).toBe(2);
    const { lastError } = await handle.get();
    expect(lastError).toMatchObject({ message: 'out of paper', data: { tray: 2 }, attempt: 1 });
    await activities.succeed(second, 'ok');
    expect(await handle.wait({ timeoutMs: 30_000 })).toMatchObject({
      data: { result: 'ok' },
      lastError: null,
    });
  },

  'returns to the queue when it is released': async (environment) => {
    const { activities } = environment.client;
    const name = environment.unique('released');
    const handle = await run(environment, [
      activity('result', name, { NextStepId: 'after' }),
      assign('after', { after: true }),
    ]);
    const first = await activities.pull(name, { waitSeconds: 10 });
    if (first === null) throw new Error('expected a work item');
    await environment.checkpoint();
    await activities.release(first);
    const second = await activities.pull(name, { waitSeconds: 20 });
    if (second === null) throw new Error('expected the work item to be available again');
    await activities.succeed(second, 1);
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({ result: 1, after: true });
  },
});
