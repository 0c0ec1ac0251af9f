/** What a call about workflows becomes: one call of the host, and its answer on the wire. */
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.js';
import { problemOf, startApi } from './support/api-server.js';
import { SOME_INSTANCE } from './support/scripted-host.js';

const SOME_WORKFLOW = {
  workflowId: 'w1',
  definitionId: 'greeting',
  version: 3,
  reference: null,
  status: 'Runnable',
  startTime: '2026-05-04T10:20:30.123Z',
  endTime: null,
  data: { name: 'Ada' },
  lastError: null,
};

describe('POST /api/workflow/{id}', () => {
  it('starts with the data of the body and answers 201 with the place of the instance', async () => {
    const api = await startApi({ host: { startWorkflow: async () => SOME_INSTANCE } });
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
        method: 'startWorkflow',
        args: [
          { definitionId: 'greeting', data: { name: 'Ada' }, reference: 'r-1', idempotency: null },
        ],
      },
    ]);
  });

  it('starts with {} without a body', async () => {
    const api = await startApi({ host: { startWorkflow: async () => SOME_INSTANCE } });
    const response = await api.fetch('/api/workflow/greeting', { method: 'POST' });
    expect(response.status).toBe(201);
    expect(api.calls[0]!.args).toMatchObject([{ data: {} }]);
  });

  it.each(['[1]', '"text"', 'null', '5'])('refuses the data %s', async (body) => {
    const api = await startApi();
    const response = await api.post('/api/workflow/greeting', body, 'application/json');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'invalid_request' });
  });

  it('says that there is no such definition', async () => {
    const api = await startApi({
      host: {
        startWorkflow: async () => {
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
