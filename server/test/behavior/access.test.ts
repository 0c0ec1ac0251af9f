/** Bearer tokens, and which scope may call what. */
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/read-config.js';
import { Client } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';
import { STORE_KINDS } from './support/stores.js';
import { mark, step } from './support/steps.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' });

/** The required scope of each call; with it the status is the given one, without it 403. */
const CALLS = [
  ['POST', '/api/definition', ['author'], 415],
  ['POST', '/api/definition/validate', ['author'], 415],
  ['GET', '/api/definition', ['author', 'viewer'], 200],
  ['GET', '/api/definition/x', ['author', 'viewer'], 404],
  ['GET', '/api/definition/x/versions', ['author', 'viewer'], 404],
  ['GET', '/api/definition/x/open-steps', ['viewer'], 404],
  ['POST', '/api/step/x', ['author'], 415],
  ['GET', '/api/step', ['author', 'viewer'], 200],
  ['GET', '/api/step/x', ['author', 'viewer'], 404],
  ['GET', '/api/step/x/versions', ['author', 'viewer'], 404],
  ['POST', '/api/workflow/x', ['controller'], 415],
  ['GET', '/api/workflow', ['viewer'], 200],
  ['GET', '/api/workflow/count', ['viewer'], 200],
  ['GET', '/api/workflow/failures', ['viewer'], 200],
  ['GET', '/api/workflow/x', ['viewer'], 404],
  ['GET', '/api/workflow/x/steps', ['viewer'], 404],
  ['GET', '/api/workflow/x/explain', ['viewer'], 404],
  ['POST', '/api/bulk', ['controller'], 415],
  ['GET', '/api/workflow/x/export', ['viewer'], 404],
  ['POST', '/api/workflow/x/modify', ['controller'], 415],
  ['POST', '/api/workflow/x/rerun', ['controller'], 415],
  ['POST', '/api/workflow/x/restart', ['controller'], 415],
  ['DELETE', '/api/workflow/x?purge=true', ['controller'], 404],
  ['POST', '/api/bulk', ['controller'], 415],
  ['DELETE', '/api/bulk/x', ['controller'], 404],
  ['GET', '/api/bulk', ['viewer'], 200],
  ['GET', '/api/bulk/x', ['viewer'], 404],
  ['GET', '/api/bulk/x/runs', ['viewer'], 404],
  ['DELETE', '/api/bulk/x', ['controller'], 404],
  ['GET', '/api/node', ['viewer'], 200],
  // An invalid filter: with a valid one the stream would stay open as long as the token is valid.
  ['GET', '/api/stream?workflowId=%00', ['viewer'], 400],
  ['GET', '/api/workflow/x/audit', ['viewer'], 404],
  ['PUT', '/api/workflow/x/retry', ['controller'], 404],
  ['PATCH', '/api/workflow', ['controller'], 415],
  ['POST', '/api/workflow/x/steps/1/success', ['controller'], 415],
  ['POST', '/api/workflow/x/steps/1/fail', ['controller'], 415],
  ['PUT', '/api/workflow/x/suspend', ['controller'], 404],
  ['PUT', '/api/workflow/x/resume', ['controller'], 404],
  ['DELETE', '/api/workflow/x', ['controller'], 404],
  ['POST', '/api/event/e/k', ['controller'], 415],
  ['GET', '/api/event', ['viewer'], 200],
  ['GET', '/api/event/e/k/waiting', ['viewer'], 200],
  ['GET', '/api/activity', ['viewer'], 200],
  ['GET', '/api/activity/x/queue', ['viewer'], 200],
  ['GET', '/api/activity/x', ['worker'], 404],
  ['POST', '/api/activity/success/x.y', ['worker'], 415],
  ['POST', '/api/activity/fail/x.y', ['worker'], 415],
  ['PUT', '/api/activity/x.y/heartbeat?lease=5', ['worker'], 404],
  ['DELETE', '/api/activity/x.y', ['worker'], 404],
] as const;

const SCOPES = ['author', 'controller', 'viewer', 'worker'] as const;

const token = (
  claims: Record<string, unknown>,
  options: { key?: typeof rsa; alg?: string; expires?: string } = {},
) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: options.alg ?? 'RS256' })
    .setExpirationTime(options.expires ?? '5m')
    .sign((options.key ?? rsa).privateKey);

describe('a server with auth=true', () => {
  let server: TestServer;
  let client: Client;
  const derBase64 = rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

  beforeAll(async () => {
    const store = (await STORE_KINDS[0]!.create()).open();
    server = await startServer({
      store,
      environment: { Auth: 'true', ALG: 'RS256', PublicKey: derBase64 },
    });
    client = new Client(server.url);
  });
  afterAll(() => server.stop());

  const call = (method: string, path: string, bearer: string | null) =>
    client.call(method, path, {
      ...(method === 'POST' || method === 'PATCH' ? { body: 'x', type: 'text/plain' } : {}),
      headers: bearer === null ? {} : { authorization: `Bearer ${bearer}` },
    });

  it.each(CALLS)(
    'accepts %s %s with %j or conductor:admin, and with no other scope',
    async (method, path, allowed, status) => {
      expect((await call(method, path, null)).status, 'no token').toBe(401);
      expect((await call(method, path, await token({}))).status, 'no scope').toBe(403);
      expect(
        (await call(method, path, await token({ scope: 'conductor:admin' }))).status,
        'admin',
      ).toBe(status);
      for (const scope of SCOPES) {
        const isAllowed = (allowed as readonly string[]).includes(scope);
        const answer = await call(method, path, await token({ scope: `other conductor:${scope}` }));
        expect(answer.status, scope).toBe(isAllowed ? status : 403);
        const listed = await call(method, path, await token({ scope: [`conductor:${scope}`] }));
        expect(listed.status, `${scope} in a list`).toBe(isAllowed ? status : 403);
      }
    },
  );

  it('serves info, health, metrics and the API description without a token', async () => {
    for (const path of [
      '/api/info',
      '/health/live',
      '/health/ready',
      '/metrics',
      '/schemas/definition.json',
      '/schemas/limit.json',
      '/schemas/test-file.json',
      '/swagger',
      '/swagger/v1/swagger.json',
    ]) {
      expect((await call('GET', path, null)).status, path).toBe(200);
    }
  });

  it("shows no data through a bulk job to callers who can't read runs", async () => {
    const post = async (path: string, scope: string, body: object) =>
      client.call<Record<string, unknown>>('POST', path, {
        body: JSON.stringify(body),
        type: 'application/json',
        headers: { authorization: `Bearer ${await token({ scope })}` },
      });
    const failing = step('a', 'NoOp', {}, { ErrorBehavior: 'Suspend', Outputs: { b: 'data.c' } });
    const definition = { Id: 'secretive', Index: { who: 'data.who' }, Steps: [failing] };
    await post('/api/definition', 'conductor:author', definition);
    await post('/api/workflow/secretive?tag=a:b', 'conductor:controller', { who: 'marked' });
    const job = { action: 'suspend', reason: 'r', dryRun: true };
    const preview = (scope: string, filter: object) =>
      post('/api/bulk', scope, { ...job, filter: { definitionId: 'secretive', ...filter } });
    const both = 'conductor:controller conductor:viewer';
    await expect
      .poll(async () => (await preview(both, {})).text)
      .toMatch(/AttributeError|KeyError/);
    expect((await preview(both, { where: ['who=marked'] })).body).toMatchObject({ matched: 1 });
    const seen = await preview('conductor:controller', {});
    expect(seen.body).toMatchObject({
      matched: 1,
      workflows: [{ tags: {}, index: {}, failure: null }],
    });
    for (const filter of [{ where: ['who=marked'] }, { failure: 'a'.repeat(32) }]) {
      const refused = await preview('conductor:controller', filter);
      expect([refused.status, refused.body['code']]).toEqual([403, 'forbidden']);
    }
  });

  it("quotes no input of a run to callers who can't read it", async () => {
    const post = (path: string, scope: string, body: object) =>
      token({ scope }).then((bearer) =>
        client.call<Record<string, unknown>>('POST', path, {
          body: JSON.stringify(body),
          type: 'application/json',
          headers: { authorization: `Bearer ${bearer}` },
        }),
      );
    const define = (input: object) =>
      post('/api/definition', 'conductor:author', {
        Id: 'typed',
        Input: input,
        Steps: [mark('a')],
      });
    await define({ type: 'object' });
    const started = await post('/api/workflow/typed', 'conductor:controller', { n: 'marked' });
    await define({ properties: { n: { type: 'number' } } });
    const path = `/api/workflow/${String(started.body['workflowId'])}/restart`;
    const body = { reason: 'r', version: 2 };
    const refused = await post(path, 'conductor:controller', body);
    expect([refused.status, refused.body['code']]).toEqual([400, 'invalid_data']);
    expect(refused.text).not.toContain('marked');
    const shown = await post(path, 'conductor:controller conductor:viewer', body);
    expect(shown.text).toContain('marked');
  });

  it('runs a workflow for tokens with the right scopes', async () => {
    const headers = {
      authorization: `Bearer ${await token({ scope: 'conductor:author conductor:controller conductor:viewer' })}`,
    };
    const posted = await client.call('POST', '/api/definition', {
      body: JSON.stringify({ id: 'd', steps: [mark('a')] }),
      type: 'application/json',
      headers,
    });
    expect(posted.status, posted.text).toBe(201);
    const started = await client.call<{ workflowId: string }>('POST', '/api/workflow/d', {
      headers,
    });
    expect(started.status).toBe(201);
    const ended = await client.call('GET', `/api/workflow/${started.body.workflowId}?wait=10`, {
      headers,
    });
    expect(ended.body).toMatchObject({ status: 'Complete' });
  });

  it.each<[string, () => Promise<string> | string]>([
    ['nonsense', () => 'nonsense'],
    [
      'a token signed with another key',
      () => token({ scope: 'conductor:admin' }, { key: stranger }),
    ],
    ['an expired token', () => token({ scope: 'conductor:admin' }, { expires: '-1m' })],
    [
      'a token with another algorithm for the same key',
      () => token({ scope: 'conductor:admin' }, { alg: 'RS512' }),
    ],
    [
      'a token without a signature',
      () =>
        `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"scope":"conductor:admin"}').toString('base64url')}.`,
    ],
    [
      'a token signed with the public key as a secret',
      () =>
        new SignJWT({ scope: 'conductor:admin' })
          .setProtectedHeader({ alg: 'HS256' })
          .sign(Buffer.from(derBase64, 'base64')),
    ],
  ])('rejects %s with 401', async (_, bearer) => {
    const answer = await call('GET', '/api/workflow', await bearer());
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(answer.headers.get('content-type')).toMatch(/problem\+json/);
  });

  it('rejects scopes that only resemble the required ones', async () => {
    for (const scope of [
      'conductor:admins',
      'xconductor:admin',
      'CONDUCTOR:ADMIN',
      'conductor:viewer:x',
      'conductor:admin,conductor:viewer',
    ]) {
      expect((await call('GET', '/api/workflow', await token({ scope }))).status, scope).toBe(403);
    }
  });
});

describe('a server with an EC key in PEM, an issuer and an audience', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({
      store: (await STORE_KINDS[0]!.create()).open(),
      environment: {
        auth: 'true',
        alg: 'ES384',
        publickey: ec.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
        auth_issuer: 'https://issuer',
        auth_audience: 'stepwright',
      },
    });
  });
  afterAll(() => server.stop());

  it.each([
    [{ iss: 'https://issuer', aud: 'stepwright' }, 200],
    [{ iss: 'https://other', aud: 'stepwright' }, 401],
    [{ iss: 'https://issuer', aud: 'other' }, 401],
    [{ iss: 'https://issuer' }, 401],
    [{}, 401],
  ])('answers a token with %j with %i', async (claims, status) => {
    const bearer = await new SignJWT({ scope: 'conductor:viewer', ...claims })
      .setProtectedHeader({ alg: 'ES384' })
      .setExpirationTime('5m')
      .sign(ec.privateKey);
    const answer = await new Client(server.url).call('GET', '/api/workflow', {
      headers: { authorization: `Bearer ${bearer}` },
    });
    expect(answer.status).toBe(status);
  });
});

describe('the configuration of access control', () => {
  it('makes the server refuse to start without a key', () => {
    expect(() => readConfig({ auth: 'true' })).toThrow(/publickey/);
    expect(() => readConfig({ auth: 'true', publickey: ' ' })).toThrow(/publickey/);
  });

  it('is off by default', async () => {
    const server = await startServer({ store: (await STORE_KINDS[0]!.create()).open() });
    expect((await new Client(server.url).get('/api/workflow')).status).toBe(200);
    await server.stop();
  });
});
