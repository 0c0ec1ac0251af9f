/** Idempotency-Key: two requests have the same hash exactly if they request the same. */
import { describe, expect, it } from 'vitest';
import type { IdempotencyKey } from '../../src/runtime/model/idempotency-key.js';
import type { StartRequest } from '../../src/runtime/model/instance-types.js';
import { canonicalJson } from '../../src/api/wire/map/idempotency.js';
import { startApi } from './support/api-server.js';
import { SOME_INSTANCE } from './support/scripted-host.js';

interface Start {
  readonly path?: string;
  readonly body?: string;
  readonly type?: string;
}

async function keyOf({ path = '/api/workflow/a', body = '{"x":1,"y":[1,2]}', type }: Start) {
  const api = await startApi({
    host: { 'instances.start': async () => ({ instance: SOME_INSTANCE, isNew: true }) },
  });
  const headers = { 'content-type': type ?? 'application/json', 'idempotency-key': 'k 1' };
  const response = await api.fetch(path, { method: 'POST', body, headers });
  expect(response.status).toBe(201);
  return (api.calls[0]!.args[0] as StartRequest).idempotency as IdempotencyKey;
}

describe('an Idempotency-Key', () => {
  it('is passed on with a hash of the request', async () => {
    expect(await keyOf({})).toEqual({
      key: 'k 1',
      requestHash: expect.stringMatching(/^[\da-f]{64}$/) as unknown,
    });
  });

  it.each<Start>([
    {},
    { path: '/API/Workflow/%61/' },
    { body: ' { "y": [1, 2], "x": 1.0 } ' },
    { body: 'y: [1, 2]\nx: 1', type: 'application/yaml' },
  ])('gets the same hash for %j', async (start) => {
    expect(await keyOf(start)).toEqual(await keyOf({}));
  });

  it.each<Start>([
    { path: '/api/workflow/b' },
    { path: '/api/workflow/a?reference=r' },
    { body: '{"x":1,"y":[2,1]}' },
    { body: '{"x":"1","y":[1,2]}' },
    { body: '{"x":1,"y":[1,2],"z":null}' },
  ])('gets a different hash for %j', async (start) => {
    expect((await keyOf(start)).requestHash).not.toBe((await keyOf({})).requestHash);
  });

  it.each(['', 'x'.repeat(256), 'ümlaut', 'a\tb'])('is rejected if it is %j', async (key) => {
    const api = await startApi();
    const headers = { 'idempotency-key': key };
    const response = await api.fetch('/api/workflow/a', { method: 'POST', headers });
    expect(response.status).toBe(400);
  });

  it.each([
    ['/api/definition', 'definitions.register', 1],
    ['/api/event/a/b', 'events.publish', 0],
  ])('is passed on by %s', async (path, method, position) => {
    const api = await startApi({
      host: {
        'definitions.register': async () => ({ id: 'a', version: 1, warnings: [] }),
        'events.publish': async () => ({ id: 'e', deliveredTo: 0 }),
      },
    });
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
    await api.fetch(path, { method: 'POST', body: '{}', headers });
    expect(api.calls).toHaveLength(1);
    expect(api.calls[0]!.method).toBe(method);
    expect(JSON.stringify(api.calls[0]!.args[position])).toContain('"key":"k"');
  });
});

describe('canonicalJson', () => {
  it('sorts members at every depth and keeps lists', () => {
    const value = JSON.parse('{"b":[{"d":1,"c":2}],"a":{"__proto__":1,"A":null}}') as never;
    expect(canonicalJson(value)).toBe('{"a":{"A":null,"__proto__":1},"b":[{"c":2,"d":1}]}');
  });
});
