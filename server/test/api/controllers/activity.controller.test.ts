/** Activities over HTTP: the limits of a poll, the expiry of a token, and work whose poller has disconnected. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.js';
import type { PullRequest, WorkItem } from '../../../src/runtime/activities/activity-types.js';
import { FAR_FUTURE_MS } from '../../../src/store/store.js';
import { problemOf, startApi } from '../support/api-server.js';
import { deferred } from '../support/deferred.js';

const ITEM: WorkItem = {
  token: 't-1',
  activityName: 'charge',
  parameters: { amount: 5 },
  storedLength: 50,
  tokenExpiresAt: null,
  workflowId: 'w1',
  stepId: 's1',
  executionId: 7,
  idempotencyKey: 'w1/7',
  attempt: 1,
};

const WIRE_ITEM = {
  token: 't-1',
  activityName: 'charge',
  parameters: { amount: 5 },
  tokenExpiry: '9999-12-31T23:59:59.9999999',
  workflowId: 'w1',
  stepId: 's1',
  executionId: 7,
  idempotencyKey: 'w1/7',
  attempt: 1,
};

describe('GET /api/activity/{name}', () => {
  it('returns a work item without an expiry', async () => {
    const api = await startApi({ host: { 'activities.pull': async () => ITEM } });
    const response = await api.fetch('/api/activity/charge?workerId=me');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(WIRE_ITEM);
    expect(api.calls).toHaveLength(1);
    expect(api.calls[0]!.args).toMatchObject([
      { name: 'charge', workerId: 'me', timeoutMs: 0, leaseMs: null },
    ]);
  });

  it.each([
    [FAR_FUTURE_MS, '9999-12-31T23:59:59.9999999'],
    [Date.UTC(2026, 4, 4, 10, 20, 30, 5), '2026-05-04T10:20:30.005Z'],
  ])('returns the expiry %i as %s', async (tokenExpiresAt, tokenExpiry) => {
    const api = await startApi({
      host: { 'activities.pull': async () => ({ ...ITEM, tokenExpiresAt }) },
    });
    expect(await (await api.fetch('/api/activity/charge')).json()).toMatchObject({ tokenExpiry });
  });

  it('answers 404 if no work appears', async () => {
    const api = await startApi({ host: { 'activities.pull': async () => null } });
    const response = await api.fetch('/api/activity/charge');
    expect(response.status).toBe(404);
    expect(await problemOf(response)).toMatchObject({ code: 'no_work' });
  });

  it.each([
    ['timeout=30&lease=60', { timeoutMs: 30_000, leaseMs: 60_000 }],
    ['timeout=0', { timeoutMs: 0, leaseMs: null }],
    ['timeout=99999999999', { timeoutMs: 120_000 }],
    ['lease=99999999', { leaseMs: 86_400_000 }],
    ['', { timeoutMs: 0, workerId: '' }],
  ])('accepts ?%s', async (query, expected) => {
    const api = await startApi({ host: { 'activities.pull': async () => ITEM } });
    expect((await api.fetch(`/api/activity/charge?${query}`)).status).toBe(200);
    expect(api.calls[0]!.args).toMatchObject([expected]);
  });

  it.each([
    'timeout=1e3',
    'timeout=-1',
    'timeout=NaN',
    'timeout=',
    'timeout=1.5',
    'timeout=0x10',
    'timeout=Infinity',
    'timeout=five',
    'timeout=1&timeout=2',
    'lease=0',
    'lease=-5',
    'lease=x',
    `workerId=${'x'.repeat(201)}`,
    'workerId=%00',
  ])('rejects ?%s', async (query) => {
    const api = await startApi();
    const response = await api.fetch(`/api/activity/charge?${query}`);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'invalid_request' });
  });

  it('names the invalid parameter', async () => {
    const api = await startApi();
    const problem = await problemOf(await api.fetch('/api/activity/charge?timeout=-1&lease=0'));
    expect(problem['detail']).toBe('timeout must not be negative; lease must be at least 1');
    expect(problem['errors']).toEqual([
      { code: 'invalid_parameter', parameter: 'timeout', message: 'must not be negative' },
      { code: 'invalid_parameter', parameter: 'lease', message: 'must be at least 1' },
    ]);
  });

  it('notifies the host when the worker disconnects', async () => {
    const { promise: aborted, resolve } = deferred<null>();
    const pull = ({ signal }: PullRequest) =>
      new Promise<null>((answer) => {
        signal.addEventListener('abort', () => {
          resolve(null);
          answer(null);
        });
      });
    const api = await startApi({ host: { 'activities.pull': pull } });
    const hangUp = new AbortController();
    const poll = api.fetch('/api/activity/charge?timeout=60', { signal: hangUp.signal });
    poll.catch(() => undefined);
    await once(api.server, 'request');
    hangUp.abort();
    await aborted;
  });

  it('releases an item that arrives after the worker has disconnected', async () => {
    const pulled = deferred<PullRequest>();
    const item = deferred<WorkItem>();
    const released = deferred<string>();
    const api = await startApi({
      host: {
        'activities.pull': (request) => {
          pulled.resolve(request);
          return item.promise;
        },
        'activities.release': async (token) => released.resolve(token),
      },
    });
    const socket = connect(api.port, '127.0.0.1', () =>
      socket.write('GET /api/activity/charge?timeout=60 HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    );
    const { signal } = await pulled.promise;
    socket.destroy();
    await once(signal, 'abort');
    item.resolve(ITEM);
    expect(await released.promise).toBe('t-1');
  });

  it('releases an item whose response could not be delivered', async () => {
    const released = deferred<string>();
    // Far more than the buffers of a connection hold, for a client that does not read.
    const parameters = 'x'.repeat(50_000_000);
    const api = await startApi({
      host: {
        'activities.pull': async () => ({ ...ITEM, parameters }),
        'activities.release': async (token) => released.resolve(token),
      },
    });
    const socket = connect(api.port, '127.0.0.1', () =>
      socket.write('GET /api/activity/charge HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    );
    await once(socket, 'readable');
    socket.destroy();
    expect(await released.promise).toBe('t-1');
  });

  it('keeps an item that was delivered', async () => {
    const api = await startApi({ host: { 'activities.pull': async () => ITEM } });
    for (let round = 0; round < 20; round += 1) {
      await (await api.fetch('/api/activity/charge')).text();
    }
    const again = await api.fetch('/api/activity/charge', { headers: { connection: 'close' } });
    await again.text();
    expect(api.calls.map(({ method }) => method)).not.toContain('activities.release');
  });
});

describe('a worker call', () => {
  it.each([
    ['success', '{"paid":true}', { succeeded: true, data: { paid: true } }],
    ['success', 'null', { succeeded: true, data: null }],
    ['success', '', { succeeded: true, data: null }],
    ['fail', '"no funds"', { succeeded: false, data: 'no funds', retryable: true }],
    ['fail', '', { succeeded: false, data: null, retryable: true }],
  ])('reports %s with %j', async (outcome, body, expected) => {
    const api = await startApi({ host: { 'activities.complete': async () => undefined } });
    const response = await api.post(`/api/activity/${outcome}/t-1`, body, 'application/json');
    expect(response.status).toBe(202);
    expect(await response.text()).toBe('');
    expect(api.calls).toEqual([{ method: 'activities.complete', args: ['t-1', expected] }]);
  });

  it.each([
    ['retry=false', false],
    ['Retry=false', false],
    ['retry=true', true],
  ])('decides with fail?%s whether another attempt is allowed', async (query, retryable) => {
    const api = await startApi({ host: { 'activities.complete': async () => undefined } });
    const response = await api.post(`/api/activity/fail/t-1?${query}`, '1', 'application/json');
    expect(response.status).toBe(202);
    expect(api.calls[0]!.args).toEqual(['t-1', { succeeded: false, data: 1, retryable }]);
  });

  it.each(['retry=no', 'retry=', 'retry=0', 'retry=true&retry=false'])(
    'rejects fail?%s',
    async (query) => {
      const api = await startApi();
      const response = await api.post(`/api/activity/fail/t-1?${query}`, '1', 'application/json');
      expect(response.status).toBe(400);
      expect(await problemOf(response)).toMatchObject({ errors: [{ parameter: 'retry' }] });
    },
  );

  it('answers 404 for a stale token', async () => {
    const api = await startApi({
      host: {
        'activities.complete': async () => {
          throw new AppError('activity_not_found', 'The token is stale');
        },
      },
    });
    const response = await api.fetch('/api/activity/success/t-1', { method: 'POST' });
    expect(response.status).toBe(404);
    expect(await problemOf(response)).toMatchObject({ code: 'activity_not_found' });
  });

  it.each([true, false])(
    'extends a lease, and says whether the work should end: %s',
    async (cancelRequested) => {
      const extended = { tokenExpiresAt: Date.UTC(2026, 0, 1), cancelRequested };
      const api = await startApi({ host: { 'activities.extend': async () => extended } });
      const response = await api.fetch('/api/activity/t-1/heartbeat?lease=30', { method: 'PUT' });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        tokenExpiry: '2026-01-01T00:00:00.000Z',
        cancelRequested,
      });
      expect(api.calls[0]!.args).toEqual(['t-1', 30_000]);
    },
  );

  it('extends a lease by its original duration if it gives none', async () => {
    const extended = { tokenExpiresAt: Date.UTC(2026, 0, 1), cancelRequested: false };
    const api = await startApi({ host: { 'activities.extend': async () => extended } });
    const response = await api.fetch('/api/activity/t-1/heartbeat', { method: 'PUT' });
    expect(response.status).toBe(200);
    expect(api.calls[0]!.args).toEqual(['t-1', null]);
  });

  it('releases an item', async () => {
    const api = await startApi({ host: { 'activities.release': async () => undefined } });
    const response = await api.fetch('/api/activity/t-1', { method: 'DELETE' });
    expect(response.status).toBe(202);
    expect(api.calls).toEqual([{ method: 'activities.release', args: ['t-1'] }]);
  });
});
