/** Workers whose run is being undone, with a scripted server, and with a real one whose store withdraws the work. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../sdk/test/support/eventually.js';
import { HttpAnswers, json, problem, type Answer } from '../../sdk/test/support/http-answers.js';
import { ServerProcess } from '../../sdk/test/support/server-process.js';
import { ActivityFailure, LeaseLostError, WorkCancelledError, Worker } from '../src/index.js';
import type { ActivityContext, WorkerEvents } from '../src/index.js';
import { Lease } from '../src/lease.js';
import { during } from './support/worker-tests.js';
import { keptLog } from './support/work.js';

const ITEM = {
  token: 't-1',
  activityName: 'charge',
  parameters: null,
  tokenExpiry: '2030-01-01T00:00:00.000Z',
  workflowId: 'w1',
  stepId: 's1',
  executionId: 7,
  idempotencyKey: 'w1/7',
  attempt: 1,
};
const CANCELED = problem(404, 'work_cancelled');
const accepted: Answer = (_request, response) => response.writeHead(202).end();
const beat = (cancelRequested: boolean): Answer =>
  json(200, { tokenExpiry: ITEM.tokenExpiry, cancelRequested });

/** Gives out one item. */
async function startServer(answers: { readonly heartbeat: Answer; readonly report?: Answer }) {
  let polls = 0;
  const answerOf = ({ method, url = '' }: IncomingMessage): Answer => {
    if (method === 'GET') return (polls += 1) === 1 ? json(200, ITEM) : problem(404, 'no_work');
    return url.includes('/heartbeat') ? answers.heartbeat : (answers.report ?? accepted);
  };
  return HttpAnswers.start((request, response) => answerOf(request)(request, response));
}

type Handler = (parameters: unknown, context: ActivityContext) => unknown;

/** Runs the handler until its work has ended, and returns what the server and the listeners have seen. */
async function runOnce(
  answers: Parameters<typeof startServer>[0],
  handler: Handler,
): Promise<{
  readonly calls: readonly string[];
  readonly events: readonly (readonly [name: string, payload: object])[];
  readonly lines: ReturnType<typeof keptLog>['lines'];
}> {
  const server = await startServer(answers);
  const { lines, log } = keptLog();
  const worker = new Worker({
    baseUrl: server.url,
    leaseSeconds: 1,
    log,
    activities: { charge: handler },
  });
  const events: [string, object][] = [];
  for (const name of ['cancelled', 'leaseLost', ...ENDS] as const) {
    worker.on(name, (payload) => void events.push([name, payload]));
  }
  const hasEnded = (): boolean => ENDS.some((end) => events.some(([name]) => name === end));
  await during(worker, () => eventually('the work has ended', hasEnded));
  await server.close();
  const calls = server.seen
    .filter(({ method, path }) => method !== 'GET' && !path.includes('/heartbeat'))
    .map(({ method, path }) => `${method} ${path.split('?')[0]!}`);
  return { calls, events, lines };
}

const ENDS = [
  'succeeded',
  'failed',
  'dropped',
  'released',
] as const satisfies (keyof WorkerEvents)[];

const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true }),
  );

describe('work whose run is being undone', () => {
  it('aborts the signal with a reason of its own, and reports the result', async () => {
    let reason: unknown;
    const { calls, events } = await runOnce({ heartbeat: beat(true) }, async (_, { signal }) => {
      reason = await untilAborted(signal);
      return 'charged';
    });
    expect(reason).toBeInstanceOf(WorkCancelledError);
    expect(reason).not.toBeInstanceOf(LeaseLostError);
    expect(reason).toMatchObject({
      name: 'WorkCancelledError',
      activityName: 'charge',
      workflowId: 'w1',
    });
    expect(calls).toEqual(['POST /api/activity/success/t-1']);
    expect(events.map(([name]) => name)).toEqual(['cancelled', 'succeeded']);
  });

  it('keeps its lease while the handler ends', async () => {
    let beats = 0;
    const heartbeat: Answer = (request, response) => {
      beats += 1;
      beat(true)(request, response);
    };
    const { calls } = await runOnce({ heartbeat }, async (_, { signal }) => {
      await untilAborted(signal);
      const before = beats;
      await eventually('further heartbeats come', () => beats > before + 3);
      return 'charged';
    });
    expect(calls).toEqual(['POST /api/activity/success/t-1']);
  });

  it.each<[string, (signal: AbortSignal) => unknown]>([
    ['the reason', ({ reason }) => reason as unknown],
    ['an AbortError', () => new DOMException('This operation was aborted', 'AbortError')],
    ['an error that hides the abort', () => new Error('the call failed', { cause: 'aborted' })],
  ])('is released if the handler throws %s', async (_what, errorOf) => {
    const { calls, events } = await runOnce({ heartbeat: beat(true) }, async (_, { signal }) => {
      await untilAborted(signal);
      throw errorOf(signal);
    });
    expect(calls).toEqual(['DELETE /api/activity/t-1']);
    expect(events.map(([name]) => name)).toEqual(['cancelled', 'released']);
  });

  it('fails if the handler throws an ActivityFailure', async () => {
    const { calls, events } = await runOnce({ heartbeat: beat(true) }, async (_, { signal }) => {
      await untilAborted(signal);
      throw new ActivityFailure('not charged');
    });
    expect(calls).toEqual(['POST /api/activity/fail/t-1']);
    expect(events.map(([name]) => name)).toEqual(['cancelled', 'failed']);
  });

  it('continues as before as long as heartbeats do not say so', async () => {
    const answers = { heartbeat: json(200, { tokenExpiry: ITEM.tokenExpiry }) };
    const { events } = await runOnce(answers, async (_, { heartbeat, signal }) => {
      await heartbeat();
      return signal.aborted;
    });
    expect(events.map(([name]) => name)).toEqual(['succeeded']);
  });
});

describe('work whose run was undone without it', () => {
  it('drops the result with this reason, and does not repeat the report', async () => {
    const { calls, events, lines } = await runOnce(
      { heartbeat: beat(false), report: CANCELED },
      () => 'charged',
    );
    expect(calls).toEqual(['POST /api/activity/success/t-1']);
    expect(events).toMatchObject([['dropped', { workflowId: 'w1', reason: 'cancelled' }]]);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: 'the result came too late: the work was canceled',
      }),
    );
  });

  it('aborts the signal, and rejects a heartbeat of the handler', async () => {
    let reason: unknown;
    const { calls, events } = await runOnce(
      { heartbeat: CANCELED, report: CANCELED },
      async (_, { heartbeat, signal }) => {
        await expect(heartbeat()).rejects.toBeInstanceOf(WorkCancelledError);
        reason = signal.reason;
        throw reason;
      },
    );
    expect(reason).toBeInstanceOf(WorkCancelledError);
    expect(calls).toEqual(['DELETE /api/activity/t-1']);
    expect(events.map(([name]) => name)).toEqual(['cancelled', 'released']);
  });
});

describe('a long lease', () => {
  afterEach(() => vi.useRealTimers());

  it('is still extended every ten seconds, so that a cancellation is noticed', async () => {
    vi.useFakeTimers();
    let beats = 0;
    const answers = { tokenExpiry: '', cancelRequested: false };
    const activities = { heartbeat: () => ((beats += 1), Promise.resolve(answers)) };
    const ignore = (): void => undefined;
    const lease = new Lease({
      // The lease uses nothing else of a client.
      client: { activities } as unknown as StepwrightClient,
      item: ITEM,
      leaseSeconds: 3600,
      onLost: ignore,
      onCanceled: ignore,
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(beats).toBeGreaterThanOrEqual(6);
    answers.cancelRequested = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(lease.signal.reason).toBeInstanceOf(WorkCancelledError);
    lease.end();
  });
});

const PAY = `
id: pay
steps:
  - id: charge
    stepType: Activity
    inputs: { ActivityName: '"charge"' }
    outputs: { receipt: step.Result }
`;

describe('a real server', () => {
  it('tells a worker that its work was withdrawn, and takes its result', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stepwright-cancelled-'));
    const server = await ServerProcess.start({ environment: { DATA_DIR: folder } });
    const client = createClient({ baseUrl: server.url });
    await client.definitions.register(PAY);
    let reason: unknown;
    const worker = new Worker({
      client,
      leaseSeconds: 1,
      log: keptLog().log,
      activities: {
        charge: async (_parameters, { signal }) => {
          withdrawAll(join(folder, 'stepwright.db'));
          reason = await untilAborted(signal);
          return 'r-1';
        },
      },
    });
    await during(worker, async () => {
      const run = await client.workflows.start<{ receipt?: string }>('pay', {});
      await eventually('the result was accepted', () => worker.stats().succeeded === 1);
      expect(reason).toBeInstanceOf(WorkCancelledError);
      expect((await run.wait()).data).toEqual({ receipt: 'r-1' });
    });
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });
});

/** As the server does when the run of the items is being undone. */
function withdrawAll(path: string): void {
  const database = new DatabaseSync(path, { timeout: 20_000 });
  database.exec('UPDATE activities SET settled = 1 WHERE done = 0');
  database.close();
}
