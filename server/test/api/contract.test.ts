/**
 * The HTTP contract, call by call, against the whole server: embedded store and real Python, nothing mocked. Every call
 * succeeds once and fails in each documented way.
 */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  contractServer,
  GREET,
  WAIT,
  type Items,
  type Workflow,
} from './support/contract-server.js';
import type { JsonBody } from './support/real-server.js';

const { baseUrl, call, define, ended, freshName, start } = contractServer();

describe('the definition API', () => {
  it('assigns the next version to each posted definition', async () => {
    const id = freshName('d');
    const first = await call('POST /api/definition', { json: { id, steps: [GREET] } });
    expect([first.status, first.body]).toEqual([201, { id, version: 1, warnings: [] }]);
    const yaml = `Id: ${id}\nVersion: 77\nSteps:\n- Id: greet\n  StepType: noop\n`;
    const second = await call('POST /api/definition', { yaml });
    expect(second.body).toEqual({ id, version: 2, warnings: [] });
    const latest = await call(`GET /api/definition/${id}`);
    expect(latest.body).toMatchObject({
      id,
      version: 2,
      steps: [{ id: 'greet', stepType: 'NoOp' }],
    });
    const older = await call(`GET /api/definition/${id}?version=1`);
    expect(older.body).toMatchObject({ version: 1, steps: [{ outputs: GREET.outputs }] });
  });

  it('rejects a document with every problem, its pointer and its position', async () => {
    const yaml = [
      'Id: broken',
      'Steps:',
      '  - Id: a',
      '    StepType: EmitLog',
      '    NextStepId: nowhere',
      '    Inputs:',
      '      Message: "1 +"',
      '  - Id: a',
      '    StepType: Nonsense',
    ].join('\n');
    const { status, body, headers } = await call('POST /api/definition', { yaml });
    expect(status).toBe(400);
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(body).toMatchObject({ code: 'invalid_definition', status: 400 });
    const places = (body['errors'] as JsonBody[]).map(({ pointer, line }) => [pointer, line]);
    expect(places).toEqual(
      expect.arrayContaining([
        ['/Steps/0/NextStepId', 5],
        ['/Steps/0/Inputs/Message', 7],
        ['/Steps/1/Id', 8],
      ]),
    );
    expect((await call('GET /api/definition/broken')).status).toBe(404);
  });

  it('validates a document without storing it', async () => {
    const id = freshName('d');
    const good = await call('POST /api/definition/validate', { json: { id, steps: [GREET] } });
    expect([good.status, good.body]).toEqual([
      200,
      { valid: true, errors: [], warnings: [], triggers: [] },
    ]);
    const bad = await call('POST /api/definition/validate', { json: { id } });
    expect(bad.status).toBe(200);
    expect(bad.body).toMatchObject({ valid: false });
    expect((await call(`GET /api/definition/${id}`)).status).toBe(404);
  });

  it('lists definitions in pages', async () => {
    const ids = [await define([GREET]), await define([GREET]), await define([GREET])];
    const seen: unknown[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await call<Items>(`GET /api/definition?limit=2${query}`);
      expect(page.status).toBe(200);
      expect(page.body.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.body.items.map(({ id }) => id));
      cursor = page.body.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(expect.arrayContaining(ids));
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('answers 404 for an unknown definition', async () => {
    const id = await define([GREET]);
    for (const path of ['nope', `${id}?version=9`]) {
      const { status, body } = await call(`GET /api/definition/${path}`);
      expect([status, body['code']]).toEqual([404, 'definition_not_found']);
    }
  });
});

describe('the workflow API', () => {
  it('starts a run that completes', async () => {
    const id = await define([GREET]);
    const started = await call<Workflow>(`POST /api/workflow/${id}?reference=mine`, {
      yaml: 'name: Ada',
    });
    expect(started.status).toBe(201);
    expect(started.headers.get('location')).toBe(`/api/workflow/${started.body.workflowId}`);
    expect(started.body).toMatchObject({
      definitionId: id,
      version: 1,
      reference: 'mine',
      status: 'Runnable',
      endTime: null,
      data: { name: 'Ada' },
    });
    const workflow = await ended(started.body.workflowId);
    expect(workflow).toMatchObject({ status: 'Complete', data: { greeting: 'Hello Ada' } });
    expect(workflow['startTime']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(workflow['endTime']).toMatch(/Z$/);
  });

  it('starts a run with {} if there is no body', async () => {
    const id = await define([{ id: 'a', stepType: 'NoOp' }]);
    const { status, body } = await call<Workflow>(`POST /api/workflow/${id}`);
    expect([status, body.data]).toEqual([201, {}]);
  });

  it('returns data as it was sent', async () => {
    const id = await define([{ id: 'a', stepType: 'NoOp' }]);
    const text = '{"B":1,"__proto__":{"x":[null]},"a.b":{"$gt":""},"n":9007199254740992,"f":1.5}';
    const response = await fetch(`${baseUrl()}/api/workflow/${id}`, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json' },
    });
    const { workflowId } = (await response.json()) as Workflow;
    await ended(workflowId);
    expect((await call(`GET /api/workflow/${workflowId}`)).text).toContain(`"data":${text}`);
  });

  it('rejects a start with an unknown definition or with data that is not an object', async () => {
    const unknown = await call('POST /api/workflow/nope', { json: {} });
    expect([unknown.status, unknown.body['code']]).toEqual([404, 'definition_not_found']);
    const id = await define([GREET]);
    expect((await call(`POST /api/workflow/${id}`, { json: [1] })).status).toBe(400);
  });

  it('answers 404 for an unknown run on every endpoint', async () => {
    const lines = [
      'GET /api/workflow/nope',
      'GET /api/workflow/nope?wait=1',
      'GET /api/workflow/nope/steps',
      'PUT /api/workflow/nope/suspend',
      'PUT /api/workflow/nope/resume',
      'DELETE /api/workflow/nope',
    ];
    for (const line of lines) {
      const { status, body } = await call(line);
      expect([status, body['code']], line).toEqual([404, 'workflow_not_found']);
    }
  });

  it('waits for the end of a run until the timeout', async () => {
    const { workflowId } = await start(await define([WAIT]), { key: freshName('k') });
    const began = performance.now();
    const { status, body } = await call<Workflow>(`GET /api/workflow/${workflowId}?wait=1`);
    expect([status, body.status]).toEqual([200, 'Runnable']);
    expect(performance.now() - began).toBeGreaterThan(950);
  });

  it('suspends, resumes and terminates a run if its status allows it', async () => {
    const key = freshName('k');
    const { workflowId } = await start(await define([WAIT]), { key });
    const at = (action: string) => call<Workflow>(`PUT /api/workflow/${workflowId}/${action}`);

    const early = await at('resume');
    expect([early.status, early.body['code']]).toEqual([400, 'status_conflict']);
    const suspended = await at('suspend');
    expect([suspended.status, suspended.body.status]).toEqual([200, 'Suspended']);
    expect((await at('suspend')).status).toBe(400);
    const resumed = await at('resume');
    expect([resumed.status, resumed.body.status]).toEqual([200, 'Runnable']);

    const line = `DELETE /api/workflow/${workflowId}`;
    const terminated = await call<Workflow>(line);
    expect([terminated.status, terminated.body.status]).toEqual([200, 'Terminated']);
    expect(terminated.body['endTime']).toMatch(/Z$/);
    // The node that runs it writes once more when it is notified of the end.
    const again = await call(line);
    const { lastChangeTime } = again.body;
    expect(again.body).toEqual({ ...terminated.body, lastChangeTime });
    expect((await at('suspend')).status).toBe(400);
  });

  it('keeps a completed run Complete', async () => {
    const { workflowId } = await start(await define([GREET]), { name: 'A' });
    await ended(workflowId);
    const { status, body } = await call<Workflow>(`DELETE /api/workflow/${workflowId}`);
    expect([status, body.status]).toEqual([200, 'Complete']);
  });

  it('lists runs newest first, filtered', async () => {
    const id = await define([GREET]);
    const started: string[] = [];
    for (const name of ['a', 'b', 'c']) started.push((await start(id, { name })).workflowId);
    for (const workflowId of started) await ended(workflowId);
    const all = await call<Items<Workflow>>(`GET /api/workflow?definitionId=${id}`);
    expect(all.body.items.map(({ workflowId }) => workflowId)).toEqual(started.toReversed());
    expect(all.body.items[0]).not.toHaveProperty('data');

    const firstPage = await call<Items<Workflow>>(`GET /api/workflow?definitionId=${id}&limit=2`);
    const cursor = encodeURIComponent(firstPage.body.nextCursor!);
    const secondPage = await call<Items<Workflow>>(
      `GET /api/workflow?definitionId=${id}&limit=2&cursor=${cursor}`,
    );
    expect(secondPage.body.items.map(({ workflowId }) => workflowId)).toEqual([started[0]]);
    expect(secondPage.body.nextCursor).toBeNull();

    const none = `GET /api/workflow?definitionId=${id}&status=Suspended`;
    expect((await call<Items>(none)).body).toEqual({ items: [], nextCursor: null });
    expect((await call('GET /api/workflow?cursor=nonsense')).status).toBe(400);
  });

  it('shows completed and open steps', async () => {
    const key = freshName('k');
    const steps = [{ id: 'first', stepType: 'NoOp', nextStepId: 'ask' }, WAIT];
    const { workflowId } = await start(await define(steps), { key });
    const line = `GET /api/workflow/${workflowId}/steps`;
    await expect
      .poll(async () => (await call<Items>(line)).body.items, { timeout: 10_000 })
      .toMatchObject([
        { stepId: 'first', stepType: 'NoOp', status: 'Complete', attempt: 1, waitsFor: null },
        {
          stepId: 'ask',
          status: 'Waiting',
          endTime: null,
          waitsFor: { kind: 'event', eventName: 'answered', eventKey: key },
        },
      ]);
  });

  it('shows the error that suspended a run', async () => {
    const steps = [{ id: 'bad', stepType: 'NoOp', outputs: { x: 'data.nothing' } }];
    const id = await define(steps, { defaultErrorBehavior: 'Suspend' });
    const { workflowId } = await start(id);
    const read = async () => (await call<Workflow>(`GET /api/workflow/${workflowId}`)).body;
    await expect.poll(read, { timeout: 10_000 }).toMatchObject({
      status: 'Suspended',
      lastError: {
        stepId: 'bad',
        attempt: 1,
        message: expect.stringContaining('nothing') as unknown,
      },
    });
  });
});

describe('the custom step API', () => {
  it('stores, uses, lists and returns a script', async () => {
    const name = freshName('add');
    const script = 'total = a + b\n';
    const first = await call(`POST /api/step/${name}`, { python: 'total = 0' });
    expect([first.status, first.body]).toEqual([200, { name, version: 1, warnings: [] }]);
    expect((await call(`POST /api/step/${name}`, { python: script })).body).toEqual({
      name,
      version: 2,
      warnings: [],
    });
    const shown = await call(`GET /api/step/${name}`);
    expect([shown.text, shown.headers.get('content-type')]).toEqual([
      script,
      'text/x-python; charset=utf-8',
    ]);
    expect((await call<Items>('GET /api/step?limit=500')).body.items).toContainEqual(
      expect.objectContaining({ name, version: 2 }),
    );
    const definition = await define([
      { id: 's', stepType: name, inputs: { a: 'data.a', b: '2' }, outputs: { sum: 'step.total' } },
    ]);
    const { workflowId } = await start(definition, { a: 40 });
    expect(await ended(workflowId)).toMatchObject({ data: { sum: 42 } });
  });

  it('rejects a script with the line of its syntax error', async () => {
    const { status, body } = await call('POST /api/step/bad', { python: 'a = 1\nb = = 2\n' });
    expect([status, body['code'], body['line']]).toEqual([400, 'invalid_script', 2]);
    expect((await call('GET /api/step/bad')).status).toBe(404);
  });

  it('rejects the name of a built-in step type, in any casing', async () => {
    const { status, body } = await call('POST /api/step/emitLOG', { python: 'a = 1' });
    expect([status, body['code']]).toEqual([409, 'reserved_step_name']);
  });
});

describe('the server API', () => {
  it('describes the server', async () => {
    const { status, body } = await call('GET /api/info');
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual([
      'backplane',
      'machineName',
      'name',
      'nodeId',
      'osVersion',
      'startTime',
      'store',
      'version',
      'workingSet',
    ]);
    expect(body).toMatchObject({ store: 'sqlite', backplane: 'local' });
  });

  it('reports liveness, readiness and metrics', async () => {
    expect((await call('GET /health/live')).status).toBe(200);
    expect((await call('GET /health/ready')).body).toEqual({ ready: true, reasons: [] });
    const metrics = await call('GET /metrics');
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    expect(metrics.text).toMatch(/^# HELP /m);
  });

  it('answers in YAML with the same names', async () => {
    const { workflowId } = await start(await define([GREET]), { name: 'A' });
    const json = await ended(workflowId);
    const { text, headers } = await call(`GET /api/workflow/${workflowId}`, {
      headers: { accept: 'application/x-yaml' },
    });
    expect(headers.get('content-type')).toBe('application/x-yaml; charset=utf-8');
    expect(parse(text)).toEqual(json);
  });
});
