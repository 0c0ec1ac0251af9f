/** Errors: each is a problem document, whatever the cause and whatever the client accepts. */
import { describe, expect, it } from 'vitest';
import { PROBLEM_KINDS } from '../../../src/api/http/problem-details.js';
import { AppError, type ErrorCode } from '../../../src/base/errors.js';
import { StoreUnavailableError } from '../../../src/store/store.js';
import { problemOf, startApi } from '../support/api-server.js';

const STATUSES: Record<ErrorCode, number> = {
  invalid_request: 400,
  invalid_definition: 400,
  invalid_script: 400,
  invalid_data: 400,
  unreadable_body: 400,
  unsupported_media_type: 415,
  body_too_large: 413,
  definition_not_found: 404,
  definition_disabled: 409,
  key_name_in_use: 409,
  reference_in_use: 409,
  concurrency_reached: 409,
  queue_full: 429,
  expression_failed: 400,
  input_not_found: 404,
  event_not_found: 404,
  key_not_found: 404,
  webhook_not_found: 404,
  limit_not_found: 404,
  limit_in_use: 409,
  workflow_not_found: 404,
  bulk_job_not_found: 404,
  notification_not_found: 404,
  delivery_not_found: 404,
  trigger_not_found: 404,
  authorization_ended: 401,
  execution_not_found: 404,
  step_not_found: 404,
  activity_not_found: 404,
  work_cancelled: 404,
  no_work: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  status_conflict: 400,
  action_conflict: 409,
  modification_impossible: 409,
  modification_pending: 503,
  reserved_step_name: 409,
  idempotency_conflict: 409,
  too_many_bulk_jobs: 409,
  unauthenticated: 401,
  forbidden: 403,
  host_not_allowed: 403,
  cross_origin: 403,
  too_many_requests: 429,
  overloaded: 503,
  store_unavailable: 503,
  python_unavailable: 503,
  sealing_key_unavailable: 503,
  stopping: 503,
  internal: 500,
};

function failingWith(error: Error) {
  return startApi({
    host: {
      'instances.get': async () => {
        throw error;
      },
    },
  });
}

describe('a problem document', () => {
  it.each(Object.entries(STATUSES))('maps %s to status %i', async (code, status) => {
    const api = await failingWith(new AppError(code as ErrorCode, 'So it is'));
    const response = await api.fetch('/api/workflow/w1');
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await problemOf(response)).toEqual({
      type: `urn:stepwright:problem:${code}`,
      title: PROBLEM_KINDS[code as ErrorCode].title,
      status,
      detail: 'So it is',
      code,
    });
  });

  it('includes ids, which do not replace the standard members', async () => {
    const fields = { workflowId: 'w1', status: 'mine', code: 'mine' };
    const api = await failingWith(new AppError('workflow_not_found', 'No', { fields }));
    expect(await problemOf(await api.fetch('/api/workflow/w1'))).toMatchObject({
      workflowId: 'w1',
      status: 404,
      code: 'workflow_not_found',
    });
  });

  it('starts with the standard members', async () => {
    const fields = { workflowId: 'w1' };
    const api = await failingWith(new AppError('workflow_not_found', 'No', { fields }));
    const names = Object.keys(await problemOf(await api.fetch('/api/workflow/w1')));
    expect(names).toEqual(['type', 'title', 'status', 'detail', 'code', 'workflowId']);
  });

  it('includes Retry-After', async () => {
    const api = await failingWith(new AppError('overloaded', 'Busy', { retryAfterSeconds: 1.2 }));
    expect((await api.fetch('/api/workflow/w1')).headers.get('retry-after')).toBe('2');
  });

  it('reports an unavailable store with 503', async () => {
    const api = await failingWith(new StoreUnavailableError('connection refused at db:27017'));
    const response = await api.fetch('/api/workflow/w1');
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.text()).not.toContain('27017');
  });

  it('is JSON even if the client accepts YAML', async () => {
    const api = await failingWith(new AppError('workflow_not_found', 'No'));
    const response = await api.fetch('/api/workflow/w1', { headers: { accept: 'text/yaml' } });
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  });

  it('contains an id for an unexpected error, which the log contains too', async () => {
    const api = await failingWith(new Error('secret detail'));
    const response = await api.fetch('/api/workflow/w1');
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain('secret');
    expect(text).not.toContain('at ');
    const { errorId } = JSON.parse(text) as { errorId: string };
    expect(api.logLines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        errorId,
        err: expect.objectContaining({ message: 'secret detail' }) as unknown,
      }),
    );
  });

  it('reports an unknown path', async () => {
    const api = await startApi();
    const response = await api.fetch('/api/nothing?x=1');
    expect(response.status).toBe(404);
    expect(await problemOf(response)).toMatchObject({ code: 'route_not_found' });
  });

  it.each([
    ['PATCH', '/api/workflow/w1', 'DELETE, GET, POST'],
    ['POST', '/api/workflow', 'GET, PATCH'],
    ['DELETE', '/api/definition', 'GET, POST'],
    ['GET', '/api/workflow/w1/suspend', 'PUT'],
    ['GET', '/api/event/a/b', 'POST'],
    ['PUT', '/API/Info/', 'GET'],
    ['POST', '/swagger', 'GET'],
  ])('lists the allowed methods for %s %s', async (method, path, allow) => {
    const api = await startApi();
    const response = await api.fetch(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
    expect(await problemOf(response)).toMatchObject({ code: 'method_not_allowed' });
  });

  it('rejects HEAD where GET hands out work', async () => {
    const api = await startApi();
    const response = await api.fetch('/api/activity/charge', { method: 'HEAD' });
    expect(response.status).toBe(405);
    expect(api.calls).toEqual([]);
  });

  it.each(['/api/workflow/%E0%A4%A', '/api/workflow/%', '/api/definition/%ff'])(
    'rejects the path %s',
    async (path) => {
      const api = await startApi();
      const response = await api.fetch(path);
      expect(response.status).toBe(400);
      expect(await problemOf(response)).toMatchObject({ code: 'invalid_request' });
    },
  );

  it('reveals nothing about the server', async () => {
    const api = await startApi();
    const { headers } = await api.fetch('/api/nothing');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});
