/** Maps calls about workflows to calls of the host, and the results to responses. */
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.js';
import { problemOf, startApi } from '../support/api-server.js';
import { SOME_INSTANCE } from '../support/scripted-host.js';

const SOME_WORKFLOW = {
  workflowId: 'w1',
  definitionId: 'greeting',
  version: 3,
  reference: null,
  tags: { team: 'billing' },
  priority: 3,
  fairnessKey: 'tenant',
  fairnessWeight: 2,
  queued: false,
  debounce: null,
  index: { customer: 'C-17' },
  status: 'Runnable',
  outcome: null,
  startTime: '2026-05-04T10:20:30.123Z',
  endTime: null,
  lastChangeTime: '2026-05-04T10:20:30.124Z',
  failureTime: null,
  failingSince: null,
  data: { name: 'Ada' },
  failure: null,
  restartOf: null,
  restartedAs: null,
  trigger: null,
  lastError: null,
  parent: null,
};

describe('POST /api/workflow/{id}', () => {
  it('starts a run with the data in the body and answers 201 with its location', async () => {
    const api = await startApi({
      host: { 'instances.start': async () => ({ instance: SOME_INSTANCE, isNew: true }) },
    });
    const response = await api.post(
      '/api/workflow/greeting?reference=r-1',
      '{"name":"Ada"}',
      'application/json',
    );
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe('/api/workflow/w1');
    expect(await response.json()).toEqual(SOME_WORKFLOW);
    expect(api.calls).toEqual([
      {
        method: 'instances.start',
        args: [
          {
            definitionId: 'greeting',
            data: { name: 'Ada' },
            reference: 'r-1',
            fairness: {},
            idempotency: null,
            actor: 'anonymous',
            replaced: expect.any(Function) as unknown,
          },
        ],
      },
    ]);
  });

  it('starts a run with {} if there is no body', async () => {
    const api = await startApi({
      host: { 'instances.start': async () => ({ instance: SOME_INSTANCE, isNew: true }) },
    });
    const response = await api.fetch('/api/workflow/greeting', { method: 'POST' });
    expect(response.status).toBe(201);
    expect(api.calls[0]!.args).toMatchObject([{ data: {} }]);
  });

  it.each(['[1]', '"text"', 'null', '5'])('rejects the data %s', async (body) => {
    const api = await startApi();
    const response = await api.post('/api/workflow/greeting', body, 'application/json');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'invalid_request' });
  });

  it('answers 404 if the definition does not exist', async () => {
    const api = await startApi({
      host: {
        'instances.start': async () => {
          throw new AppError('definition_not_found', "There is no definition 'nope'", {
            fields: { definitionId: 'nope' },
          });
        },
      },
    });
    const response = await api.fetch('/api/workflow/nope', { method: 'POST' });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await problemOf(response)).toEqual({
      type: 'urn:stepwright:problem:definition_not_found',
      title: 'Definition not found',
      status: 404,
      detail: "There is no definition 'nope'",
      code: 'definition_not_found',
      definitionId: 'nope',
    });
  });
});

describe('GET /api/workflow/{id}', () => {
  it('answers at once without wait', async () => {
    const api = await startApi({ host: { 'instances.get': async () => SOME_INSTANCE } });
    expect(await (await api.fetch('/api/workflow/w1')).json()).toEqual(SOME_WORKFLOW);
    expect((await api.fetch('/api/workflow/w1?wait=0')).status).toBe(200);
    expect(api.calls.map(({ args }) => args)).toEqual([['w1'], ['w1']]);
  });

  it.each([
    ['5', 5_000],
    ['99999', 120_000],
  ])('waits for %s seconds, up to a limit', async (wait, waitMs) => {
    const api = await startApi({ host: { 'instances.wait': async () => SOME_INSTANCE } });
    expect((await api.fetch(`/api/workflow/w1?wait=${wait}`)).status).toBe(200);
    expect(api.calls[0]!.args.slice(0, 2)).toEqual(['w1', waitMs]);
  });

  it.each(['-1', '1.5', 'x', '', '1e2'])('rejects a wait of %j seconds', async (wait) => {
    const api = await startApi();
    const response = await api.fetch(`/api/workflow/w1?wait=${wait}`);
    expect(response.status).toBe(400);
    expect((await problemOf(response))['errors']).toMatchObject([{ parameter: 'wait' }]);
  });

  it('returns the most recent error', async () => {
    const lastError = {
      stepId: 's',
      message: 'm',
      type: 'KeyError',
      traceback: null,
      data: null,
      attempt: 2,
      time: 4000,
      since: 0,
    };
    const api = await startApi({
      host: { 'instances.get': async () => ({ ...SOME_INSTANCE, lastError, endTime: 0 }) },
    });
    expect(await (await api.fetch('/api/workflow/w1')).json()).toEqual({
      ...SOME_WORKFLOW,
      endTime: '1970-01-01T00:00:00.000Z',
      lastError: {
        ...lastError,
        time: '1970-01-01T00:00:04.000Z',
        since: '1970-01-01T00:00:00.000Z',
      },
    });
  });
});

describe('a control action', () => {
  it.each([
    ['PUT', '/api/workflow/w1/suspend', 'suspend'],
    ['PUT', '/api/workflow/w1/resume', 'resume'],
    ['PUT', '/api/workflow/w1/retry', 'retry'],
    ['DELETE', '/api/workflow/w1', 'terminate'],
  ])('returns the run: %s %s', async (method, path, action) => {
    const api = await startApi({ host: { 'instances.control': async () => SOME_INSTANCE } });
    const response = await api.fetch(path, { method });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(SOME_WORKFLOW);
    const options = action === 'terminate' ? { detail: null } : {};
    const args = ['w1', action, 'anonymous', options];
    expect(api.calls).toEqual([{ method: 'instances.control', args }]);
  });
});

describe('GET /api/workflow', () => {
  const host = { 'instances.list': async () => ({ items: [SOME_INSTANCE], nextCursor: null }) };

  it('returns runs without their data', async () => {
    const api = await startApi({ host });
    const { data, debounce, lastError, ...summary } = SOME_WORKFLOW;
    expect([data, debounce, lastError]).toHaveLength(3);
    expect(await (await api.fetch('/api/workflow')).json()).toEqual({
      items: [summary],
      nextCursor: null,
    });
    expect(api.calls[0]!.args).toEqual([{ limit: 50, cursor: null }]);
  });

  it('passes filters to the host', async () => {
    const api = await startApi({ host });
    const query = new URLSearchParams({
      status: 'Complete',
      definitionId: 'a&b',
      version: '3',
      reference: '',
      startedFrom: '2026-01-02',
      startedTo: '2026-01-02T03:04:05.006+02:00',
      limit: '500',
      cursor: 'c',
    });
    expect((await api.fetch(`/api/workflow?${query.toString()}`)).status).toBe(200);
    expect(api.calls[0]!.args).toEqual([
      {
        limit: 500,
        cursor: 'c',
        status: 'Complete',
        definitionId: 'a&b',
        version: 3,
        reference: '',
        startedFrom: Date.UTC(2026, 0, 2),
        startedTo: Date.UTC(2026, 0, 2, 1, 4, 5, 6),
      },
    ]);
  });

  it.each(['failedFrom', 'unchangedSince'])('passes %s to the host', async (filter) => {
    const api = await startApi({ host });
    expect((await api.fetch(`/api/workflow?${filter}=2026-01-02&status=Suspended`)).status).toBe(
      200,
    );
    expect(api.calls[0]!.args).toEqual([
      { limit: 50, cursor: null, status: 'Suspended', [filter]: Date.UTC(2026, 0, 2) },
    ]);
  });

  it('reads a time without a zone as UTC', async () => {
    const api = await startApi({ host });
    await api.fetch('/api/workflow?startedFrom=2026-01-02T03:04');
    expect(api.calls[0]!.args).toMatchObject([{ startedFrom: Date.UTC(2026, 0, 2, 3, 4) }]);
  });

  it.each([
    'status=running',
    'status=Complete&status=Runnable',
    'version=0',
    'version=x',
    'startedFrom=yesterday',
    'startedFrom=2026-13-01',
    'startedTo=',
    'startedTo=5',
    'failedFrom=now',
    'unchangedSince=',
    'failedFrom=2026-01-02&unchangedSince=2026-01-02',
    'limit=0',
    'limit=501',
    'limit=ten',
    'definitionId=a&definitionId=b',
  ])('rejects ?%s', async (query) => {
    const api = await startApi({ host });
    const response = await api.fetch(`/api/workflow?${query}`);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'invalid_request' });
    expect(api.calls).toEqual([]);
  });

  it('names the invalid filters', async () => {
    const api = await startApi({ host });
    const problem = await problemOf(await api.fetch('/api/workflow?limit=0&status=x'));
    const parameters = (problem['errors'] as { parameter: string }[]).map((e) => e.parameter);
    expect(parameters.sort()).toEqual(['limit', 'status']);
  });

  it('does not interpret a parameter in brackets as an operator', async () => {
    const api = await startApi({ host });
    expect((await api.fetch('/api/workflow?status[$ne]=x')).status).toBe(400);
    expect(api.calls).toEqual([]);
  });
});

describe('GET /api/workflow/{id}/steps', () => {
  const step = {
    executionId: 7,
    stepId: 's',
    stepType: 'WaitFor',
    name: null,
    status: 'Waiting',
    attempt: 1,
    startTime: 0,
    endTime: null,
    item: { n: 1 },
    index: 0,
    inputs: {},
    outputs: null,
    error: null,
    reason: null,
    childWorkflowId: null,
    compensates: null,
  } as const;

  it.each([
    [null, null],
    [
      { kind: 'retry', until: 0 },
      { kind: 'retry', until: '1970-01-01T00:00:00.000Z' },
    ],
    [
      { kind: 'event', eventName: 'n', eventKey: 'k' },
      { kind: 'event', eventName: 'n', eventKey: 'k' },
    ],
    [
      { kind: 'steps', open: 2 },
      { kind: 'steps', open: 2 },
    ],
  ] as const)('shows that a step is waiting for %j', async (waitsFor, shown) => {
    const page = { items: [{ ...step, waitsFor }], nextCursor: 'c' };
    const api = await startApi({ host: { 'instances.listSteps': async () => page } });
    const response = await api.fetch('/api/workflow/w1/steps?limit=2');
    expect(await response.json()).toEqual({
      items: [{ ...step, startTime: '1970-01-01T00:00:00.000Z', waitsFor: shown }],
      nextCursor: 'c',
    });
    const filter = { stepId: null, status: null, item: null, turn: null, search: null };
    const request = { limit: 2, cursor: null, order: 'asc', ...filter };
    expect(api.calls[0]!.args).toEqual(['w1', request]);
  });
});
