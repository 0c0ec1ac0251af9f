/** The worker of the test kit, with work that is withdrawn while a handler has it. */
import { describe, expect, it } from 'vitest';
import { readToken, systemIds } from '../../src/base/ids.js';
import type { WorkItem } from '../../src/runtime/activities/activity-types.js';
import type { Host } from '../../src/runtime/host.js';
import type { ActivityHandler } from '../../src/test-kit/activity-handlers.js';
import { Answers } from '../../src/test-kit/answers.js';
import { Quiescence } from '../../src/test-kit/quiescence.js';
import { TestWorker } from '../../src/test-kit/worker.js';
import { VirtualClock } from '../../src/test-kit/virtual-clock.js';
import { ActivityFailure } from '../../../worker-sdk/src/errors.js';

const { token } = systemIds.newToken('i/1/0', null);
const ITEM: WorkItem = {
  token,
  activityName: 'charge',
  parameters: null,
  storedLength: 4,
  tokenExpiresAt: null,
  workflowId: 'i',
  stepId: 's',
  executionId: 1,
  idempotencyKey: 'i/1',
  attempt: 1,
};

/** Runs a handler whose work is withdrawn while it waits, and returns the calls of the worker. */
async function runWithdrawn(handler: ActivityHandler): Promise<readonly unknown[]> {
  const calls: unknown[] = [];
  const items = [ITEM];
  const quiescence = new Quiescence();
  const activities: Partial<Host['activities']> = {
    pull: () => Promise.resolve(items.pop() ?? null),
    complete: async (_token, { data, succeeded }) => void calls.push({ succeeded, data }),
    release: async () => void calls.push('released'),
  };
  const worker = new TestWorker({
    // The worker uses nothing else of a host.
    host: { activities } as unknown as Host,
    handlers: { charge: handler },
    answers: new Answers({}),
    quiescence,
    clock: new VirtualClock(0),
    mustAnswer: false,
    signal: new AbortController().signal,
  });
  worker.offered('charge');
  await new Promise((resolve) => setImmediate(resolve));
  worker.withdrawn(['other/1/0', readToken(token)!.activityId]);
  await quiescence.wait();
  return calls;
}

const untilAborted = (signal: AbortSignal): Promise<Error> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason as Error));
  });

describe('the worker of the test kit', () => {
  it('aborts the signal as a real worker does, and reports the result', async () => {
    const calls = await runWithdrawn(
      async (_parameters, { signal }) => (await untilAborted(signal)).name,
    );
    expect(calls).toEqual([{ succeeded: true, data: 'WorkCancelledError' }]);
  });

  it('releases the work if the handler throws because of it', async () => {
    const calls = await runWithdrawn(async (_parameters, { signal }) => {
      throw await untilAborted(signal);
    });
    expect(calls).toEqual(['released']);
  });

  it('fails the work if the handler throws an ActivityFailure', async () => {
    const calls = await runWithdrawn(async (_parameters, { signal }) => {
      await untilAborted(signal);
      throw new ActivityFailure('not charged', { data: { charged: false } });
    });
    const data = { name: 'ActivityFailure', message: 'not charged', data: { charged: false } };
    expect(calls).toEqual([{ succeeded: false, data }]);
  });
});
