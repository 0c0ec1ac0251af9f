/** The contract over HTTP, call by call: events, activities and their workers, repeated requests. */
import { describe, expect, it } from 'vitest';
import {
  activityStep,
  contractServer,
  GREET,
  WAIT,
  type Items,
  type WorkItem,
  type Workflow,
} from './support/contract-server.js';

const { baseUrl, call, define, ended, freshName, start } = contractServer();

describe('the event endpoint', () => {
  it.each([
    ['an object', { json: { yes: true } }, { yes: true }],
    ['null', { json: null }, null],
    ['a YAML scalar', { yaml: '2026-05-04' }, '2026-05-04'],
    ['a list', { yaml: '[1, x]' }, [1, 'x']],
  ])('accepts %s', async (_what, body, answer) => {
    const key = freshName('k');
    const { workflowId } = await start(await define([WAIT]), { key });
    const published = await call(`POST /api/event/answered/${key}`, body);
    expect(published.status).toBe(202);
    expect(published.body).toEqual({
      id: expect.any(String) as unknown,
      deliveredTo: expect.any(Number) as unknown,
    });
    expect(await ended(workflowId)).toMatchObject({ status: 'Complete', data: { answer } });
  });

  it('accepts an event that no run is waiting for', async () => {
    const key = freshName('größe/ü');
    const definition = await define([
      { id: 'd', stepType: 'Delay', inputs: { Period: '1' }, nextStepId: 'ask' },
      WAIT,
    ]);
    const { workflowId } = await start(definition, { key });
    const path = `POST /api/event/answered/${encodeURIComponent(key)}`;
    expect((await call(path, { json: 1 })).status).toBe(202);
    expect(await ended(workflowId)).toMatchObject({ status: 'Complete', data: { answer: 1 } });
  });

  it('rejects an unreadable body', async () => {
    const { status, body } = await call('POST /api/event/a/b', { yaml: 'a: [' });
    expect([status, body['code'], body['line']]).toEqual([400, 'unreadable_body', 1]);
  });
});

describe('the worker protocol', () => {
  it('hands out work, accepts a result, and accepts it again', async () => {
    const name = freshName('act');
    const { workflowId } = await start(await define([activityStep(name)]), { n: 5 });
    const pulled = await call<WorkItem>(`GET /api/activity/${name}?workerId=me&timeout=10`);
    expect(pulled.status).toBe(200);
    expect(pulled.body).toEqual({
      token: expect.any(String) as unknown,
      activityName: name,
      parameters: { n: 5, kind: 'plain' },
      tokenExpiry: '9999-12-31T23:59:59.9999999',
      workflowId,
      stepId: 'work',
      executionId: 1,
      idempotencyKey: `${workflowId}/1`,
      attempt: 1,
    });
    expect((await call(`GET /api/activity/${name}`)).status).toBe(404);
    const line = `POST /api/activity/success/${pulled.body.token}`;
    expect((await call(line, { json: { ok: 1 } })).status).toBe(202);
    expect((await call(line, { json: { ok: 1 } })).status).toBe(202);
    expect((await call(line, { json: { ok: 2 } })).status).toBe(404);
    expect(await ended(workflowId)).toMatchObject({
      status: 'Complete',
      data: { result: { ok: 1 } },
    });
  });

  it('answers a waiting poll as soon as work appears', async () => {
    const name = freshName('act');
    const definition = await define([activityStep(name)]);
    const poll = call<WorkItem>(`GET /api/activity/${name}?timeout=20`);
    const { workflowId } = await start(definition, { n: 1 });
    const began = performance.now();
    expect((await poll).body).toMatchObject({ workflowId });
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('answers 404 when the poll timeout has passed', async () => {
    const began = performance.now();
    const { status, body } = await call(`GET /api/activity/${freshName('act')}?timeout=1`);
    expect([status, body['code']]).toEqual([404, 'no_work']);
    expect(performance.now() - began).toBeGreaterThan(950);
  });

  it('fails the step with the error that the worker reports', async () => {
    const name = freshName('act');
    const { workflowId } = await start(await define([activityStep(name)]), { n: 5 });
    const { body } = await call<WorkItem>(`GET /api/activity/${name}?timeout=10`);
    const reason = { why: 'no funds' };
    expect((await call(`POST /api/activity/fail/${body.token}`, { json: reason })).status).toBe(
      202,
    );
    expect(await ended(workflowId)).toMatchObject({ status: 'Terminated' });
    const { body: steps } = await call<Items>(`GET /api/workflow/${workflowId}/steps`);
    expect(steps.items).toMatchObject([{ stepId: 'work', error: { data: reason } }]);
  });

  it('leases a work item, extends the lease and releases the item', async () => {
    const name = freshName('act');
    const { workflowId } = await start(await define([activityStep(name)]), { n: 5 });
    const first = await call<WorkItem>(`GET /api/activity/${name}?timeout=10&lease=60`);
    const { token, tokenExpiry } = first.body;
    expect(tokenExpiry).toMatch(/^\d{4}-.*Z$/);
    const longer = await call<WorkItem>(`PUT /api/activity/${token}/heartbeat?lease=600`);
    expect(longer.status).toBe(200);
    expect(Date.parse(longer.body.tokenExpiry)).toBeGreaterThan(Date.parse(tokenExpiry) + 500_000);

    expect((await call(`DELETE /api/activity/${token}`)).status).toBe(202);
    const second = await call<WorkItem>(`GET /api/activity/${name}?timeout=10`);
    expect(second.body).toMatchObject({ workflowId, attempt: 2 });
    for (const line of [
      `DELETE /api/activity/${token}`,
      `PUT /api/activity/${token}/heartbeat?lease=5`,
      `POST /api/activity/success/${token}`,
      `POST /api/activity/fail/${token}`,
    ]) {
      const { status, body } = await call(line);
      expect([status, body['code']], line).toEqual([404, 'activity_not_found']);
    }
    expect((await call(`POST /api/activity/success/${second.body.token}`)).status).toBe(202);
    expect(await ended(workflowId)).toMatchObject({ status: 'Complete', data: { result: null } });
  });

  it('loses no work item when a worker disconnects during a poll', async () => {
    const name = freshName('act');
    const definition = await define([activityStep(name)]);
    const hangUp = new AbortController();
    const polls = Array.from({ length: 5 }, () =>
      fetch(`${baseUrl()}/api/activity/${name}?timeout=60`, { signal: hangUp.signal }).catch(
        () => null,
      ),
    );
    // A second poll for another name is answered after the server has received the first ones.
    await call(`GET /api/activity/${freshName('other')}`);
    hangUp.abort();
    await Promise.all(polls);
    const { workflowId } = await start(definition, { n: 1 });
    const { status, body } = await call<WorkItem>(`GET /api/activity/${name}?timeout=10`);
    expect([status, body['workflowId']]).toEqual([200, workflowId]);
  });

  it.each(['nonsense', 'a.b', '%2F', 'x'.repeat(3_000)])(
    'rejects the unknown token %s',
    async (token) => {
      expect((await call(`POST /api/activity/success/${token}`)).status).toBe(404);
    },
  );
});

describe('a request repeated with the same Idempotency-Key', () => {
  it('starts one run', async () => {
    const id = await define([GREET]);
    const headers = { 'idempotency-key': freshName('key') };
    const line = `POST /api/workflow/${id}`;
    const first = await call<Workflow>(line, { json: { name: 'A' }, headers });
    const second = await call<Workflow>(line, { yaml: 'name: A', headers });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.workflowId).toBe(first.body.workflowId);
    const other = await call(line, { json: { name: 'B' }, headers });
    expect([other.status, other.body['code']]).toEqual([409, 'idempotency_conflict']);
    expect((await call<Items>(`GET /api/workflow?definitionId=${id}`)).body.items).toHaveLength(1);
  });

  it('publishes one event', async () => {
    const headers = { 'idempotency-key': freshName('key') };
    const line = `POST /api/event/answered/${freshName('k')}`;
    const first = await call(line, { json: 1, headers });
    expect((await call(line, { json: 1, headers })).body['id']).toBe(first.body['id']);
    expect((await call(line, { json: 2, headers })).status).toBe(409);
  });

  it('stores one version', async () => {
    const id = freshName('d');
    const headers = { 'idempotency-key': freshName('key') };
    const post = (steps: unknown[]) =>
      call('POST /api/definition', { json: { id, steps }, headers });
    expect((await post([GREET])).body).toMatchObject({ version: 1 });
    expect((await post([GREET])).body).toMatchObject({ version: 1 });
    expect((await post([WAIT])).status).toBe(409);
  });
});
