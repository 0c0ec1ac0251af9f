/** Starts through the client with a real server: start and result in one call, options of a start, disabled definitions. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createClient,
  isApiError,
  isTimeoutError,
  isWorkflowFailedError,
  type StepwrightClient,
} from '../src/index.js';
import { APPROVAL } from './support/definitions.js';
import { ServerProcess } from './support/server-process.js';
import { startServer } from './support/started-server.js';

const HOUR_MS = 3_600_000;

let server: ServerProcess;
let client: StepwrightClient;
/** The requests of `client`. */
let requests: string[] = [];

beforeAll(async () => {
  ({ server } = await startServer());
  client = createClient({
    baseUrl: server.url,
    fetch: (request) => {
      requests.push(`${request.method} ${new URL(request.url).search}`);
      return fetch(request);
    },
  });
});
afterAll(async () => {
  await server.remove();
});

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('the call should have failed');
    },
    (error: unknown) => error,
  );
}

interface LongPolls {
  count: number;
  /** Called before each one, with its number. */
  beforeEach: (count: number) => Promise<unknown>;
}

/** A client of a server that lets a request wait for one second at most. */
async function withLongPolls(
  use: (client: StepwrightClient, polls: LongPolls) => Promise<void>,
): Promise<void> {
  const impatient = await ServerProcess.start({ environment: { wait_seconds_max: '1' } });
  const polls: LongPolls = { count: 0, beforeEach: () => Promise.resolve() };
  const polling = createClient({
    baseUrl: impatient.url,
    fetch: async (request) => {
      if (request.method === 'GET' && request.url.includes('wait=')) {
        polls.count += 1;
        await polls.beforeEach(polls.count);
      }
      return fetch(request);
    },
  });
  try {
    await polling.definitions.register(APPROVAL);
    await use(polling, polls);
  } finally {
    await impatient.remove();
  }
}

describe('client.workflows.run', () => {
  it('starts a run and returns its result with one request', async () => {
    requests = [];
    const ended = await client.workflows.run<{ name: string; greeted: boolean }, { name: string }>(
      'greeting',
      { name: 'Ada' },
      { timeoutMs: 60_500, reference: 'run' },
    );
    expect(requests).toEqual(['POST ?reference=run&wait=20']);
    expect(ended).toMatchObject({ status: 'Complete', outcome: 'Succeeded', reference: 'run' });
    expect(ended.data).toEqual({ name: 'Ada', greeted: true });
  });

  it('continues with long polls when the server has waited as long as it does', async () => {
    await withLongPolls(async (polling, polls) => {
      polls.beforeEach = async (count) => {
        if (count === 2) await polling.events.publish('approved', 'order-501', true);
      };
      const options = { idempotencyKey: 'run-501' };
      const ended = await polling.workflows.run('approval', { order: 501 }, options);
      expect(ended.data).toEqual({ order: 501, approved: true });
      expect(polls.count).toBeGreaterThanOrEqual(2);
      // The key belongs to the start: another call with it gets the same run.
      const again = await polling.workflows.run('approval', { order: 501 }, options);
      expect(again).toEqual(ended);
    });
  });

  it('names the run that did not end in time, which continues', async () => {
    requests = [];
    const started = client.workflows.run('approval', { order: 502 }, { timeoutMs: 5000 });
    const error = await failureOf(started);
    if (!isTimeoutError(error)) throw error;
    // The server responds before the time is up.
    expect(requests[0]).toBe('POST ?wait=4');
    expect(error.summary).toContain('approved');
    const left = client.workflows.handle(error.workflowId!);
    expect((await left.get()).status).toBe('Runnable');
    await left.terminate();
  });

  it('starts without a wait if there is less than a second', async () => {
    requests = [];
    const call = client.workflows.run('approval', { order: 503 }, { timeoutMs: 900 });
    expect(isTimeoutError(await failureOf(call))).toBe(true);
    expect(requests[0]).toBe('POST ');
  });

  it('throws for the outcomes in failOn only', async () => {
    await client.definitions.register({
      id: 'failing',
      defaultErrorBehavior: 'Terminate',
      steps: [{ id: 'fail', stepType: 'Fail', inputs: { Message: '"no stock"' } }],
    });
    expect(await client.workflows.run('failing')).toMatchObject({ outcome: 'Failed' });
    const error = await failureOf(client.workflows.run('failing', {}, { failOn: 'any' }));
    if (!isWorkflowFailedError(error)) throw error;
    expect(error).toMatchObject({ outcome: 'Failed', error: { message: 'no stock' } });
    expect(error.workflowId).toBeDefined();
  });

  it('waits for the open run with onConflict', async () => {
    await withLongPolls(async (polling, polls) => {
      const options = { reference: 'shared', onConflict: 'existing' } as const;
      const open = await polling.workflows.start('approval', { order: 504 }, options);
      // The call polls once it has joined the run, which must not end before.
      polls.beforeEach = () => polling.events.publish('approved', 'order-504', 'yes');
      const joined = await polling.workflows.run('approval', { order: 505 }, options);
      expect(joined).toMatchObject({ workflowId: open.id, data: { approved: 'yes' } });
    });
  });
});

describe('a start', () => {
  it('runs its first step later with startAt or delay', async () => {
    const at = new Date(Date.now() + HOUR_MS);
    for (const options of [
      { startAt: at },
      { startAt: at.toISOString() },
      { delay: 3600 },
      { delay: 'PT1H' },
    ]) {
      const handle = await client.workflows.start('greeting', { name: 'Ada' }, options);
      const { summary } = await handle.explain();
      const [, time] = /starts at (\S+Z)/.exec(summary) ?? [];
      expect(Math.abs(Date.parse(time!) - at.getTime()), summary).toBeLessThan(60_000);
      await handle.terminate();
    }
    const past = { startAt: new Date(0) };
    expect((await client.workflows.run('greeting', { name: 'Ada' }, past)).outcome).toBe(
      'Succeeded',
    );
    const both = client.workflows.start('greeting', {}, { startAt: at, delay: 1 });
    expect(isApiError(await failureOf(both), 'invalid_request')).toBe(true);
  });

  it('uses the version and the tags of its options', async () => {
    const versioned = (v: number) => ({
      id: 'versioned',
      steps: [{ id: 'only', stepType: 'NoOp', outputs: { v } }],
    });
    for (const v of [1, 2]) await client.definitions.register(versioned(v));
    const tags = { team: 'a:b', 'ä&=': '' };
    const first = await client.workflows.run('versioned', {}, { version: 1, tags });
    expect(first).toMatchObject({ version: 1, data: { v: 1 }, tags });
    expect((await client.workflows.run('versioned')).data).toEqual({ v: 2 });
    const unknown = await failureOf(client.workflows.start('versioned', {}, { version: 9 }));
    expect(unknown).toMatchObject({ code: 'definition_not_found', definitionId: 'versioned' });
  });

  it('fails, joins or terminates if an open run has its reference', async () => {
    const start = (onConflict: 'fail' | 'existing' | 'terminate') =>
      client.workflows.start('approval', { order: 506 }, { reference: 'order-506', onConflict });
    const first = await start('fail');
    const refused = await failureOf(start('fail'));
    if (!isApiError(refused, 'reference_in_use')) throw refused;
    expect(refused).toMatchObject({ status: 409, problem: { workflowId: first.id } });
    expect((await start('existing')).id).toBe(first.id);
    const next = await start('terminate');
    expect(next.id).not.toBe(first.id);
    expect((await first.wait()).outcome).toBe('Terminated');
    await next.terminate();
  });

  it('joins a run that has ended and is kept, and says so', async () => {
    await client.definitions.register({
      id: 'once',
      reference: 'data.order',
      onConflict: 'existing',
      conflictScope: 'Kept',
      steps: [{ id: 'only', stepType: 'NoOp' }],
    });
    const first = await client.workflows.run('once', { order: 'A1' });
    expect(first).toMatchObject({ joined: false, reference: 'A1', outcome: 'Succeeded' });
    const second = await client.workflows.run('once', { order: 'A1' });
    expect(second).toMatchObject({ joined: true, workflowId: first.workflowId });
    const third = await client.workflows.start('once', { order: 'A1' });
    expect([third.joined, third.id]).toEqual([true, first.workflowId]);
    expect(client.workflows.handle(third.id).joined).toBe(false);
    const options = { conflictScope: 'open' } as const;
    const open = await client.workflows.start('once', { order: 'A1' }, options);
    expect(open.joined).toBe(false);
    const failed = await failureOf(client.workflows.start('once', {}));
    expect(failed).toMatchObject({ status: 400, code: 'expression_failed', definitionId: 'once' });
  });
});

describe('priority', () => {
  it('is given when a run is started, and changed while it is open', async () => {
    await client.definitions.register({
      id: 'urgent',
      priority: 2,
      steps: [{ id: 'wait', stepType: 'Delay', inputs: { Period: 3600 } }],
    });
    const run = await client.workflows.start('urgent', {}, { priority: 5 });
    expect(await client.workflows.get(run.id)).toMatchObject({ priority: 5 });
    expect(await client.workflows.setPriority(run.id, 1)).toMatchObject({ priority: 1 });
    await run.terminate();
    const failed = await failureOf(client.workflows.setPriority(run.id, 3));
    expect(failed).toMatchObject({ status: 409, code: 'action_conflict', workflowId: run.id });
  });
});

describe('fairness', () => {
  it('is given when a run is started, or computed by the definition', async () => {
    await client.definitions.register({
      id: 'fair',
      fairness: { key: 'data.tenant', weight: 2 },
      steps: [{ id: 'wait', stepType: 'Delay', inputs: { Period: 3600 } }],
    });
    const options = { fairnessKey: 'other', fairnessWeight: 0.5 };
    const other = await client.workflows.start('fair', {}, options);
    expect(await client.workflows.get(other.id)).toMatchObject(options);
    const own = await client.workflows.start('fair', { tenant: 'acme' });
    const shown = await client.workflows.get(own.id);
    expect(shown).toMatchObject({ fairnessKey: 'acme', fairnessWeight: 2 });
    const failed = await failureOf(client.workflows.start('fair', {}));
    expect(failed).toMatchObject({ status: 400, code: 'expression_failed' });
    const refused = await failureOf(
      client.workflows.start('fair', { tenant: 'acme' }, { fairnessWeight: 101 }),
    );
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});

describe('client.workflows.input', () => {
  it('returns the start data as it was sent', async () => {
    await client.definitions.register({
      id: 'with-defaults',
      input: { properties: { color: { default: 'red' } } },
      steps: [{ id: 'change', stepType: 'NoOp', outputs: { n: 'data.n + 1' } }],
    });
    const { data, workflowId } = await client.workflows.run('with-defaults', { n: 1 });
    expect(data).toEqual({ n: 2, color: 'red' });
    expect(await client.workflows.input<{ n: number }>(workflowId)).toEqual({ n: 1 });
    expect(await failureOf(client.workflows.input('nope'))).toMatchObject({
      code: 'workflow_not_found',
      workflowId: 'nope',
    });
  });
});

describe('client.definitions', () => {
  it('disables and enables a definition', async () => {
    await client.definitions.register({ id: 'paused', steps: [{ id: 'a', stepType: 'NoOp' }] });
    expect(await client.definitions.disable('paused')).toMatchObject({ disabled: true });
    const refused = await failureOf(client.workflows.start('paused'));
    expect(isApiError(refused, 'definition_disabled')).toBe(true);
    expect(await client.definitions.enable('paused')).toMatchObject({ disabled: false });
    expect((await client.workflows.run('paused')).outcome).toBe('Succeeded');
    expect(await failureOf(client.definitions.disable('nowhere'))).toMatchObject({
      code: 'definition_not_found',
    });
  });
});
