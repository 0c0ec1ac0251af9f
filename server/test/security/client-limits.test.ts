/** S-08, S-14 and S-19: how much one client may guess and wait, tested on the whole server. */
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { WorkTokenFailureLimit, WaitingLimit } from '../../src/api/http/address-limits.js';
import { AppError } from '../../src/base/errors.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { step } from '../behavior/support/steps.js';
import { serverForTests } from './support/secured-server.js';

const unknownToken = (): string =>
  `${Buffer.from(`x${Math.random()}`).toString('base64url')}.${'A'.repeat(22)}`;

describe('guessing the tokens of work items', () => {
  const at = serverForTests({ WRONG_TOKENS_PER_MINUTE_MAX: '20', TRUSTED_PROXIES: 'loopback' });

  /** Calls as if through a trusted proxy, so that each test has its own client address. */
  const complete = (token: string, address: string, call = 'POST success') => {
    const [method = '', verb = ''] = call.split(' ');
    const path =
      verb === 'success' || verb === 'fail'
        ? `/api/activity/${verb}/${token}`
        : `/api/activity/${token}${verb}`;
    return at.client.call<Problem>(method, path, { headers: { 'x-forwarded-for': address } });
  };

  it('is stopped at the limit, on all calls, but only for that address', async () => {
    const calls = ['POST success', 'POST fail', 'PUT /heartbeat?lease=5', 'DELETE '];
    for (let guess = 0; guess < 20; guess += 1) {
      const answer = await complete(unknownToken(), '192.0.2.1', calls[guess % calls.length]);
      expect(answer.status, answer.text).toBe(404);
    }
    const refused = await complete(unknownToken(), '192.0.2.1');
    expect(refused.status).toBe(429);
    expect(refused.body.code).toBe('too_many_requests');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await complete(unknownToken(), '192.0.2.2')).status).toBe(404);
  });

  it('is stopped even if the next token is right, which is not checked', async () => {
    await at.client.defineAndStart([step('a', 'Activity', { ActivityName: "'guarded'" })]);
    const { token } = await at.client.work('guarded');
    for (let guess = 0; guess < 20; guess += 1) await complete(unknownToken(), '192.0.2.3');
    expect((await complete(token, '192.0.2.3')).status).toBe(429);
    expect((await complete(token, '192.0.2.4')).status).toBe(202);
  });

  it('does not include repeated calls of a worker with the right token', async () => {
    const id = await at.client.defineAndStart([step('a', 'Activity', { ActivityName: "'again'" })]);
    const { token } = await at.client.work('again');
    for (let time = 0; time < 30; time += 1) {
      expect((await complete(token, '192.0.2.5')).status).toBe(202);
    }
    await at.client.ended(id);
  });

  it.each([
    ['that is empty', ''],
    ['that consists of dots', '...'],
    ['that is short', 'YQ.AAAA'],
    ['that is the base64 of nothing', '====.===='],
    ['that names another item', `${Buffer.from('other').toString('base64url')}.${'B'.repeat(22)}`],
    [
      'that names a prototype member',
      `${Buffer.from('__proto__').toString('base64url')}.${'C'.repeat(22)}`,
    ],
    [
      'that names an operator',
      `${Buffer.from('{"$gt":""}').toString('base64url')}.${'D'.repeat(22)}`,
    ],
    [
      'with invalid UTF-8',
      `${Buffer.from([0xff, 0xfe, 0]).toString('base64url')}.${'E'.repeat(22)}`,
    ],
    ['that is long', 'F'.repeat(12_000)],
    ['in a different casing', encodeURIComponent('ключ.ключ')],
  ])('gives 404 with a token %s and reveals nothing', async (_what, token) => {
    const answer = await complete(token === '' ? '%20' : token, '192.0.2.6');
    expect(answer.status, answer.text).toBe(404);
    expect(answer.body.code).toBe('activity_not_found');
    expect(answer.text.length).toBeLessThan(400);
  });

  it('fails with the secret of another item, because the secret belongs to the name', async () => {
    await at.client.defineAndStart([step('a', 'Activity', { ActivityName: "'one'" })]);
    await at.client.defineAndStart([step('a', 'Activity', { ActivityName: "'two'" })]);
    const [one, two] = [await at.client.work('one'), await at.client.work('two')];
    const mixed = `${one.token.split('.')[0]!}.${two.token.split('.')[1]!}`;
    expect((await complete(mixed, '192.0.2.7')).status).toBe(404);
    expect((await complete(one.token, '192.0.2.7')).status).toBe(202);
  });
});

describe('the address of a client without a trusted proxy', () => {
  const at = serverForTests({ WRONG_TOKENS_PER_MINUTE_MAX: '5' });

  it('is that of the connection, whatever X-Forwarded-For says', async () => {
    const statuses = [];
    for (let guess = 0; guess < 6; guess += 1) {
      const headers = { 'x-forwarded-for': `198.51.100.${guess}` };
      const path = `/api/activity/success/${unknownToken()}`;
      statuses.push((await at.client.call('POST', path, { headers })).status);
    }
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);
  });
});

describe('an invalid bearer token', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const at = serverForTests({
    AUTH: 'true',
    ALG: 'ES256',
    PUBLICKEY: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    WRONG_BEARERS_PER_MINUTE_MAX: '5',
    TRUSTED_PROXIES: 'loopback',
  });

  const valid = (scope = 'conductor:viewer') =>
    new SignJWT({ scope })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('5m')
      .sign(privateKey);
  const call = (bearer: string | null, address: string) =>
    at.client.call<Problem>('GET', '/api/workflow', {
      headers: {
        'x-forwarded-for': address,
        ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
      },
    });

  it('gets 429 beyond the limit, but a valid one never does', async () => {
    const statuses = [];
    for (let guess = 0; guess < 6; guess += 1) {
      statuses.push((await call(`${await valid()}x`, '192.0.2.20')).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    const refused = await call('nonsense', '192.0.2.20');
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await call(await valid(), '192.0.2.20')).status).toBe(200);
    expect((await call('nonsense', '192.0.2.21')).status).toBe(401);
  });

  it('counts once for a call that accepts several scopes, and not for a missing scope or token', async () => {
    for (let time = 0; time < 4; time += 1) {
      const headers = { 'x-forwarded-for': '192.0.2.22', authorization: 'Bearer nonsense' };
      expect((await at.client.call('GET', '/api/workflow/x', { headers })).status).toBe(401);
    }
    for (let time = 0; time < 10; time += 1) {
      expect((await call(null, '192.0.2.22')).status).toBe(401);
      expect((await call(await valid('conductor:worker'), '192.0.2.22')).status).toBe(403);
    }
    expect((await call('nonsense', '192.0.2.22')).status).toBe(401);
    expect((await call('nonsense', '192.0.2.22')).status).toBe(429);
  });

  it('is not even logged beyond the limit', async () => {
    const lines = () =>
      at.server.logLines.filter(({ msg }) => msg === 'rejected a bearer token').length;
    const before = lines();
    for (let guess = 0; guess < 20; guess += 1) await call('nonsense', '192.0.2.23');
    expect(lines() - before).toBe(5);
  });
});

describe('a waiting call', () => {
  const at = serverForTests({ WAITING_PER_ADDRESS_MAX: '2', POLL_TIMEOUT_SECONDS_MAX: '25' });

  const pollers = async (): Promise<number> => {
    const { text } = await at.client.get('/metrics');
    return Number(/^stepwright_pollers (\d+)$/m.exec(text)?.[1]);
  };

  it('is limited for each address, and rejected with 429 beyond that', async () => {
    const id = await at.client.defineAndStart([step('a', 'Activity', { ActivityName: "'later'" })]);
    const hangUp = new AbortController();
    const poll = () =>
      at.client
        .call('GET', '/api/activity/idle?timeout=60', { signal: hangUp.signal })
        .catch((error: unknown) => error);
    const parked = [poll(), poll()];
    await eventually('two polls are waiting', async () => (await pollers()) === 2);
    for (const path of ['/api/activity/other?timeout=1', `/api/workflow/${id}?wait=1`]) {
      const refused = await at.client.get<Problem>(path);
      expect([path, refused.status, refused.body.code]).toEqual([path, 429, 'too_many_requests']);
      expect(refused.headers.get('retry-after')).toBe('1');
    }
    // A poll without waiting occupies no slot.
    expect((await at.client.pull('idle')).status).toBe(404);
    expect((await at.client.get(`/api/workflow/${id}`)).status).toBe(200);
    hangUp.abort();
    await Promise.all(parked);
    await eventually('the limit is free again', async () => {
      const answer = await at.client.pull('idle', '?timeout=1');
      return answer.status === 404;
    });
  });
});

describe('the timeout of a poll', () => {
  const at = serverForTests({ POLL_TIMEOUT_SECONDS_MAX: '1' });

  it.each(['1e9', '-1', 'NaN', '1e3', 'Infinity', '0x10', '1_0', '', ' ', '9'.repeat(40)])(
    'is rejected or capped if it is %j seconds',
    async (timeout) => {
      const began = performance.now();
      const answer = await at.client.pull('idle', `?timeout=${encodeURIComponent(timeout)}`);
      expect([400, 404]).toContain(answer.status);
      expect(performance.now() - began).toBeLessThan(15_000);
    },
  );
});

describe('the address table of the limits', () => {
  const notFound = () => Promise.reject(new AppError('activity_not_found', 'no'));
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => 'fine',
      (error: unknown) => (error instanceof AppError ? error.code : 'other'),
    );

  it('forgets failures after a minute', async () => {
    let now = 0;
    const limit = new WorkTokenFailureLimit({ perMinuteMax: 1, now: () => now });
    expect(await codeOf(limit.guard('a', notFound))).toBe('activity_not_found');
    expect(await codeOf(limit.guard('a', notFound))).toBe('too_many_requests');
    now = 60_000;
    expect(await codeOf(limit.guard('a', notFound))).toBe('activity_not_found');
  });

  it('counts only wrong tokens', async () => {
    const limit = new WorkTokenFailureLimit({ perMinuteMax: 1, now: () => 0 });
    for (const code of ['store_unavailable', 'invalid_request', 'status_conflict'] as const) {
      const failing = () => Promise.reject(new AppError(code, 'no'));
      expect(await codeOf(limit.guard('a', failing))).toBe(code);
    }
    expect(await codeOf(limit.guard('a', () => Promise.resolve(1)))).toBe('fine');
  });

  it('has a maximum size: the oldest address is dropped', async () => {
    const limit = new WorkTokenFailureLimit({ perMinuteMax: 1, now: () => 0 });
    await codeOf(limit.guard('first', notFound));
    for (let index = 0; index < 9_999; index += 1) await codeOf(limit.guard(`x${index}`, notFound));
    expect(await codeOf(limit.guard('first', notFound))).toBe('too_many_requests');
    await codeOf(limit.guard('one more', notFound));
    expect(await codeOf(limit.guard('first', notFound))).toBe('activity_not_found');
  });

  it('frees its permits, even after failures', async () => {
    const limit = new WaitingLimit(1);
    expect(await codeOf(limit.guard('a', notFound))).toBe('activity_not_found');
    expect(await codeOf(limit.guard('a', () => Promise.resolve()))).toBe('fine');
    let end = (): void => undefined;
    const waiting = limit.guard('a', () => new Promise<void>((resolve) => (end = resolve)));
    expect(await codeOf(limit.guard('a', () => Promise.resolve()))).toBe('too_many_requests');
    expect(await codeOf(limit.guard('b', () => Promise.resolve()))).toBe('fine');
    end();
    await waiting;
    expect(await codeOf(limit.guard('a', () => Promise.resolve()))).toBe('fine');
  });
});
