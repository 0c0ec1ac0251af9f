/** What the server reports about itself: info, probes, metrics, and the description of its API. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { authWith, startApi } from './support/api-server.js';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

describe('GET /api/info', () => {
  it('returns the information of the host', async () => {
    const info = {
      name: 'Stepwright',
      version: '1.2.3',
      startTime: Date.UTC(2026, 0, 2),
      machineName: 'm',
      osVersion: 'o',
      workingSet: 1,
      nodeId: 'n',
      store: 'memory',
      backplane: 'local',
    } as const;
    const api = await startApi({ host: { info: () => info } });
    const response = await api.fetch('/api/info');
    expect(await response.json()).toEqual({ ...info, startTime: '2026-01-02T00:00:00.000Z' });
  });
});

describe('the monitoring API', () => {
  it('answers live without calling the host', async () => {
    const api = await startApi();
    const response = await api.fetch('/health/live');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'live' });
  });

  it.each([
    [200, { ready: true, reasons: [] }],
    [503, { ready: false, reasons: ['The store is not responding'] }],
  ])('answers ready with %i', async (status, readiness) => {
    const api = await startApi({ host: { readiness: () => readiness } });
    const response = await api.fetch('/health/ready');
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual(readiness);
  });

  it('returns metrics with the media type of the host', async () => {
    const contentType = 'text/plain; version=0.0.4; charset=utf-8';
    const api = await startApi({ host: { metrics: async () => ({ text: 'a 1\n', contentType }) } });
    const response = await api.fetch('/metrics', { headers: { accept: 'application/json' } });
    expect(response.headers.get('content-type')).toBe(contentType);
    expect(await response.text()).toBe('a 1\n');
  });
});

describe('GET /swagger', () => {
  it('is a page that loads all its files from this server', async () => {
    const api = await startApi();
    const page = await api.fetch('/swagger');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const html = await page.text();
    const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) {
      expect(part).toMatch(/^\/swagger\//);
      const response = await api.fetch(part);
      expect(response.status, part).toBe(200);
      expect((await response.arrayBuffer()).byteLength, part).toBeGreaterThan(100);
    }
  });

  it.each(['/swagger/v1/swagger.json', '/swagger.json', '/openapi.json'])(
    'serves the document at %s',
    async (path) => {
      const api = await startApi();
      const response = await api.fetch(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(await response.json()).toMatchObject({ info: { title: 'Stepwright API' } });
    },
  );
});

describe('GET /schemas', () => {
  it.each([
    ['definitions', '/schemas/definition.json', 'definition.schema.json'],
    ['files of limits', '/schemas/limit.json', 'limit.schema.json'],
    ['files of tests', '/schemas/test-file.json', 'test-file.schema.json'],
  ])('has the schema of %s, which is public', async (_what, path, file) => {
    const api = await startApi({ auth: authWith(publicKey) });
    const response = await api.fetch(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/schema+json; charset=utf-8');
    const committed = new URL(`../../../docs/${file}`, import.meta.url);
    expect(await response.json()).toEqual(JSON.parse(readFileSync(committed, 'utf8')));
  });

  it('answers 304 to a client that already has it', async () => {
    const api = await startApi();
    const tag = (await api.fetch('/schemas/definition.json')).headers.get('etag')!;
    const ask = (etag: string) =>
      api.fetch('/schemas/definition.json', { headers: { 'if-none-match': etag } });
    const same = await ask(tag);
    expect([same.status, same.headers.get('etag'), await same.text()]).toEqual([304, tag, '']);
    expect((await ask(`"another", W/${tag}`)).status).toBe(304);
    expect((await ask('"another"')).status).toBe(200);
  });
});
