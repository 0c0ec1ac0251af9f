/**
 * Access control: calls every operation of the API description without a token, with each scope, and with broken
 * tokens. The description must state the scopes correctly.
 */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import type { AuthConfig } from '../../../src/api/access/access-control.js';
import { TOKEN_ALGORITHMS, type TokenAlgorithm } from '../../../src/api/access/token-algorithms.js';
import { createTokenVerifier } from '../../../src/api/access/token-verifier.js';
import { problemOf, startApi } from '../support/api-server.js';
import { SOME_INSTANCE } from '../support/scripted-host.js';

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const OTHER_RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });

const CURVES: Partial<Record<TokenAlgorithm, string>> = {
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
};

function pem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

function der(key: KeyObject, type: 'spki' | 'pkcs1' = 'spki'): string {
  return key.export({ type, format: 'der' }).toString('base64');
}

const LIFETIME_SECONDS_MAX = 3600;
const AUTH: AuthConfig = {
  algorithm: 'RS256',
  keys: { publicKey: der(RSA.publicKey) },
  lifetimeSecondsMax: LIFETIME_SECONDS_MAX,
  clockToleranceSeconds: 0,
  scopeClaim: 'scope',
};

interface TokenOptions {
  readonly scope?: unknown;
  readonly algorithm?: string;
  readonly key?: KeyObject | Uint8Array;
  readonly expires?: number | null;
  readonly claims?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
}

function makeToken(options: TokenOptions = {}): Promise<string> {
  const { scope = 'conductor:viewer', algorithm = 'RS256', key = RSA.privateKey } = options;
  const token = new SignJWT({ scope, ...options.claims });
  token.setProtectedHeader({ alg: algorithm, ...options.header });
  const expires = options.expires === undefined ? Date.now() / 1000 + 60 : options.expires;
  if (expires !== null) token.setExpirationTime(Math.floor(expires));
  return token.sign(key);
}

const answering = { 'instances.get': async () => SOME_INSTANCE };

async function callWith(
  authorization: string | null,
  auth: AuthConfig | null = AUTH,
): Promise<Response> {
  const api = await startApi({ host: answering, auth });
  return api.fetch('/api/workflow/w1', {
    headers: authorization === null ? {} : { authorization },
  });
}

describe('a bearer token', () => {
  it.each(TOKEN_ALGORITHMS)('is accepted if it is signed with %s', async (algorithm) => {
    const curve = CURVES[algorithm];
    const { publicKey, privateKey } =
      curve === undefined ? RSA : generateKeyPairSync('ec', { namedCurve: curve });
    for (const text of [pem(publicKey), der(publicKey)]) {
      const verify = createTokenVerifier({ ...AUTH, algorithm }, { publicKey: text });
      const token = await verify(await makeToken({ algorithm, key: privateKey }));
      expect([...token.scopes]).toEqual(['conductor:viewer']);
    }
  });

  it('is accepted if it is signed with an RSA key in PKCS #1 format', async () => {
    const keys = { publicKey: der(RSA.publicKey, 'pkcs1') };
    expect((await callWith(`Bearer ${await makeToken()}`, { ...AUTH, keys })).status).toBe(200);
  });

  it.each([
    ['text', 'conductor:viewer conductor:worker'],
    ['a list', ['conductor:worker', 'conductor:viewer']],
    ['admin', 'conductor:admin'],
  ])('contains its scopes as %s', async (_form, scope) => {
    expect((await callWith(`bearer ${await makeToken({ scope })}`)).status).toBe(200);
  });

  it.each([
    ['another scope', 'conductor:worker'],
    ['a prefix of a scope', 'conductor:view'],
    ['none', ''],
    ['a number', 5],
    ['an object', { 'conductor:viewer': true }],
    ['a nested list', [['conductor:viewer']]],
  ])('is rejected with 403 if it has %s as scope', async (_form, scope) => {
    const response = await callWith(`Bearer ${await makeToken({ scope })}`);
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain('insufficient_scope');
    expect(await problemOf(response)).toMatchObject({ code: 'forbidden' });
  });

  it('is required', async () => {
    for (const header of [null, '', 'Basic abc', 'Bearer', 'Bearer ', 'Bearer a b']) {
      const response = await callWith(header);
      expect(response.status, String(header)).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await problemOf(response)).toMatchObject({ code: 'unauthenticated' });
    }
  });

  it('is rejected if it is expired, not valid yet or signed with another key', async () => {
    const now = Date.now() / 1000;
    const secret = new TextEncoder().encode(pem(RSA.publicKey));
    const unsigned = [{ alg: 'none' }, { scope: 'conductor:admin' }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const good = await makeToken();
    const bad = [
      await makeToken({ expires: now - 5 }),
      await makeToken({ claims: { nbf: now + 60 } }),
      await makeToken({ expires: null }),
      await makeToken({ expires: null, claims: { exp: 'tomorrow' } }),
      await makeToken({ expires: now + LIFETIME_SECONDS_MAX + 60 }),
      await makeToken({ key: OTHER_RSA.privateKey }),
      await makeToken({ algorithm: 'RS512' }),
      await makeToken({ algorithm: 'PS256' }),
      // The public key as a shared secret: the classic algorithm confusion.
      await makeToken({ algorithm: 'HS256', key: secret }),
      `${unsigned}.`,
      'x.y.z',
      good.slice(0, -6),
      // A header that says where to find the key is ignored.
      await makeToken({ key: OTHER_RSA.privateKey, header: { kid: '../../../dev/null' } }),
      await makeToken({ key: OTHER_RSA.privateKey, header: { jku: 'http://127.0.0.1:9/keys' } }),
      await makeToken({
        key: OTHER_RSA.privateKey,
        header: { jwk: { ...OTHER_RSA.publicKey.export({ format: 'jwk' }) } },
      }),
      await makeToken({ claims: { filler: 'x'.repeat(8000) }, key: OTHER_RSA.privateKey }),
    ];
    for (const token of bad) {
      const response = await callWith(`Bearer ${token}`);
      expect(response.status, token).toBe(401);
      expect(await problemOf(response)).toMatchObject({ detail: 'The bearer token is invalid' });
    }
  });

  it.each([
    ['7', '7'],
    [7, '7'],
    [-0, '0'],
    [undefined, null],
    [null, null],
  ])('belongs with the subject %j to %j', async (sub, subject) => {
    const verify = createTokenVerifier(AUTH, { publicKey: der(RSA.publicKey) });
    const token = await verify(await makeToken({ claims: { sub } }));
    expect(token.subject).toBe(subject);
  });

  it.each([[{ id: 7 }], [[7]], [true], [1.5], [2 ** 53], [1e300]])(
    'is rejected by every call if its subject is %j',
    async (sub) => {
      const response = await callWith(`Bearer ${await makeToken({ claims: { sub } })}`);
      expect(await problemOf(response)).toMatchObject({ status: 401, code: 'unauthenticated' });
    },
  );

  it('uses the last value of a duplicate claim, as JSON parsers do', async () => {
    const { privateKey, publicKey } = RSA;
    const exp = Math.floor(Date.now() / 1000) + 60;
    const signed = (payload: string) => {
      const text = [JSON.stringify({ alg: 'RS256' }), payload]
        .map((part) => Buffer.from(part).toString('base64url'))
        .join('.');
      return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
    };
    const verify = createTokenVerifier(AUTH, { publicKey: pem(publicKey) });
    // JSON parses it as infinity.
    await expect(verify(signed(`{"scope":"conductor:admin","exp":1e999}`))).rejects.toThrow(
      /valid for longer/,
    );
    const twice = `{"scope":"conductor:admin","scope":"conductor:viewer","exp":${exp}}`;
    expect([...(await verify(signed(twice))).scopes]).toEqual(['conductor:viewer']);
    await expect(verify(signed(`{"exp":${exp},"exp":1}`))).rejects.toThrow(/exp/);
  });

  it('has to match issuer and audience if these are set', async () => {
    const auth = { ...AUTH, issuer: 'us', audience: 'here' };
    const right = await makeToken({ claims: { iss: 'us', aud: ['there', 'here'] } });
    expect((await callWith(`Bearer ${right}`, auth)).status).toBe(200);
    for (const claims of [{ iss: 'us' }, { aud: 'here' }, { iss: 'them', aud: 'here' }]) {
      expect((await callWith(`Bearer ${await makeToken({ claims })}`, auth)).status).toBe(401);
    }
  });

  it('is ignored if authentication is off', async () => {
    expect((await callWith('Bearer nonsense', null)).status).toBe(200);
  });

  it('is not written to the log', async () => {
    const api = await startApi({ auth: AUTH });
    const token = await makeToken({ key: OTHER_RSA.privateKey });
    await api.fetch('/api/workflow/w1', { headers: { authorization: `Bearer ${token}` } });
    const log = JSON.stringify(api.logLines);
    expect(log).toContain('rejected a bearer token');
    expect(log).not.toContain(token.split('.')[2]!);
  });
});

describe('createTokenVerifier', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });

  it.each<[string, TokenAlgorithm, string]>([
    ['an EC key for RS256', 'RS256', pem(ec.publicKey)],
    ['an RSA key for ES256', 'ES256', pem(RSA.publicKey)],
    ['a key on another curve', 'ES384', pem(ec.publicKey)],
    ['a short RSA key', 'RS256', pem(weak.publicKey)],
    ['text that is not a key', 'RS256', ''],
    ['nonsense', 'RS256', 'bm9uc2Vuc2U='],
  ])('rejects %s', (_what, algorithm, publicKey) => {
    expect(() => createTokenVerifier({ ...AUTH, algorithm }, { publicKey })).toThrow();
  });
});

describe('the scope check', () => {
  const CONTROLS = [
    ['PUT', '/suspend'],
    ['PUT', '/resume'],
    ['PUT', '/retry'],
    ['DELETE', ''],
  ] as const;
  interface Operation {
    readonly security?: readonly { readonly bearer: readonly string[] }[];
  }
  const file = new URL('../../../openapi/openapi.json', import.meta.url);
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security = [] }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      scopes: security.flatMap(({ bearer }) => bearer),
    })),
  );
  const ROLES = ['author', 'controller', 'viewer', 'worker', 'admin'].map((r) => `conductor:${r}`);

  /** After the access check the scripted host fails: any status except 401 and 403 means that access was granted. */
  const isAdmitted = (status: number) => status !== 401 && status !== 403;

  it.each(operations)('lets $scopes call $method $path', async ({ method, path, scopes }) => {
    const api = await startApi({ auth: AUTH });
    const withoutToken = await api.fetch(path, { method });
    expect(isAdmitted(withoutToken.status)).toBe(scopes.length === 0);
    for (const scope of ROLES) {
      const authorization = `Bearer ${await makeToken({ scope })}`;
      const { status } = await api.fetch(path, { method, headers: { authorization } });
      const isAllowed = scopes.length === 0 || scopes.includes(scope) || scope === ROLES.at(-1);
      expect(isAdmitted(status), scope).toBe(isAllowed);
    }
  });

  it('applies to all operations except info, probes, metrics, the schemas and webhook calls', () => {
    const open = operations.filter(({ scopes }) => scopes.length === 0).map(({ path }) => path);
    expect(open).toEqual([
      '/api/info',
      '/health/live',
      '/health/ready',
      '/hooks/x',
      '/metrics',
      '/schemas/definition.json',
      '/schemas/limit.json',
      '/schemas/test-file.json',
    ]);
  });

  it.each<[string, boolean]>([
    ['conductor:controller', false],
    ['conductor:controller conductor:worker conductor:author', false],
    ['conductor:controller conductor:viewer', true],
    ['conductor:admin', true],
  ])('decides by %s whether control actions return data: %s', async (scope, isReadable) => {
    const control = () => Promise.resolve(SOME_INSTANCE);
    const api = await startApi({ auth: AUTH, host: { 'instances.control': control } });
    const headers = { authorization: `Bearer ${await makeToken({ scope })}` };
    for (const [method, action] of CONTROLS) {
      const answer = await api.fetch(`/api/workflow/w1${action}`, { method, headers });
      const body = (await answer.json()) as Record<string, unknown>;
      expect(body, action).toMatchObject({ workflowId: 'w1', status: 'Runnable', parent: null });
      expect('data' in body, action).toBe(isReadable);
      expect('lastError' in body, action).toBe(isReadable);
      expect('failure' in body, action).toBe(isReadable);
    }
  });

  it('lets control actions return data if access control is off', async () => {
    const control = () => Promise.resolve(SOME_INSTANCE);
    const api = await startApi({ host: { 'instances.control': control } });
    for (const [method, action] of CONTROLS) {
      const answer = await api.fetch(`/api/workflow/w1${action}`, { method });
      expect(await answer.json(), action).toMatchObject({ data: { name: 'Ada' }, lastError: null });
    }
  });

  it('comes before the body is read', async () => {
    const api = await startApi({ auth: AUTH });
    const response = await api.post('/api/event/a/b', '{'.repeat(2_000_000), 'application/json');
    expect(response.status).toBe(401);
  });
});
