/** Parameters of the query: in any casing, each once, and what is wrong with them in plain words. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { QUERY_NAMES } from '../../src/api/query-names.js';
import { problemOf, startApi } from './support/api-server.js';
import { SOME_INSTANCE } from './support/scripted-host.js';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

async function problemAt(path: string, method = 'GET') {
  const api = await startApi({ host: { getWorkflow: async () => SOME_INSTANCE } });
  const response = await api.fetch(path, { method });
  expect(response.status).toBe(400);
  return problemOf(response);
}

describe('query parameters', () => {
  it('are known by all the names that the API document has', () => {
    const file = new URL('../../openapi/openapi.json', import.meta.url);
    const document = JSON.parse(readFileSync(file, 'utf8')) as {
      paths: Record<string, Record<string, Operation>>;
    };
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const described = operations
      .flatMap(({ parameters = [] }) => parameters)
      .filter((parameter) => parameter.in === 'query')
      .map(({ name }) => name);
    expect([...QUERY_NAMES].sort()).toEqual([...new Set(described)].sort());
  });

  it.each(['workerId=w&timeout=7&lease=9', 'WorkerId=w&Timeout=7&LEASE=9'])(
    'are read from %s',
    async (query) => {
      const polls: unknown[] = [];
      const api = await startApi({
        host: {
          pullActivity: async (poll) => {
            polls.push(poll);
            return null;
          },
        },
      });
      await api.fetch(`/api/activity/add?${query}`);
      expect(polls).toMatchObject([{ workerId: 'w', timeoutMs: 7000, leaseMs: 9000 }]);
    },
  );

  it('may have neighbours that no call knows', async () => {
    const api = await startApi({ host: { getWorkflow: async () => SOME_INSTANCE } });
    const response = await api.fetch('/api/workflow/w1?__proto__=1&constructor=2&_=3&&=');
    expect(response.status).toBe(200);
  });

  it.each(['reference=a&reference=b', 'reference=a&Reference=b'])(
    'are refused when they are given twice, as in %s',
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

  it('name their choices', async () => {
    const problem = await problemAt('/api/workflow?status=running');
    expect(problem['detail']).toBe(
      'status must be one of Runnable, Suspended, Complete, Terminated',
    );
  });

  it.each([
    ['cursor', `cursor=${'x'.repeat(1_001)}`],
    ['startedFrom', 'startedFrom=yesterday'],
    ['limit', 'limit=0'],
  ])('say that %s is what is wrong, in the same place of the answer', async (name, query) => {
    const problem = await problemAt(`/api/workflow?${query}`);
    expect(problem['errors']).toMatchObject([{ code: 'invalid_parameter', parameter: name }]);
  });
});
