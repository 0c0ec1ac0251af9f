/** Every limit on requests and on Python is a setting: a server with small limits rejects what others accept. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { Client } from '../behavior/support/client.js';
import { startServer } from '../behavior/support/server.js';
import { compute, step } from '../behavior/support/steps.js';
import { serverForTests } from './support/secured-server.js';

const JSON_TYPE = 'application/json';
const YAML = 'application/yaml';

describe('a request body', () => {
  const at = serverForTests({
    BODY_BYTES_MAX: '4096',
    YAML_BYTES_MAX: '2048',
    SCRIPT_BYTES_MAX: '1024',
    BODY_DEPTH_MAX: '8',
    BODY_VALUES_MAX: '100',
  });
  const event = (body: string, type: string) =>
    at.client.call<Problem>('POST', '/api/event/e/k', { body, type });
  const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

  it.each([
    ['JSON of body_bytes_max', () => event(text(4096), JSON_TYPE), 202, null],
    ['JSON of body_bytes_max plus one byte', () => event(text(4097), JSON_TYPE), 413, 4096],
    ['YAML of yaml_bytes_max', () => event(text(2048), YAML), 202, null],
    ['YAML of yaml_bytes_max plus one byte', () => event(text(2049), YAML), 413, 2048],
  ])('is answered with its size limit: %s', async (_what, call, status, bytesMax) => {
    const answer = await call();
    expect(answer.status, answer.text).toBe(status);
    if (bytesMax !== null) expect(answer.body).toMatchObject({ bytesMax });
  });

  it.each([
    [1024, 200],
    [1025, 413],
  ])('gives with a script of %i bytes the status %i', async (bytes, status) => {
    const body = `#${'x'.repeat(bytes - 1)}`;
    const answer = await at.client.call('POST', '/api/step/s', { body, type: 'text/x-python' });
    expect(answer.status, answer.text).toBe(status);
  });

  it.each([JSON_TYPE, YAML])(
    'is accepted as deep as body_depth_max, but no deeper, as %s',
    async (type) => {
      expect((await event(nested(8), type)).status).toBe(202);
      const refused = await event(nested(9), type);
      expect([refused.status, refused.body.detail]).toEqual([
        400,
        expect.stringContaining('deeper than 8 levels'),
      ]);
    },
  );

  it.each([JSON_TYPE, YAML])(
    'is rejected with more than body_values_max values, as %s',
    async (type) => {
      expect((await event(`[${'1,'.repeat(90)}1]`, type)).status).toBe(202);
      const refused = await event(`[${'1,'.repeat(110)}1]`, type);
      expect([refused.status, refused.body.detail]).toEqual([
        400,
        expect.stringContaining('more than 100 values'),
      ]);
    },
  );
});

describe('a lease', () => {
  const at = serverForTests({ LEASE_SECONDS_MAX: '60' });

  it('is capped at lease_seconds_max', async () => {
    await at.client.defineAndStart([step('a', 'Activity', { ActivityName: "'leased'" })]);
    const { token, tokenExpiry } = await at.client.work('leased', '&lease=5000');
    const isCut = (time: string) => Date.parse(time) <= Date.now() + 60_000;
    expect(isCut(tokenExpiry), tokenExpiry).toBe(true);
    const path = `/api/activity/${token}/heartbeat?lease=5000`;
    const extended = await at.client.call<{ tokenExpiry: string }>('PUT', path);
    expect(isCut(extended.body.tokenExpiry), extended.text).toBe(true);
  });

  it('is protected from changes in the token', async () => {
    await at.client.defineAndStart([step('a', 'Activity', { ActivityName: "'forged'" })]);
    const { token } = await at.client.work('forged', '&lease=5');
    const parts = token.split('.').slice(0, 2).join('.');
    for (const lease of ['.L999999999', '.L6', '.L05', '.999999999', '.5', '']) {
      const path = `/api/activity/${parts}${lease}/heartbeat`;
      expect((await at.client.call('PUT', path)).status, lease).toBe(404);
      expect((await at.client.call('POST', `/api/activity/success/${parts}${lease}`)).status).toBe(
        404,
      );
    }
    const extended = await at.client.call<{ tokenExpiry: string }>(
      'PUT',
      `/api/activity/${token}/heartbeat`,
    );
    expect(Date.parse(extended.body.tokenExpiry)).toBeLessThanOrEqual(Date.now() + 5000);
  });

  it('stays below the maximum in a token of an earlier version, whose lease is not bound', async () => {
    await at.client.defineAndStart([step('a', 'Activity', { ActivityName: "'earlier'" })]);
    const { token } = await at.client.work('earlier');
    const path = `/api/activity/${token}.999999999/heartbeat`;
    const extended = await at.client.call<{ tokenExpiry: string }>('PUT', path);
    expect(extended.status, extended.text).toBe(200);
    expect(Date.parse(extended.body.tokenExpiry)).toBeLessThanOrEqual(Date.now() + 60_000);
  });
});

describe('the Python configuration', () => {
  async function startWith(environment: Readonly<Record<string, string>>) {
    const server = await startServer({
      store: createMemoryStore(),
      environment: { PYTHON_SPARES: '0', ...environment },
      ownPython: true,
    });
    onTestFinished(() => server.stop());
    const client = new Client(server.url);
    const runScript = async (source: string) => {
      const name = await client.script(source);
      return client.run([step('a', name, {}, { ErrorBehavior: 'Terminate' })]);
    };
    const errorOf = async (expression: string) => {
      const ended = await client.run([
        compute('a', { x: expression }, { ErrorBehavior: 'Terminate' }),
      ]);
      return ended.lastError;
    };
    return { server, runScript, errorOf };
  }

  it('sets the limits for recursion, result, output and memory', async () => {
    const { errorOf, runScript, server } = await startWith({
      PYTHON_RECURSION_MAX: '200',
      PYTHON_RESULT_BYTES_MAX: '20000',
      PYTHON_OUTPUT_BYTES_MAX: '10',
      PYTHON_MEMORY_BYTES_MAX: String(64 * 1024 * 1024),
    });
    const deep = (depth: number) => `f = lambda n: n and f(n - 1)\nx = f(${depth})`;
    expect((await runScript(deep(100))).lastError).toBeNull();
    expect((await runScript(deep(300))).lastError).toMatchObject({ type: 'RecursionError' });
    // The limit is the same after the evaluation that reached it.
    expect((await runScript(deep(100))).lastError).toBeNull();
    expect(await errorOf('"x" * 10000')).toBeNull();
    expect(await errorOf('"x" * 30000')).toMatchObject({ type: 'ResultTooLarge' });
    expect(await errorOf('len("x" * 100_000_000)')).toMatchObject({ type: 'MemoryLimit' });
    expect((await runScript('print("0123456789abcdef")')).lastError).toBeNull();
    const printed = server.logLines.find(({ msg }) => msg === 'a script printed');
    expect(printed?.['output']).toBe('0123456789');
  });

  it('sets the time limits', async () => {
    const { errorOf, runScript } = await startWith({
      EXPRESSION_TIMEOUT_MS: '200',
      SCRIPT_TIMEOUT_MS: '300',
    });
    expect(await errorOf('sum(x for x in range(10 ** 12))')).toMatchObject({
      type: 'Timeout',
      message: expect.stringContaining('200 ms') as string,
    });
    expect((await runScript('while True: pass')).lastError).toMatchObject({
      type: 'Timeout',
      message: expect.stringContaining('300 ms') as string,
    });
  });
});
