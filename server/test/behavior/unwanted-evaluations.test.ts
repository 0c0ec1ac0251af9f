/**
 * Goal: Python does no work whose result is no longer needed. The evaluations of a run are canceled when the run is
 * suspended, terminated, timed out, or left by a node that stops; and they leave no trace.
 * Method: infinite expressions, with a time limit that no test waits for.
 */
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { startRedis } from '../support/redis-container.js';
import { Client, fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { startProcess, temporaryFolder } from './support/server-process.js';
import { startServer } from './support/server.js';
import { chain, compute, mark, step } from './support/steps.js';

const ENDLESS = 'sum(1 for _ in iter(int, 1))';
/** The time limit of an expression is far longer than any test. */
const ENVIRONMENT = { expression_timeout_ms: '120000', python_processes: '1', python_spares: '0' };

/** An interpreter starts slowly on a busy machine. */
const PATIENCE = { timeout: 60_000, interval: 20 };

/** On a busy machine an interrupt may hit a process between two calls, which then has to be replaced. */
const REPLACED_MAX = 1;

type Gauge = 'busy' | 'queued' | 'replaced' | 'timeouts';

async function gauge(client: Client, name: Gauge): Promise<number> {
  const { text } = await client.get('/metrics');
  return Number(new RegExp(`^stepwright_python_${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

/** Waits until Python has this many calls, running and waiting. */
async function untilAsked(client: Client, calls: number): Promise<void> {
  await expect
    .poll(async () => (await gauge(client, 'busy')) + (await gauge(client, 'queued')), PATIENCE)
    .toBe(calls);
}

/** Steps with an infinite evaluation in their inputs, outputs, selectors or cancel condition. */
const ENDLESS_STEPS: Readonly<Record<string, JsonObject>> = {
  inputs: step('s', 'EmitLog', { Message: ENDLESS }),
  outputs: compute('s', { x: ENDLESS }),
  selection: compute('s', {}, { SelectNextStep: { other: ENDLESS } }),
  'a cancel condition': step('s', 'Delay', { Period: 3600 }, { CancelCondition: ENDLESS }),
};

everyStore(
  'an evaluation that is no longer needed',
  (at) => {
    it.each(Object.entries(ENDLESS_STEPS))(
      'is canceled in %s when its run is terminated',
      { timeout: 120_000 },
      async (_, endless) => {
        const { client } = at;
        const id = await client.defineAndStart([endless, mark('other')]);
        await untilAsked(client, 1);
        expect((await client.terminate(id)).status).toBe(200);
        await untilAsked(client, 0);
        const ended = await client.ended(id);
        expect(ended).toMatchObject({
          status: 'Terminated',
          outcome: 'Terminated',
          lastError: null,
        });
        expect(await client.steps(id)).toMatchObject([{ status: 'Cancelled', error: null }]);
      },
    );

    it('is canceled when its run is suspended, and starts again at the resume', async () => {
      const { client } = at;
      const id = await client.defineAndStart(chain(mark('before'), ENDLESS_STEPS['inputs']!));
      await untilAsked(client, 1);
      expect((await client.control(id, 'suspend')).body.status).toBe('Suspended');
      await untilAsked(client, 0);
      expect(await client.workflow(id)).toMatchObject({ status: 'Suspended', lastError: null });
      await client.control(id, 'resume');
      await untilAsked(client, 1);
      expect(await client.workflow(id)).toMatchObject({ status: 'Runnable', lastError: null });
      await client.terminate(id);
      await untilAsked(client, 0);
      expect(await client.steps(id)).toMatchObject([
        { stepId: 'before', status: 'Complete', attempt: 1 },
        { stepId: 's', status: 'Cancelled', attempt: 1, error: null },
      ]);
    });

    const late = { Timeout: 1, ErrorBehavior: 'Terminate' };
    it.each<[string, (endless: JsonObject) => JsonObject[]]>([
      ['its step', (endless) => [{ ...endless, ...late }]],
      ['its container', (endless) => [step('all', 'Sequence', {}, { ...late, Do: [[endless]] })]],
    ])('is canceled when the Timeout of %s has passed', async (_, around) => {
      const { client } = at;
      const ended = await client.run(around(ENDLESS_STEPS['inputs']!));
      expect(ended).toMatchObject({ outcome: 'Failed', lastError: { type: 'Timeout' } });
      await untilAsked(client, 0);
    });

    it('leaves no line in the log and no failure in the metrics, and its interpreter keeps running', async () => {
      const { client, server } = at;
      const lines = server.logLines.filter(({ level }) => level === 'warn' || level === 'error');
      const failures = lines.map(({ code, errorType }) => [errorType, code]);
      const late = ['Timeout', 'step_attempt_failed'];
      expect(failures).toEqual([late, late]);
      expect(await gauge(client, 'timeouts')).toBe(0);
      expect(await gauge(client, 'replaced')).toBeLessThanOrEqual(REPLACED_MAX);
    });
  },
  { environment: ENVIRONMENT, ownPython: true, dialects: 'alternating' },
);

describe('a definition whose evaluations fill the queue', { timeout: 120_000 }, () => {
  it('delays no other run once its runs are terminated', async () => {
    const server = await startServer({
      store: createMemoryStore(),
      environment: ENVIRONMENT,
      ownPython: true,
    });
    onTestFinished(() => server.stop());
    const client = new Client(server.url);
    const slow = await client.define([ENDLESS_STEPS['outputs']!]);
    const fast = await client.define([compute('s', { x: 'abs(-1)' })]);
    const guilty = await Promise.all(Array.from({ length: 25 }, () => client.start(slow)));
    await untilAsked(client, 25);
    const healthy = await client.start(fast);
    await untilAsked(client, 26);
    const steered = await client.call('PATCH', '/api/workflow', {
      body: JSON.stringify({ action: 'terminate', workflowIds: guilty }),
      type: 'application/json',
    });
    expect(steered.status, steered.text).toBe(200);
    expect((await client.ended(healthy)).data).toEqual({ x: 1 });
    await untilAsked(client, 0);
    expect(await gauge(client, 'replaced')).toBeLessThanOrEqual(REPLACED_MAX);
    for (const id of guilty) expect(await client.workflow(id)).toMatchObject({ lastError: null });
  });
});

describe('a node that stops', { timeout: 120_000 }, () => {
  it("doesn't wait for evaluations, and leaves them to the next node", async () => {
    const environment = {
      ...ENVIRONMENT,
      PORT: '0',
      DATA_DIR: await temporaryFolder(),
      shutdown_grace_ms: '2000',
    };
    const first = await startProcess(environment);
    const client = new Client(first.url);
    const id = await client.defineAndStart([ENDLESS_STEPS['inputs']!]);
    await untilAsked(client, 1);
    expect(await first.stop()).toBe(0);
    const second = new Client((await startProcess(environment)).url);
    await untilAsked(second, 1);
    expect(await second.workflow(id)).toMatchObject({ status: 'Runnable', lastError: null });
    await second.terminate(id);
    await untilAsked(second, 0);
  });
});

const redis = await startRedis();
afterAll(() => redis?.stop());

describe.skipIf(redis === null)('two nodes with Redis', { timeout: 120_000 }, () => {
  it('cancels unneeded evaluations on the other node', async () => {
    const environment = {
      ...ENVIRONMENT,
      PORT: '0',
      DATA_DIR: await temporaryFolder(),
      redis: redis!.url,
      db_name: fresh('unwanted'),
    };
    const here = new Client((await startProcess(environment)).url);
    const there = new Client((await startProcess(environment)).url);
    const id = await here.defineAndStart([ENDLESS_STEPS['inputs']!]);
    await untilAsked(here, 1);
    expect((await there.terminate(id)).status).toBe(200);
    await untilAsked(here, 0);
    expect(await here.ended(id)).toMatchObject({ outcome: 'Terminated' });
  });
});
