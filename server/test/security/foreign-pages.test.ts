/**
 * S-38: what pages of other sites can do to a server through a browser that reaches it. Method: requests with the
 * headers that browsers send and pages cannot change. `ui/test/second-origin.test.ts` does the same with a real
 * browser.
 */
import { generateKeyPairSync } from 'node:crypto';
import { request } from 'node:http';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { mark } from '../behavior/support/steps.js';
import { serverForTests, type SecuredServer } from './support/secured-server.js';

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** `fetch` sets some of these headers itself, so this is a plain request. */
function send(
  at: SecuredServer,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(new URL(path, at.client.url), { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const body = text.startsWith('{') ? (JSON.parse(text) as { code?: string }) : {};
        resolve({ status: response.statusCode!, code: body.code, headers: response.headers });
      });
    });
    call.on('error', reject).end();
  });
}

const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' };

describe('a server without access control', () => {
  const at = serverForTests();

  it.each([
    'evil.example',
    'evil.example:5001',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
  ])('rejects a page under the name %s that is rebound to this machine', async (host) => {
    for (const path of ['/api/workflow', '/api/info', '/ui/', '/swagger', '/metrics']) {
      const answer = await send(at, 'GET', path, { host, 'sec-fetch-site': 'same-origin' });
      expect([answer.status, answer.code], path).toEqual([403, 'host_not_allowed']);
    }
  });

  it.each(['a b', 'user@localhost', '[::1', 'localhost/x'])(
    'rejects an invalid Host header (%j)',
    async (host) => {
      expect((await send(at, 'GET', '/api/info', { host })).status).toBeGreaterThanOrEqual(400);
    },
  );

  it.each(['localhost', 'LOCALHOST:5001', 'api.localhost', '127.0.0.1', '[::1]:5001', '10.1.2.3'])(
    'accepts %s as Host',
    async (host) => {
      expect((await send(at, 'GET', '/api/info', { host })).status).toBe(200);
    },
  );

  it('answers health checks under any name', async () => {
    expect((await send(at, 'GET', '/health/live', { host: 'pod.cluster.local' })).status).toBe(200);
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['another origin in an older browser', { origin: 'http://evil.example' }],
    ['another port in an older browser', { origin: 'http://127.0.0.1:1' }],
    ['a file or a sandboxed frame', { origin: 'null' }],
  ])('does not let a page from %s start, publish or read anything', async (_who, headers) => {
    const id = await at.client.define([mark('a')]);
    const calls = [
      ['POST', `/api/workflow/${id}`],
      ['POST', '/api/event/e/k'],
      ['GET', '/api/workflow'],
      ['GET', '/api/activity/work'],
      ['GET', '/api/stream'],
      ['OPTIONS', '/api/workflow'],
    ] as const;
    for (const [method, path] of calls) {
      const answer = await send(at, method, path, { ...BROWSER, ...headers });
      expect([answer.status, answer.code], `${method} ${path}`).toEqual([403, 'cross_origin']);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-'))).toEqual([]);
    }
    expect((await at.client.get(`/api/workflow?definitionId=${id}`)).body).toMatchObject({
      items: [],
    });
  });

  it('hands out no work to an image, even if the browser does not declare it as one', async () => {
    const answer = await send(at, 'GET', '/api/activity/work', BROWSER);
    expect([answer.status, answer.code]).toEqual([403, 'cross_origin']);
    expect((await send(at, 'GET', '/api/activity/work')).code).toBe('no_work');
  });

  it.each(['same-origin', 'none'])(
    'accepts its own page, and an address typed into the browser (%s)',
    async (site) => {
      const headers = { ...BROWSER, 'sec-fetch-site': site, origin: 'https://public.example' };
      expect((await send(at, 'GET', '/api/workflow', headers)).status).toBe(200);
      expect((await send(at, 'GET', '/api/activity/work', headers)).code).toBe('no_work');
    },
  );
});

describe('a server with allowed_hosts', () => {
  const at = serverForTests({ allowed_hosts: 'stepwright.internal, *.example.org' });

  it.each([
    ['stepwright.internal', 200],
    ['Stepwright.Internal.:5001', 200],
    ['a.example.org', 200],
    ['example.org', 403],
    ['notexample.org', 403],
    ['stepwright.internal.evil.example', 403],
  ])('answers %s with %i', async (host, status) => {
    expect((await send(at, 'GET', '/api/info', { host })).status).toBe(status);
  });
});

describe('a server with cors_origins', () => {
  const at = serverForTests({ cors_origins: 'https://app.example.com' });
  const page = { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site', ...BROWSER };

  it('accepts a listed origin, including calls that need a preflight', async () => {
    const preflight = await send(at, 'OPTIONS', '/api/workflow/x', {
      ...page,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': page.origin,
      'access-control-allow-headers': expect.stringContaining('Authorization') as string,
      'access-control-allow-methods': expect.stringContaining('POST') as string,
    });
    const answer = await send(at, 'GET', '/api/workflow', page);
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(page.origin);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('rejects other origins', async () => {
    const answer = await send(at, 'GET', '/api/workflow', { ...page, origin: 'https://evil.test' });
    expect(answer.code).toBe('cross_origin');
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('a server with access control', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publickey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const at = serverForTests({ auth: 'true', alg: 'ES256', publickey });

  it('accepts any host name, but rejects pages from other origins even with a token', async () => {
    const token = await new SignJWT({ scope: 'conductor:admin' })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('5m')
      .sign(privateKey);
    const authorization = `Bearer ${token}`;
    const own = { authorization, host: 'stepwright.example.com' };
    expect((await send(at, 'GET', '/api/workflow', own)).status).toBe(200);
    const foreign = { ...own, 'sec-fetch-site': 'cross-site' };
    expect((await send(at, 'GET', '/api/workflow', foreign)).code).toBe('cross_origin');
  });
});
