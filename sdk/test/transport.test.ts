/** How calls behave on failures: small real servers fail on purpose. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isApiError, isNetworkError, isTimeoutError, SdkError } from '../src/index.js';
import { endless, halfAnAnswer, json, problem, reset, silence } from './support/http-answers.js';
import { QUICK_RETRY } from './support/started-server.js';
import { freePort } from './support/free-port.js';

import { answering, clientOf, failureOf, INFO, ok } from './support/failing-servers.js';

describe('a retry', () => {
  it.each([
    ['a broken connection', reset],
    ['a truncated response', halfAnAnswer],
    ['status 429', problem(429, 'too_many_requests')],
    ['status 502 from a proxy', json(502, 'Bad Gateway')],
    ['status 503', problem(503, 'store_unavailable')],
    ['status 504 from a proxy', json(504, 'Gateway Timeout')],
    ['a token that expired during the call', problem(401, 'authorization_ended')],
  ])('follows %s', async (_name, failure) => {
    const { server, client } = await answering(failure, failure, ok);
    expect(await client.info()).toEqual(INFO);
    expect(server.seen).toHaveLength(3);
  });

  it.each([
    ['status 400', 400, 'invalid_request'],
    ['a token that is not accepted', 401, 'unauthenticated'],
    ['status 404', 404, 'workflow_not_found'],
    ['status 409', 409, 'idempotency_conflict'],
    ['status 500', 500, 'internal'],
  ])('does not follow %s', async (_name, status, code) => {
    const { server, client } = await answering(problem(status, code), ok);
    expect(await failureOf(client.info())).toMatchObject({ status, code, attempts: 1 });
    expect(server.seen).toHaveLength(1);
  });

  it('stops at the limit, with the last failure', async () => {
    const { server, client } = await answering(problem(503, 'overloaded'));
    const error = await failureOf(client.info({ retry: { limit: 2 } }));
    expect(error).toMatchObject({ name: 'ApiError', code: 'overloaded', attempts: 3 });
    expect(server.seen).toHaveLength(3);
  });

  it('does not happen when it is turned off', async () => {
    const { server, client } = await answering(reset, ok);
    expect(isNetworkError(await failureOf(client.info({ retry: false })))).toBe(true);
    expect(server.seen).toHaveLength(1);
  });

  it('is delayed exponentially, with jitter', async () => {
    const { server, client } = await answering(reset, reset, reset, ok);
    await client.info({ retry: { delayMs: 100, delayMsMax: 10_000 } });
    const pauses = server.seen.slice(1).map(({ atMs }, index) => atMs - server.seen[index]!.atMs);
    for (const [index, pauseMs] of pauses.entries()) {
      expect(pauseMs).toBeGreaterThanOrEqual(50 * 2 ** index - 2);
    }
    // Without jitter, it would be 700 ms. If the random delays were all 0, the test could not tell.
    expect(pauses[0]! + pauses[1]! + pauses[2]!).toBeLessThan(5000);
  });

  it('is delayed by Retry-After', async () => {
    const { server, client } = await answering(
      problem(503, 'overloaded', { 'retry-after': '1' }),
      ok,
    );
    expect(await client.info()).toEqual(INFO);
    expect(server.seen[1]!.atMs - server.seen[0]!.atMs).toBeGreaterThanOrEqual(990);
  });

  it('is skipped if Retry-After exceeds the timeout of the call', async () => {
    const { server, client } = await answering(problem(429, 'busy', { 'retry-after': '3600' }));
    const began = performance.now();
    const error = await failureOf(client.info({ timeoutMs: 40_000 }));
    expect(error).toMatchObject({ status: 429, retryAfterMs: 3_600_000, attempts: 1 });
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(server.seen).toHaveLength(1);
  });

  it('sends the same request again, after a failure and after a timeout', async () => {
    const started = json(201, { workflowId: 'w' });
    const { server, client } = await answering(reset, silence, halfAnAnswer, started);
    const data = { text: 'ä'.repeat(100_000), big: 12345678901234567890n };
    await client.workflows.start('x', data, { retry: { attemptTimeoutMs: 1000 } });
    const sent = server.seen.map(({ body, headers, method, path }) => ({
      body,
      headers,
      method,
      path,
    }));
    const [first, ...others] = sent;
    expect(JSON.parse(first!.body)).toMatchObject({ text: data.text });
    expect(first!.body).toContain('12345678901234567890');
    expect(others).toEqual([first, first, first]);
  });

  it('follows an attempt that gets no response', async () => {
    const { server, client } = await answering(silence, ok);
    expect(await client.info({ retry: { attemptTimeoutMs: 1000 } })).toEqual(INFO);
    expect(server.seen).toHaveLength(2);
  });
});

describe('a call that is not safe to repeat', () => {
  const workflow = { workflowId: 'w', status: 'Suspended' };

  it.each([
    ['status 429', problem(429, 'too_many_requests')],
    ['an overloaded server', problem(503, 'overloaded')],
    ['a stopping server', problem(503, 'stopping')],
  ])('is retried after %s, because the server has not executed it', async (_name, failure) => {
    const { server, client } = await answering(failure, json(200, workflow));
    expect(await client.workflows.suspend('w')).toEqual(workflow);
    expect(server.seen).toHaveLength(2);
  });

  it.each([
    ['a broken connection', reset],
    ['a truncated response', halfAnAnswer],
    ['an unavailable store', problem(503, 'store_unavailable')],
    ['status 502 from a proxy', json(502, 'Bad Gateway')],
  ])('is not retried after %s', async (_name, failure) => {
    const { server, client } = await answering(failure, json(200, workflow));
    expect(await failureOf(client.workflows.suspend('w'))).toBeInstanceOf(SdkError);
    expect(
      await failureOf(clientOf(server.url).workflows.suspend('w')).then(
        () => 0,
        () => 1,
      ),
    ).toBe(1);
    expect(server.seen).toHaveLength(2);
  });

  it('is retried if no connection could be established', async () => {
    const port = await freePort();
    const client = clientOf(`http://127.0.0.1:${port}`, { retry: { ...QUICK_RETRY, limit: 2 } });
    expect(await failureOf(client.workflows.suspend('w'))).toMatchObject({
      name: 'NetworkError',
      code: 'ECONNREFUSED',
      attempts: 3,
      workflowId: 'w',
    });
  });
});

describe('an idempotency key', () => {
  it('is the same in all attempts of a call, and different for each call', async () => {
    const started = json(201, { workflowId: 'w' });
    const { server, client } = await answering(reset, reset, started);
    await client.workflows.start('x');
    await client.workflows.start('x');
    await client.workflows.start('x', {}, { idempotencyKey: 'order-7' });
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
    expect(keys[4]).toBe('order-7');
  });
});

describe('a timeout', () => {
  it('ends a call with all of its attempts and delays', async () => {
    const { client } = await answering(silence);
    const began = performance.now();
    const error = await failureOf(
      client.info({ timeoutMs: 300, retry: { attemptTimeoutMs: 100 } }),
    );
    expect(isTimeoutError(error)).toBe(true);
    expect(performance.now() - began).toBeGreaterThanOrEqual(295);
    expect(performance.now() - began).toBeLessThan(8000);
  });

  it('is the only limit on retries by default, and the error contains the last failure', async () => {
    const { client } = await answering(problem(503, 'overloaded'));
    const error = await failureOf(client.info({ timeoutMs: 400 }));
    if (!isTimeoutError(error)) throw error;
    expect(error.attempts).toBeGreaterThan(6);
    expect(isApiError(error.cause, 'overloaded')).toBe(true);
    expect(error.message).toMatch(/^GET \/api\/info: no response within \d+ ms; .*503 overloaded/);
  });

  it('reports the last real failure rather than an attempt that timed out after it', async () => {
    const { client } = await answering(reset, silence);
    const error = await failureOf(client.info({ timeoutMs: 2000 }));
    if (!isTimeoutError(error)) throw error;
    expect(error.attempts).toBe(2);
    expect(isNetworkError(error.cause)).toBe(true);
  });

  it('ends a `fetch` and a `token` function that ignore the signal', async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    for (const options of [{ fetch: never }, { token: never }]) {
      const client = clientOf('http://127.0.0.1:9', options);
      expect(isTimeoutError(await failureOf(client.info({ timeoutMs: 50 })))).toBe(true);
    }
  });

  it('ends a response that starts but does not finish', async () => {
    const { client, server } = await answering(endless, ok);
    expect(await client.info({ retry: { attemptTimeoutMs: 1000 } })).toEqual(INFO);
    expect(server.seen).toHaveLength(2);
  });

  it.each([-1, NaN])('is rejected with the value %s', async (timeoutMs) => {
    const { client, server } = await answering(ok);
    expect(await failureOf(client.info({ timeoutMs }))).toBeInstanceOf(RangeError);
    expect(server.seen).toHaveLength(0);
    expect(() => clientOf(server.url, { timeoutMs })).toThrow(RangeError);
  });

  it('does not delay an abort by the signal, during an attempt or a delay', async () => {
    const { client } = await answering(silence);
    const failing = await answering(reset);
    for (const call of [
      (signal: AbortSignal) => client.info({ signal }),
      (signal: AbortSignal) =>
        failing.client.info({ signal, retry: { delayMs: 60_000, delayMsMax: 60_000 } }),
    ]) {
      const error = await failureOf(call(AbortSignal.timeout(100)));
      expect(error).toMatchObject({ name: 'TimeoutError' });
      expect(error).toBeInstanceOf(DOMException);
    }
  });
});

describe('a signal that is reused for many calls', () => {
  it('ends a `fetch` and a `token` function that ignore it, with its reason', async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    for (const options of [{ fetch: never }, { token: never }]) {
      const leave = new AbortController();
      const call = clientOf('http://127.0.0.1:9', options).info({ signal: leave.signal });
      const reason = new RangeError('the page was left');
      leave.abort(reason);
      expect(await failureOf(call)).toBe(reason);
    }
  });

  it('has no listeners left after a call has ended', async () => {
    const { client } = await answering(ok, reset, ok, problem(400, 'invalid_request'));
    const { signal } = new AbortController();
    await client.info({ signal });
    await client.info({ signal });
    await failureOf(client.info({ signal }));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('a header', () => {
  const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  it('is added to every attempt, and a function is called each time', async () => {
    const { server } = await answering(reset, ok);
    let asked = 0;
    const client = clientOf(server.url, {
      headers: () => ({ traceparent: TRACE, 'x-attempt': String((asked += 1)) }),
      token: 'fixed',
    });
    await client.info();
    expect(server.seen.map(({ headers }) => headers['x-attempt'])).toEqual(['1', '2']);
    expect(server.seen[1]?.headers).toMatchObject({
      traceparent: TRACE,
      authorization: 'Bearer fixed',
    });
    await clientOf(server.url, { headers: { 'x-proxy': 'shop' } }).info();
    expect(server.seen.at(-1)?.headers['x-proxy']).toBe('shop');
  });

  it('is sent only in the attempts for which the function returns it', async () => {
    const { server } = await answering(reset, ok);
    let asked = 0;
    const headers = (): Record<string, string> => ((asked += 1) === 1 ? { 'x-first': 'yes' } : {});
    await clientOf(server.url, { headers }).info();
    expect(server.seen.map((request) => request.headers['x-first'])).toEqual(['yes', undefined]);
  });

  it('fails the call immediately if its function fails', async () => {
    const { server } = await answering(ok);
    const reason = new TypeError('no header today');
    const client = clientOf(server.url, { headers: () => Promise.reject(reason) });
    expect(await failureOf(client.info())).toBe(reason);
    expect(server.seen).toHaveLength(0);
  });
});

describe('a token', () => {
  it('is sent with every attempt, and a token function is called each time', async () => {
    const { server } = await answering(reset, ok);
    let asked = 0;
    const client = clientOf(server.url, {
      token: async () => {
        asked += 1;
        return `t-${asked}`;
      },
    });
    await client.info();
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer t-1',
      'Bearer t-2',
    ]);
    await clientOf(server.url, { token: 'fixed' }).info();
    expect(server.seen.at(-1)!.headers.authorization).toBe('Bearer fixed');
  });

  it("fails the call immediately if its function fails, with the function's error", async () => {
    const { server } = await answering(ok);
    const reason = new TypeError('the identity provider is away');
    const client = clientOf(server.url, { token: () => Promise.reject(reason) });
    expect(await failureOf(client.info())).toBe(reason);
    expect(server.seen).toHaveLength(0);
  });

  it('does not appear in any error', async () => {
    const secret = 'secret-token';
    const { inspect } = await import('node:util');
    for (const answer of [problem(401, 'unauthenticated'), reset, silence, json(200, 'x')]) {
      const { server } = await answering(answer);
      const client = clientOf(server.url, { token: secret });
      const error = await failureOf(
        client.activities
          .succeed('work-token', null, { retry: { limit: 1 }, timeoutMs: 200 })
          .then(() => Promise.reject(new Error('no'))),
      );
      expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(
        /secret-token|work-token/,
      );
    }
  });
});

describe('a response that does not come from the API', () => {
  it('is rejected with an InvalidAnswerError', async () => {
    const { client } = await answering((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<h1>Log in</h1>');
    });
    expect(await failureOf(client.info())).toMatchObject({
      name: 'InvalidAnswerError',
      message: 'GET /api/info: expected JSON, but got text/html with status 200',
    });
  });

  it('becomes an error with its status if it is an error status', async () => {
    const { client } = await answering((_request, response) => {
      response.writeHead(403, { 'content-type': 'text/html' });
      response.end('<h1>Keep out</h1>');
    });
    const error = await failureOf(client.info());
    expect(error).toMatchObject({ status: 403, code: 'http_403' });
    expect(isApiError(error, 'http_403')).toBe(true);
    expect(isApiError(error, 'forbidden')).toBe(false);
  });
});
