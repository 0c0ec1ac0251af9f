/** Settings, read once and checked at the start. Here the server runs as a process. */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/config-error.js';
import { readConfig } from '../../src/config/read-config.js';
import { SETTINGS } from '../../src/config/settings.js';
import { Client } from './support/client.js';
import { compute } from './support/steps.js';
import { SpawnedServer } from '../support/spawned-server.js';
import { startProcess, temporaryFolder } from './support/server-process.js';

const publicKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .publicKey.export({ type: 'spki', format: 'der' })
  .toString('base64');

/** The log lines, parsed from JSON. */
function logOf(output: string): readonly Record<string, unknown>[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('an invalid setting', () => {
  it.each([
    ['PORT', { PORT: 'abc' }],
    ['Port', { Port: '70000' }],
    ['dbhost', { dbhost: 'localhost:27017' }],
    ['redis', { redis: 'http://localhost' }],
    ['auth', { auth: 'maybe' }],
    ['alg', { alg: 'HS256' }],
    ['publickey', { auth: 'true' }],
    ['publickey', { auth: 'true', publickey: 'nonsense' }],
    ['publickey', { auth: 'true', publickey: publicKey, alg: 'ES256' }],
    ['BODY_BYTES_MAX', { BODY_BYTES_MAX: '-1' }],
    ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
  ])('is reported with its name %s: %j', (name, environment) => {
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).toThrow(new RegExp(`^(?=.*\\b${name}\\b)\\S+ .+$`));
  });

  it('stops the process with only that message', async () => {
    const { code, output } = await SpawnedServer.runUntilExit({
      Port: 'abc',
      DATA_DIR: '/nonexistent/never',
    });
    expect(code).toBe(2);
    expect(output).toMatch(/^stepwright: Port [^\n]+\n$/);
  });

  it('is reported without revealing secrets', async () => {
    const { code, output } = await SpawnedServer.runUntilExit({
      dbhost: 'mongo://user:hunter2@host/',
    });
    expect(code).toBe(2);
    expect(output).not.toContain('hunter2');
  });

  it('is reported if two spellings of one setting have different values', () => {
    expect(() => readConfig({ PORT: '1', port: '2' })).toThrow(/PORT/i);
    expect(readConfig({ PORT: '1', port: '1' }).port).toBe(1);
  });
});

describe('the defaults of the settings', () => {
  it('has the documented values', () => {
    expect(readConfig({})).toMatchObject({
      dbhost: null,
      redis: null,
      port: 5001,
      host: '127.0.0.1',
      data_dir: './data',
      auth: false,
    });
  });

  it('applies the default to an empty value', () => {
    expect(readConfig({ dbhost: '', PORT: ' ' })).toMatchObject({ dbhost: null, port: 5001 });
  });

  it.each(Object.entries(SETTINGS))(
    'describes %s, with a unit for each limit',
    (name, { fallback, meaning }) => {
      expect(meaning).toMatch(/^[A-Z].*\.$/);
      if (typeof fallback === 'number' && name !== 'port') {
        expect(name).toMatch(/_(ms|seconds|bytes)(_max)?$|_max$|_processes$|_spares$|_per_host$/);
      }
    },
  );
});

describe('the server process', () => {
  it('stores everything in a file under DATA_DIR without settings, and logs that', async () => {
    const folder = path.join(await temporaryFolder(), 'made');
    const server = await startProcess({ Port: '0', data_dir: folder });
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(existsSync(path.join(folder, 'stepwright.db'))).toBe(true);
    const client = new Client(server.url);
    const { body } = await client.get('/api/info');
    expect(body).toMatchObject({ store: 'sqlite', backplane: 'local' });
    expect(await server.stop()).toBe(0);
    expect(server.output).not.toMatch(/"level":"(warn|error|fatal)"/);
    const line = logOf(server.output).find(({ msg }) => msg === 'listening');
    expect(JSON.stringify(line)).toContain(folder);
  });

  it('hides its settings and secrets from expressions, and exposes other variables', async () => {
    const server = await startProcess({
      PORT: '0',
      DATA_DIR: await temporaryFolder(),
      PUBLICKEY: publicKey,
      COPY_OF_IT: `key=${publicKey}`,
      SHOWN: 'yes',
    });
    const { data } = await new Client(server.url).run([
      compute('a', {
        shown: 'environment["SHOWN"]',
        names: 'sorted(environment.keys())',
        all: 'str(environment)',
      }),
    ]);
    expect(data).toMatchObject({ shown: 'yes' });
    expect(data['names']).toEqual(expect.arrayContaining(['SHOWN']));
    expect(data['all']).not.toContain(publicKey);
    for (const hidden of ['COPY_OF_IT', 'PORT', 'DATA_DIR', 'PUBLICKEY']) {
      expect(data['names']).not.toContain(hidden);
    }
  });

  it('restricts the environment to an allow-list', async () => {
    const server = await startProcess({
      PORT: '0',
      DATA_DIR: await temporaryFolder(),
      A: '1',
      B: '2',
      environment_allow: 'A, C',
    });
    const { data } = await new Client(server.url).run([compute('a', { all: 'environment' })]);
    expect(data).toEqual({ all: { A: '1' } });
  });

  it.each([
    ['warns if others can reach the address without auth', {}, true],
    ["doesn't warn with auth", { auth: 'true', publickey: publicKey }, false],
    ["doesn't warn with allow_insecure", { allow_insecure: 'true' }, false],
    // eslint-disable-next-line test-titles/sentence -- Each row has a sentence.
  ])('%s', async (_, environment, warns) => {
    const server = await startProcess({
      PORT: '0',
      HOST: '0.0.0.0',
      DATA_DIR: await temporaryFolder(),
      ...environment,
    });
    // The log is complete once the process has ended.
    await server.stop();
    const warnings = logOf(server.output).filter(({ level }) => level === 'warn');
    const isWarned = warnings.some(({ msg }) => /auth/.test(String(msg)));
    expect(isWarned, server.output).toBe(warns);
  });

  it('exits with a message if its port is unavailable', async () => {
    const first = await startProcess({ PORT: '0', DATA_DIR: await temporaryFolder() });
    const { code, output } = await SpawnedServer.runUntilExit({
      PORT: new URL(first.url).port,
      DATA_DIR: await temporaryFolder(),
    });
    expect(code).toBe(1);
    expect(output).toMatch(/EADDRINUSE|in use/);
  });
});
