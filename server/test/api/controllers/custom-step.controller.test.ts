/** Custom steps over HTTP: scripts are sent as text. */
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.js';
import { problemOf, startApi } from '../support/api-server.js';

const SCRIPT = 'größe = a + b\n';
const STORED = { name: 'add', version: 2, source: SCRIPT, createdAt: Date.UTC(2026, 0, 2) };
const WARNING = { code: 'odd', message: 'Odd.', pointer: '', place: { line: 2, column: 8 } };

describe('/api/step', () => {
  it.each(['text/x-python', 'text/x-python; charset=utf-8'])(
    'stores a script as %s',
    async (type) => {
      const api = await startApi({
        host: { 'customSteps.put': async () => ({ ...STORED, warnings: [] }) },
      });
      const response = await api.post('/api/step/add', SCRIPT, type);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ name: 'add', version: 2, warnings: [] });
      expect(api.calls[0]!.args).toEqual(['add', SCRIPT, false, 'anonymous']);
    },
  );

  it('returns warnings with their position, and passes the strict flag to the host', async () => {
    const api = await startApi({
      host: { 'customSteps.put': async () => ({ ...STORED, warnings: [WARNING] }) },
    });
    const response = await api.post('/api/step/add?strict=true', SCRIPT, 'text/x-python');
    expect(await response.json()).toEqual({
      name: 'add',
      version: 2,
      warnings: [{ code: 'odd', message: 'Odd.', line: 2, column: 8 }],
    });
    expect(api.calls[0]!.args).toEqual(['add', SCRIPT, true, 'anonymous']);
  });

  it.each(['application/json', 'text/plain', null])('rejects the media type %s', async (type) => {
    const api = await startApi();
    expect((await api.post('/api/step/add', SCRIPT, type)).status).toBe(415);
  });

  it('reports the position of a syntax error', async () => {
    const api = await startApi({
      host: {
        'customSteps.put': async () => {
          throw new AppError('invalid_script', 'invalid syntax', {
            fields: { line: 3, column: 5 },
          });
        },
      },
    });
    const response = await api.post('/api/step/add', SCRIPT, 'text/x-python');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'invalid_script', line: 3, column: 5 });
  });

  it('returns the script as it was stored, whatever Accept says', async () => {
    const api = await startApi({ host: { 'customSteps.get': async () => STORED } });
    const response = await api.fetch('/api/step/add', { headers: { accept: 'application/json' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/x-python; charset=utf-8');
    expect(await response.text()).toBe(SCRIPT);
  });

  it('lists names', async () => {
    const page = { items: [{ ...STORED, createdBy: 'ada' }], nextCursor: null };
    const api = await startApi({ host: { 'customSteps.list': async () => page } });
    expect(await (await api.fetch('/api/step')).json()).toEqual({
      items: [{ name: 'add', version: 2, createdAt: '2026-01-02T00:00:00.000Z', createdBy: 'ada' }],
      nextCursor: null,
    });
  });
});
