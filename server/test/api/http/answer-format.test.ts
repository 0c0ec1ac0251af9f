/** The format of a response: JSON unless the client prefers YAML. */
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/engine/values/json.js';
import { startApi } from '../support/api-server.js';
import { SOME_INSTANCE } from '../support/scripted-host.js';

const JSON_TYPE = 'application/json; charset=utf-8';

describe('a response', () => {
  it.each([
    [null, JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['application/json', JSON_TYPE],
    ['application/*', JSON_TYPE],
    ['text/html,application/xhtml+xml,*/*;q=0.8', JSON_TYPE],
    ['application/yaml', 'application/yaml; charset=utf-8'],
    ['application/x-yaml', 'application/x-yaml; charset=utf-8'],
    ['text/yaml', 'text/yaml; charset=utf-8'],
    ['application/json;q=0.5, application/yaml', 'application/yaml; charset=utf-8'],
    ['application/yaml;q=0.5, application/json', JSON_TYPE],
    ['application/yaml;q=0', JSON_TYPE],
    ['APPLICATION/YAML; charset=UTF-8', 'application/yaml; charset=utf-8'],
    ['application/x-yaml;charset=utf-8, */*;q=0.1', 'application/x-yaml; charset=utf-8'],
    ['application/json; charset=utf-8', JSON_TYPE],
    ['application/xml', JSON_TYPE],
    ['nonsense', JSON_TYPE],
  ])('answers Accept: %s with the media type %s', async (accept, type) => {
    const api = await startApi({ host: { 'instances.get': async () => SOME_INSTANCE } });
    // fetch sends */* by itself; an empty value stands for no header.
    const headers = accept === null ? { accept: '' } : { accept };
    const response = await api.fetch('/api/workflow/w1', { headers });
    expect(response.headers.get('content-type')).toBe(type);
    const text = await response.text();
    const value: unknown = type === JSON_TYPE ? JSON.parse(text) : parse(text);
    expect(value).toMatchObject({ workflowId: 'w1', data: { name: 'Ada' } });
  });

  it('preserves own __proto__ members in both formats', async () => {
    const data = JSON.parse('{"__proto__":{"x":1}}') as typeof SOME_INSTANCE.data;
    const api = await startApi({
      host: { 'instances.get': async () => ({ ...SOME_INSTANCE, data }) },
    });
    const json = await (await api.fetch('/api/workflow/w1')).text();
    expect(json).toContain('"data":{"__proto__":{"x":1}}');
    const accept = { headers: { accept: 'application/yaml' } };
    expect(await (await api.fetch('/api/workflow/w1', accept)).text()).toContain('__proto__:\n');
  });

  it('is compressed for clients that accept gzip, unless it is short', async () => {
    const rows = Array.from({ length: 300 }, (_, at) => ({ at, name: `row ${at}` }));
    const long = { ...SOME_INSTANCE, data: { rows } };
    const api = await startApi({
      host: { 'instances.get': async (id) => (id === 'long' ? long : SOME_INSTANCE) },
    });
    const load = async (id: string, accepted: string) => {
      const headers = { 'accept-encoding': accepted };
      const response = await api.fetch(`/api/workflow/${id}`, { headers });
      const { data } = (await response.json()) as { data: unknown };
      const { headers: given } = response;
      return {
        data,
        encoding: given.get('content-encoding'),
        vary: given.get('vary'),
        length: Number(given.get('content-length')),
      };
    };
    const plain = await load('long', 'identity');
    expect(plain).toMatchObject({ data: { rows }, encoding: null, vary: 'Accept-Encoding' });
    const compressed = await load('long', 'br, gzip;q=0.5');
    expect(compressed).toMatchObject({ data: { rows }, encoding: 'gzip', vary: 'Accept-Encoding' });
    expect(compressed.length).toBeLessThan(plain.length / 3);
    expect(await load('long', 'gzip;q=0, br')).toMatchObject({ encoding: null });
    expect(await load('short', 'gzip')).toMatchObject({ encoding: null, vary: null });
  });

  it('has the same content if it is long', async () => {
    const data = { rows: Array.from({ length: 30_000 }, (_, at) => ({ at, name: `row ${at}` })) };
    const api = await startApi({
      host: { 'instances.get': async () => ({ ...SOME_INSTANCE, data }) },
    });
    const json = (await (await api.fetch('/api/workflow/w1')).json()) as { data: unknown };
    expect(json.data).toEqual(data);
    const accept = { headers: { accept: 'application/yaml', 'accept-encoding': 'identity' } };
    const response = await api.fetch('/api/workflow/w1', accept);
    expect(response.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    const text = await response.text();
    expect(response.headers.get('content-length')).toBe(String(text.length));
    expect(text).toContain('\n    - at: 29999\n      name: "row 29999"\n'.replaceAll('"', ''));
  });

  it('is JSON if it is too long for YAML', async () => {
    // Each of a few values adds the indentation of a hundred levels.
    let deep: Json = Array.from({ length: 60_000 }, () => 1);
    for (let depth = 0; depth < 90; depth += 1) deep = [deep];
    const data = { deep };
    const api = await startApi({
      host: { 'instances.get': async () => ({ ...SOME_INSTANCE, data }) },
    });
    const accept = { headers: { accept: 'application/yaml' } };
    const response = await api.fetch('/api/workflow/w1', accept);
    expect(response.headers.get('content-type')).toBe(JSON_TYPE);
    expect(((await response.json()) as { data: unknown }).data).toEqual(data);
  });

  it('is not cacheable', async () => {
    const api = await startApi({ host: { 'instances.get': async () => SOME_INSTANCE } });
    const response = await api.fetch('/api/workflow/w1');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('etag')).toBeNull();
  });

  it('has no body for HEAD', async () => {
    const api = await startApi({ host: { 'instances.get': async () => SOME_INSTANCE } });
    const response = await api.fetch('/api/workflow/w1', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100);
    expect(await response.text()).toBe('');
  });
});
