/** The calls about the server itself. */
import { expect, it } from 'vitest';
import type { ServerInfo } from '../../src/api/wire/models/info.js';
import { everyStore } from './support/every-store.js';
import { mark } from './support/steps.js';

interface Description {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { operationId?: string; responses: object }>>>
  >;
}

everyStore('the server endpoints', (at) => {
  it('describes the server at GET /api/info', async () => {
    const { body } = await at.client.get<ServerInfo>('/api/info');
    expect(Object.keys(body).sort()).toEqual(
      [
        'backplane',
        'machineName',
        'name',
        'nodeId',
        'osVersion',
        'startTime',
        'store',
        'version',
        'workingSet',
      ].sort(),
    );
    expect(body).toMatchObject({ name: 'Stepwright', backplane: 'local' });
    expect(body.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(Date.parse(body.startTime)).toBeLessThanOrEqual(Date.now());
    expect(body.workingSet).toBeGreaterThan(1_000_000);
    for (const text of [body.machineName, body.osVersion, body.nodeId]) expect(text).toMatch(/\w/);
    expect(['memory', 'sqlite', 'mongo']).toContain(body.store);
  });

  it('answers 200 at GET /health/live and /health/ready', async () => {
    expect((await at.client.get('/health/live')).status).toBe(200);
    const ready = await at.client.get('/health/ready');
    expect([ready.status, ready.body]).toEqual([200, { ready: true, reasons: [] }]);
  });

  it('counts runs and steps at GET /metrics', async () => {
    const { client } = at;
    const started = async (): Promise<number> => {
      const { headers, text } = await client.get('/metrics');
      expect(headers.get('content-type')).toMatch(/^text\/plain/);
      const line = /^stepwright_workflows_started_total(?:\{[^}]*\})? (\d+)$/m.exec(text);
      return Number(line?.[1] ?? 0);
    };
    const before = await started();
    await client.run([mark('a')]);
    expect(await started()).toBe(before + 1);
  });

  it('shows the API description at GET /swagger', async () => {
    const page = await at.client.get('/swagger');
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    const { body } = await at.client.get<Description>('/swagger/v1/swagger.json');
    const operations = Object.entries(body.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
    );
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).not.toContain(undefined);
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining([
        '/api/workflow/{id}',
        '/api/definition/{id}',
        '/api/event/{name}/{key}',
        '/api/activity/{id}',
        '/api/step/{id}',
      ]),
    );
  });

  it('answers unknown paths and methods with problem documents', async () => {
    const { client } = at;
    const missing = await client.get('/api/nothing');
    expect([missing.status, missing.body]).toMatchObject([404, { code: 'route_not_found' }]);
    const wrong = await client.call('PATCH', '/api/definition');
    expect([wrong.status, wrong.body]).toMatchObject([405, { code: 'method_not_allowed' }]);
    expect(wrong.headers.get('allow')).toMatch(/GET.*POST/);
    expect((await client.call('HEAD', '/api/activity/x')).status).toBe(405);
  });
});
