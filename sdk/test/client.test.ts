/** The resources of the client with a real server: what each call sends and returns. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createClient,
  isApiError,
  isTimeoutError,
  isWorkflowFailedError,
  type StepwrightClient,
} from '../src/index.js';
import { eventually } from './support/eventually.js';
import { GREETING } from './support/definitions.js';
import type { ServerProcess } from './support/server-process.js';
import { startServer } from './support/started-server.js';

let server: ServerProcess;
let client: StepwrightClient;

beforeAll(async () => {
  ({ server, client } = await startServer());
});
afterAll(async () => {
  await server.remove();
});

async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('the call should have failed');
    },
    (error: unknown) => error,
  );
}

describe('createClient', () => {
  it('returns a client that reads the server info', async () => {
    expect(await client.info()).toMatchObject({ name: expect.any(String) as string });
  });

  it('rejects base URLs that are not HTTP or HTTPS', () => {
    expect(() => createClient({ baseUrl: 'ftp://example.org' })).toThrow(/http/);
    expect(() => createClient({ baseUrl: 'localhost:5001' })).toThrow(/http/);
    expect(() => createClient({ baseUrl: 'localhost' })).toThrow(/^baseUrl .* not 'localhost'$/);
  });

  it('keeps the path of the base URL', async () => {
    const seen: string[] = [];
    const behindPath = createClient({
      baseUrl: `${server.url}/proxied/`,
      fetch: (request) => {
        seen.push(new URL(request.url).pathname);
        return fetch(request.url.replace('/proxied', ''));
      },
    });
    await behindPath.info();
    expect(seen).toEqual(['/proxied/api/info']);
  });
});

describe('client.definitions', () => {
  it('registers objects, JSON and YAML as successive versions', async () => {
    const document = { id: 'versions', steps: [{ id: 'only', stepType: 'NoOp' }] };
    expect(await client.definitions.register(document)).toMatchObject({
      id: 'versions',
      version: 1,
    });
    expect((await client.definitions.register(JSON.stringify(document))).version).toBe(2);
    const yaml =
      'id: versions\nsteps:\n  - id: only\n    stepType: NoOp\n  - id: unreachable\n    stepType: NoOp\n';
    const third = await client.definitions.register(yaml);
    expect(third.version).toBe(3);
    expect(third.warnings).toHaveLength(1);
    expect((await client.definitions.get('versions')).steps).toHaveLength(2);
    expect((await client.definitions.get('versions', { version: 1 })).steps).toHaveLength(1);
  });

  it('reports every problem of a rejected definition', async () => {
    const error = await failureOf(
      client.definitions.register(
        'id: bad\nsteps:\n  - id: a\n    stepType: NoOp\n    nextStepId: b\n',
      ),
    );
    if (!isApiError(error, 'invalid_definition')) throw error;
    expect(error).toMatchObject({ name: 'ApiError', status: 400, attempts: 1 });
    expect(error.errors).toMatchObject([{ code: 'unknown_next_step', line: 5 }]);
  });

  it('validates a definition without storing it', async () => {
    const check = await client.definitions.validate('{"id": "unstored", "steps": []}');
    expect(check.valid).toBe(false);
    expect(check.errors.length).toBeGreaterThan(0);
    expect(await client.definitions.validate(GREETING)).toMatchObject({ valid: true, errors: [] });
    const error = await failureOf(client.definitions.get('unstored'));
    expect(error).toMatchObject({ code: 'definition_not_found', definitionId: 'unstored' });
  });

  it('lists the items of all pages', async () => {
    const ids = (await collect(client.definitions.list({ limit: 1 }))).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['approval', 'greeting', 'payment']));
    expect(new Set(ids).size).toBe(ids.length);
    const list = client.definitions.list({ limit: 1 });
    const first = await list.page();
    expect(first.items).toHaveLength(1);
    const second = await list.page(first.nextCursor!);
    expect(second.items[0]?.id).not.toBe(first.items[0]?.id);
  });
});

describe('client.workflows', () => {
  it('starts a workflow and waits for its end', async () => {
    const handle = await client.workflows.start<
      { name: string; greeted: boolean },
      { name: string }
    >('greeting', { name: 'Ada' }, { reference: 'first' });
    const ended = await handle.wait({ timeoutMs: 40_000 });
    expect(ended).toMatchObject({ workflowId: handle.id, status: 'Complete', reference: 'first' });
    expect(ended.data).toEqual({ name: 'Ada', greeted: true });
    expect(await collect(handle.steps())).toMatchObject([{ stepId: 'greet', status: 'Complete' }]);
  });

  it('starts a workflow without data', async () => {
    const handle = await client.workflows.start('approval');
    expect((await handle.get()).data).toEqual({});
    await handle.terminate();
  });

  it('suspends, resumes and terminates a workflow', async () => {
    const handle = await client.workflows.start('approval', { order: 1 });
    expect((await handle.suspend()).status).toBe('Suspended');
    const refused = await failureOf(handle.suspend());
    expect(refused).toMatchObject({ code: 'status_conflict', status: 400, workflowId: handle.id });
    expect((await handle.resume()).status).toBe('Runnable');
    expect((await handle.terminate()).status).toBe('Terminated');
    expect((await handle.terminate()).status).toBe('Terminated');
  });

  it('terminates one or many workflows with compensation', async () => {
    const undo = { id: 'undo', stepType: 'NoOp', outputs: { undone: 'True' } };
    await client.definitions.register({
      id: 'undoable',
      steps: [
        { id: 'do', stepType: 'NoOp', compensateWith: [undo], nextStepId: 'hang' },
        { id: 'hang', stepType: 'Delay', inputs: { period: 3600 } },
      ],
    });
    const [first, second] = [
      await client.workflows.start('undoable'),
      await client.workflows.start('undoable'),
    ];
    expect((await first.terminate({ compensate: true })).workflowId).toBe(first.id);
    const ids = [second.id];
    const results = await client.workflows.control('terminate', ids, { compensate: true });
    expect(results).toMatchObject([{ outcome: 'done' }]);
    for (const handle of [first, second]) {
      expect(await handle.wait()).toMatchObject({ outcome: 'Terminated', data: { undone: true } });
      expect((await handle.terminate({ compensate: true })).status).toBe('Terminated');
    }
  });

  it('finds workflows by filters', async () => {
    const since = new Date();
    const started = await Promise.all(
      [1, 2, 3].map(() =>
        client.workflows.start('approval', { order: 99 }, { reference: 'filtered' }),
      ),
    );
    const filter = { status: 'Runnable', definitionId: 'approval', reference: 'filtered' } as const;
    const found = await collect(client.workflows.list({ ...filter, startedFrom: since, limit: 2 }));
    expect(found.map(({ workflowId }) => workflowId).sort()).toEqual(
      started.map(({ id }) => id).sort(),
    );
    expect(await collect(client.workflows.list({ ...filter, startedTo: since }))).toEqual([]);
    expect(await collect(client.workflows.list({ ...filter, failedFrom: since }))).toEqual([]);
    const unchanged = { ...filter, unchangedSince: new Date(Date.now() + 60_000) };
    expect(await collect(client.workflows.list(unchanged))).toHaveLength(3);
    await Promise.all(started.map((handle) => handle.terminate()));
  });

  it('names the workflow that was not found', async () => {
    const error = await failureOf(client.workflows.get('nope'));
    expect(error).toMatchObject({
      name: 'ApiError',
      status: 404,
      code: 'workflow_not_found',
      workflowId: 'nope',
      call: 'GET /api/workflow/{id}',
      problem: { type: 'urn:stepwright:problem:workflow_not_found' },
    });
  });

  it('ends a wait at its timeout, and leaves the workflow running', async () => {
    const handle = await client.workflows.start('approval', { order: 2 });
    for (const timeoutMs of [150, 1100]) {
      const began = performance.now();
      const error = await failureOf(handle.wait({ timeoutMs }));
      const tookMs = performance.now() - began;
      expect(isTimeoutError(error)).toBe(true);
      expect(String(error)).toContain('the workflow did not end within');
      expect(error).toMatchObject({
        workflowId: handle.id,
        summary: expect.stringContaining('approved') as string,
      });
      expect(String(error)).toContain('has been waiting for event');
      expect(tookMs).toBeGreaterThanOrEqual(timeoutMs - 5);
      expect(tookMs).toBeLessThan(timeoutMs + 10_000);
    }
    expect((await handle.terminate()).status).toBe('Terminated');
  });

  it('fails a wait for the outcomes in failOn', async () => {
    const terminated = await client.workflows.start('approval', { order: 4 });
    await terminated.terminate();
    expect(await terminated.wait()).toMatchObject({ outcome: 'Terminated' });
    expect((await terminated.wait({ failOn: ['Failed'] })).outcome).toBe('Terminated');
    for (const failOn of ['any', ['Terminated']] as const) {
      const error = await failureOf(terminated.wait({ failOn }));
      expect(isWorkflowFailedError(error)).toBe(true);
      expect(error).toMatchObject({ outcome: 'Terminated', workflowId: terminated.id });
    }
    const failed = await client.workflows.start('payment', { amount: 3 });
    const work = await client.activities.pull('charge-card', { waitSeconds: 10 });
    await client.activities.fail(work!, { message: 'no money' });
    for (const call of [failed.wait({ failOn: 'any' }), failed.result()]) {
      expect(await failureOf(call)).toMatchObject({
        name: 'WorkflowFailedError',
        outcome: 'Failed',
        error: { data: { message: 'no money' } },
      });
    }
    const succeeded = await client.workflows.start('greeting', { name: 'Ada' });
    expect((await succeeded.wait({ failOn: 'any' })).outcome).toBe('Succeeded');
    expect(await succeeded.result()).toEqual((await succeeded.get()).data);
    const list = client.workflows.list({
      definitionId: 'payment',
      outcome: 'Failed',
      parent: 'none',
    });
    expect((await collect(list)).map(({ workflowId }) => workflowId)).toContain(failed.id);
  });

  it('rejects a wait with the reason of its signal when the signal is aborted', async () => {
    const handle = await client.workflows.start('approval', { order: 3 });
    const reason = new Error('the user went away');
    const controller = new AbortController();
    const waiting = failureOf(handle.wait({ signal: controller.signal }));
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    await handle.terminate();
    const aborted = failureOf(handle.get({ signal: AbortSignal.abort(reason) }));
    expect(await aborted).toBe(reason);
  });

  it('encodes ids in paths, and rejects ids that are dot segments', async () => {
    const odd = 'a/../b?c#d e%';
    await client.definitions.register({ id: odd, steps: [{ id: 'x', stepType: 'NoOp' }] });
    const handle = await client.workflows.start(odd);
    expect((await handle.wait()).definitionId).toBe(odd);
    for (const id of ['', '.', '..']) {
      expect(await failureOf(client.workflows.get(id))).toBeInstanceOf(TypeError);
    }
  });
});

describe('client.events', () => {
  it('delivers any JSON value to a waiting workflow', async () => {
    for (const [order, data] of [
      [10, { by: 'Ada' }],
      [11, null],
      [12, 'yes'],
      [13, [1, 2]],
      [14, false],
    ] as const) {
      const handle = await client.workflows.start<{ approved: unknown }, { order: number }>(
        'approval',
        { order },
      );
      await client.events.publish('approved', `order-${order}`, data);
      expect((await handle.wait({ timeoutMs: 40_000 })).data.approved).toEqual(data);
    }
  });
});

describe('client.activities', () => {
  it('claims a work item, extends its lease and reports its result', async () => {
    const handle = await client.workflows.start<{ receipt: string }, { amount: number }>(
      'payment',
      { amount: 250 },
    );
    const work = await client.activities.pull('charge-card', { waitSeconds: 10, leaseSeconds: 30 });
    expect(work).toMatchObject({ parameters: { amount: 250 }, workflowId: handle.id, attempt: 1 });
    const { tokenExpiry } = await client.activities.heartbeat(work!, { leaseSeconds: 60 });
    expect(Date.parse(tokenExpiry)).toBeGreaterThan(Date.now() + 50_000);
    await client.activities.succeed(work!, { receipt: 'r-1' });
    await client.activities.succeed(work!, { receipt: 'r-1' });
    expect((await handle.wait()).data.receipt).toBe('r-1');
  });

  it('returns null if there is no work', async () => {
    expect(await client.activities.pull('nobody-offers-this')).toBeNull();
  });

  it('releases a work item, after which its token is stale', async () => {
    const handle = await client.workflows.start('payment', { amount: 1 });
    const first = await client.activities.pull('charge-card', { waitSeconds: 10 });
    await client.activities.release(first!);
    const second = await client.activities.pull('charge-card', { waitSeconds: 10 });
    expect(second?.workflowId).toBe(handle.id);
    const late = await failureOf(client.activities.succeed(first!, { receipt: 'late' }));
    expect(isApiError(late, 'activity_not_found')).toBe(true);
    expect(late).toMatchObject({ activityName: 'charge-card' });
    expect(String(late)).not.toContain(first!.token);
    await client.activities.fail(second!, { message: 'no money' });
    const ended = await handle.wait();
    expect(ended).toMatchObject({
      status: 'Terminated',
      lastError: { data: { message: 'no money' } },
    });
  });
});

describe('client.steps', () => {
  it('stores, reads and lists scripts', async () => {
    expect(await client.steps.put('add', 'total = a + b\n')).toMatchObject({
      name: 'add',
      version: 1,
    });
    expect(await client.steps.get('add')).toBe('total = a + b\n');
    expect(await collect(client.steps.list())).toMatchObject([{ name: 'add', version: 1 }]);
  });

  it('reports the line of a syntax error in a script', async () => {
    await eventually('Python is ready', async () => {
      const error = await failureOf(client.steps.put('broken', 'x = 1\nif:\n'));
      return isApiError(error, 'invalid_script') && error.problem['line'] === 2;
    });
    expect(await failureOf(client.steps.get('broken'))).toMatchObject({
      code: 'step_not_found',
      stepName: 'broken',
    });
  });
});
