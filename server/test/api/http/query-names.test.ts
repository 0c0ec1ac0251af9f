/** Query parameters: in any casing, each once, with clear messages for invalid ones. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { problemOf, authWith, startApi } from '../support/api-server.js';
import { SOME_INSTANCE } from '../support/scripted-host.js';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

const DOCUMENT = JSON.parse(
  readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8'),
) as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

async function problemAt(path: string, method = 'GET') {
  const api = await startApi({ host: { 'instances.get': async () => SOME_INSTANCE } });
  const response = await api.fetch(path, { method });
  expect(response.status).toBe(400);
  return problemOf(response);
}

describe('a query parameter', () => {
  const calls = Object.entries(DOCUMENT.paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { parameters = [] }]) => ({
        call: `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'x')}`,
        names: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      })),
    );

  it.each(calls)('is rejected by $call if its name is unknown', async ({ call, names }) => {
    const [method = '', path = ''] = call.split(' ');
    const api = await startApi();
    const response = await api.fetch(`${path}?refrence=1`, { method });
    expect(response.status).toBe(400);
    const problem = await problemOf(response);
    const known =
      names.length === 0 ? 'This call takes none.' : `This call takes ${names.join(', ')}.`;
    const hint = names.includes('reference') ? ' Did you mean "reference"?' : '';
    expect(problem).toMatchObject({
      code: 'invalid_request',
      detail: `refrence is not a query parameter of this call. ${known}${hint}`,
      errors: [{ code: 'invalid_parameter', parameter: 'refrence' }],
    });
    expect(api.calls).toEqual([]);
  });

  it.each(['workerId=w&timeout=7&lease=9', 'WorkerId=w&Timeout=7&LEASE=9'])(
    'is read from %s',
    async (query) => {
      const polls: unknown[] = [];
      const api = await startApi({
        host: {
          'activities.pull': async (poll) => {
            polls.push(poll);
            return null;
          },
        },
      });
      await api.fetch(`/api/activity/add?${query}`);
      expect(polls).toMatchObject([{ workerId: 'w', timeoutMs: 7000, leaseMs: 9000 }]);
    },
  );

  it.each(['__proto__=1', 'constructor=2', '_=3', '=', 'x'.repeat(5000)])(
    'is rejected if its name is unusual: %j',
    async (query) => {
      const problem = await problemAt(`/api/workflow/w1?${query}`);
      expect(String(problem['detail'])).toMatch(/ is not a query parameter of this call\./);
      expect(String(problem['detail']).length).toBeLessThan(300);
    },
  );

  it('is rejected only after authentication if its name is unknown', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const api = await startApi({ auth: authWith(publicKey) });
    expect((await api.fetch('/api/workflow?refrence=1')).status).toBe(401);
  });

  it('is ignored by the probes', async () => {
    const api = await startApi();
    expect((await api.fetch('/health/live?time=1')).status).toBe(200);
  });

  it.each(['reference=a&reference=b', 'reference=a&Reference=b'])(
    'is rejected if it is repeated, as in %s',
    async (query) => {
      const problem = await problemAt(`/api/workflow?${query}`);
      expect(problem['detail']).toBe('reference is given more than once');
      expect(problem['errors']).toEqual([
        {
          code: 'invalid_parameter',
          message: 'is given more than once',
          parameter: 'reference',
        },
      ]);
    },
  );

  it('is rejected with the list of valid values', async () => {
    const problem = await problemAt('/api/workflow?status=running');
    expect(problem['detail']).toBe(
      'status must be one of Runnable, Suspended, Complete, Terminated',
    );
  });

  it.each([
    ['cursor', `cursor=${'x'.repeat(1_001)}`],
    ['startedFrom', 'startedFrom=yesterday'],
    ['limit', 'limit=0'],
  ])(
    'is rejected with %s as the invalid parameter, in the same member of the response',
    async (name, query) => {
      const problem = await problemAt(`/api/workflow?${query}`);
      expect(problem['errors']).toMatchObject([{ code: 'invalid_parameter', parameter: name }]);
    },
  );
});
