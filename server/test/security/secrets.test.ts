/**
 * S-13 and S-24: secrets pass through the server and are seen only by their recipients.
 *
 * Each secret is a word that occurs nowhere else, so that one search in everything that was logged or returned is
 * enough.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeServer } from '../../src/compose-server.js';
import { readConfig } from '../../src/config/read-config.js';
import { createLogger } from '../../src/base/logger.js';
import { SETTINGS } from '../../src/config/settings.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { Client } from '../behavior/support/client.js';
import { sharedPython, startServer, type TestServer } from '../behavior/support/server.js';
import { chain, compute, step } from '../behavior/support/steps.js';

/** A server with its own interpreter, so that `environment` comes from this process environment. */
async function startWithEnvironment(environment: Readonly<Record<string, string>>) {
  const logger = createLogger({ level: 'silent' });
  const { app, host } = await composeServer({
    config: readConfig({ ...environment, dbhost: '', redis: '', PYTHON_SPARES: '0' }),
    environment,
    logger,
    store: createMemoryStore(),
  });
  await host.start();
  const http = createServer(app);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    client: new Client(`http://127.0.0.1:${(http.address() as AddressInfo).port}`),
    async stop() {
      await host.stop();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

describe('the environment in expressions and scripts', () => {
  const environment = {
    DBHOST: 'mongodb://user:first-secret@db/x',
    Redis: 'rediss://:second-secret@cache:6379',
    PublicKey: 'third-secret',
    MONGO_COPY: 'see mongodb://user:first-secret@db/x for more',
    API_URL: 'http://callee',
    API_KEY: 'word-for-the-callee',
  };
  let server: Awaited<ReturnType<typeof startWithEnvironment>>;
  beforeAll(async () => {
    server = await startWithEnvironment(environment);
  });
  afterAll(() => server.stop());

  it('contains variables that are not secrets of the server', async () => {
    const { data } = await server.client.run([compute('a', { url: 'environment["API_URL"]' })]);
    expect(data['url']).toBe('http://callee');
  });

  it.each([
    'dict(environment)',
    'str(environment)',
    'repr(environment)',
    '[[k, environment[k]] for k in environment]',
    'list(environment.values())',
    'json.dumps(dict(environment))',
    '{**environment}',
    '"{0}".format(environment)',
    'sorted(environment.items())',
    'str(globals())',
    '[environment.get(name) for name in ["dbhost", "DBHOST", "redis", "Redis", "REDIS", "publickey", "PublicKey"]]',
    '[str(value) for value in vars(environment).values()] if hasattr(environment, "__dict__") else []',
  ])('reveals no secret through %s', async (expression) => {
    const id = await server.client.defineAndStart([
      compute('a', { seen: expression }, { ErrorBehavior: 'Terminate' }),
    ]);
    const { text } = await server.client.call('GET', `/api/workflow/${id}?wait=20`);
    expect(text).toContain(id);
    expect(text).not.toContain('-secret');
  });

  it('reaches a remote server, and is not shown with the step that sent it', async () => {
    const received: string[] = [];
    const callee = createServer((request, response) => {
      received.push(String(request.headers.authorization), String(request.url));
      response.end('null');
    });
    await new Promise<void>((resolve) => callee.listen(0, '127.0.0.1', resolve));
    const { port } = callee.address() as AddressInfo;
    const call = step('call', 'HttpRequest', {
      BaseUrl: `"http://127.0.0.1:${port}"`,
      Resource: '"/pay"',
      Headers: { '@Authorization': '"Bearer " + environment["API_KEY"]', 'X-Shown': 'yes' },
      Parameters: { '@api_key': 'environment["API_KEY"]' },
    });
    const { workflowId } = await server.client.run([call]);
    await new Promise((resolve) => callee.close(resolve));
    expect(received).toEqual(['Bearer word-for-the-callee', '/pay?api_key=word-for-the-callee']);

    const [shown] = await server.client.steps(workflowId);
    expect(shown?.inputs).toMatchObject({
      Headers: { Authorization: '[redacted]', 'X-Shown': 'yes' },
      Parameters: { api_key: '[redacted]' },
    });
    for (const path of ['', '/steps', '/explain', '/audit']) {
      const { text } = await server.client.call('GET', `/api/workflow/${workflowId}${path}`);
      expect(text).not.toContain('word-for-the-callee');
    }
  });

  it('reveals no secret to a script that searches everywhere', async () => {
    const name = await server.client.script(
      [
        'def attempt(look):',
        '    try:',
        '        return str(look())',
        '    except BaseException as error:',
        '        return type(error).__name__',
        'def module(name):',
        '    return vars(__import__(name))',
        'seen = [attempt(lambda: module(name)) for name in ["os", "sys", "js", "subprocess"]]',
        'paths = ["/proc/self/environ", "/proc/1/environ", "/proc/self/cmdline", ".env"]',
        'files = [attempt(lambda: open(path, "rb").read()) for path in paths]',
        'names = [attempt(lambda: globals()), attempt(lambda: dict(environment))]',
        'looked = "everywhere"',
      ].join('\n'),
    );
    const { text } = await server.client.call(
      'GET',
      `/api/workflow/${await server.client.defineAndStart([
        step(
          'a',
          name,
          {},
          {
            Outputs: {
              seen: 'step.seen',
              files: 'step.files',
              names: 'step.names',
              looked: 'step.looked',
            },
          },
        ),
      ])}?wait=20`,
    );
    expect(text).toContain('everywhere');
    expect(text).not.toContain('-secret');
  });

  it('hides every setting that is marked as a secret, and all settings with credentials are marked', () => {
    const secret = Object.entries(SETTINGS).flatMap(([name, { meaning, ...entry }]) =>
      'secret' in entry
        ? [name]
        : // The path of a file with a secret is none.
          /password|connection string|credential/i.test(meaning) && !name.endsWith('_file')
          ? ['!']
          : [],
    );
    expect(secret).toEqual(['dbhost', 'dbhost_listen', 'redis', 'publickey']);
  });
});

describe('the log at trace level', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const seen: string[] = [];
  let server: TestServer;
  let client: Client;
  let callee: ReturnType<typeof createServer>;
  let calleeUrl: string;
  beforeAll(async () => {
    callee = createServer((request, response) => {
      seen.push(String(request.headers.authorization));
      response.setHeader('Set-Cookie', 'session=secret-of-callee');
      response.statusCode = request.url?.includes('fail') === true ? 500 : 200;
      response.end(JSON.stringify({ access: 'secret-in-answer' }));
    });
    await new Promise<void>((resolve) => callee.listen(0, '127.0.0.1', resolve));
    calleeUrl = `http://127.0.0.1:${(callee.address() as AddressInfo).port}`;
    const publickey = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    server = await startServer({
      store: createMemoryStore(),
      environment: { auth: 'true', publickey },
    });
    client = new Client(server.url);
  });
  afterAll(async () => {
    await server.stop();
    callee.closeAllConnections();
    await new Promise((resolve) => callee.close(resolve));
  });

  const sign = (key: typeof rsa, expires = '5m') =>
    new SignJWT({ scope: 'conductor:admin' })
      .setProtectedHeader({ alg: 'RS256' })
      .setExpirationTime(expires)
      .sign(key.privateKey);

  const post = (path: string, body: unknown, bearer: string, headers = {}) =>
    client.call<Record<string, string>>('POST', path, {
      body: JSON.stringify(body),
      type: 'application/json',
      headers: { authorization: `Bearer ${bearer}`, ...headers },
    });

  it('contains none of the secrets that pass through the server', async () => {
    const good = await sign(rsa);
    const bad = [await sign(stranger), await sign(rsa, '-5m'), 'secret-guess', `${good}x`];
    for (const bearer of bad) expect((await post('/api/workflow/x', {}, bearer)).status).toBe(401);
    const http = (Id: string, Resource: string) =>
      step(Id, 'HttpRequest', {
        BaseUrl: 'data.url',
        Resource: `"${Resource}"`,
        Headers: { Authorization: 'Bearer secret-of-header', Cookie: 'a=secret-of-cookie' },
        Parameters: { key: 'secret-of-query' },
        Body: '{"password": "secret-of-body"}',
        Method: '"POST"',
      });
    const definition = {
      Id: 'secrets',
      Steps: chain(
        http('call', '/ok'),
        step('work', 'Activity', { ActivityName: '"pay"', Parameters: '{"pin": "secret-of-pin"}' }),
        { ...http('fails', '/fail'), ErrorBehavior: 'Terminate' },
      ),
    };
    expect((await post('/api/definition', definition, good)).status).toBe(201);
    const headers = { cookie: 'session=secret-of-caller', 'idempotency-key': 'key-1' };
    const start = { url: calleeUrl, password: 'secret-of-data' };
    const started = await post('/api/workflow/secrets', start, good, headers);
    expect(started.status, started.text).toBe(201);
    const authorization = `Bearer ${good}`;
    const work = await client.call<{ token: string }>('GET', '/api/activity/pay?timeout=20', {
      headers: { authorization },
    });
    expect(work.status, work.text).toBe(200);
    const { token } = work.body;
    await post('/api/activity/success/x.y', { secret: 'secret-of-result' }, good);
    await post(`/api/activity/success/${token}`, { secret: 'secret-of-result' }, good);
    const ended = await client.call('GET', `/api/workflow/${started.body['workflowId']!}?wait=20`, {
      headers: { authorization },
    });
    expect(ended.status, ended.text).toBe(200);
    // Unreadable bodies, and invalid headers.
    await client.call('POST', '/api/event/e/k', {
      body: '{"password": "secret-of-broken-body"',
      type: 'application/json',
      headers: { authorization },
    });
    expect(seen).toEqual(['Bearer secret-of-header', 'Bearer secret-of-header']);
    const log = JSON.stringify(server.logLines);
    expect(server.logLines.length).toBeGreaterThan(0);
    expect(log.match(/secret-[a-z-]+/g) ?? []).toEqual([]);
    for (const bearer of [good, ...bad, token, token.split('.')[1]!]) {
      expect(log).not.toContain(bearer.slice(-20));
    }
  });
});

describe('a connection string', () => {
  it('is not logged when its database is unavailable', async () => {
    const lines: string[] = [];
    const logger = createLogger({
      level: 'trace',
      destination: { write: (line) => lines.push(line) },
    });
    const environment = {
      // Nothing listens on this port.
      dbhost:
        'mongodb://user:secret-of-mongo@127.0.0.1:9/?serverSelectionTimeoutMS=300&connectTimeoutMS=300',
      redis: 'redis://user:secret-of-redis@127.0.0.1:9',
    };
    const { host } = await composeServer({
      config: readConfig(environment),
      environment,
      logger,
      scripts: sharedPython(),
    });
    const failure = await host.start().then(
      () => null,
      (error: unknown) => error,
    );
    logger.fatal({ err: failure }, 'the server could not start');
    await host.stop().catch((error: unknown) => logger.error({ err: error }, 'stopped'));
    expect(lines.join('')).toContain('the server could not start');
    expect(lines.join('')).not.toMatch(/secret-of/);
  });
});
