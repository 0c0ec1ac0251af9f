/** Goal: a server with the printed settings accepts the token, for what its scope allows. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeToken } from '../../src/cli/commands/token.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { Client } from '../behavior/support/client.js';
import { startServer } from '../behavior/support/server.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-token-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const VIEWER = { scope: 'conductor:viewer', alg: 'ES256', expires: 60_000 };

describe('a token', () => {
  it.each(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'])(
    'is accepted by a server with its settings (%s)',
    async (alg) => {
      const named = { issuer: 'tests', audience: 'stepwright' };
      const { settings, token } = await makeToken({ ...VIEWER, ...named, alg });
      const server = await startServer({ store: createMemoryStore(), environment: settings });
      const client = new Client(server.url);
      const headers = { authorization: `Bearer ${token}` };
      expect((await client.call('GET', '/api/workflow', { headers })).status).toBe(200);
      expect((await client.call('DELETE', '/api/workflow/x', { headers })).status).toBe(403);
      expect((await client.call('GET', '/api/workflow')).status).toBe(401);
      await server.stop();
    },
  );

  it('keeps its new key at the given path, for its owner only, and reuses it', async () => {
    const key = path.join(folder, 'key.pem');
    const first = await makeToken({ ...VIEWER, key });
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const pem = readFileSync(key, 'utf8');
    expect(pem).toContain('PRIVATE KEY');
    const second = await makeToken({ ...VIEWER, key, scope: 'conductor:worker' });
    expect(second.settings).toEqual(first.settings);
    expect(readFileSync(key, 'utf8')).toBe(pem);
  });

  it.each([
    [{ scope: 'conductor:root' }, "--scope: 'conductor:root' is not a scope"],
    [{ scope: 'conductor:viewer:*' }, "--scope: 'conductor:viewer:*' is not a scope"],
    [{ scope: '' }, "--scope: '' is not a scope"],
    [{ key: path.join(folder, 'no-key.pem') }, 'is not a private key in PEM format'],
  ])('is refused with %j', async (wrong, message) => {
    writeFileSync(path.join(folder, 'no-key.pem'), 'text');
    await expect(makeToken({ ...VIEWER, ...wrong })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(message) as string,
    });
  });
});
