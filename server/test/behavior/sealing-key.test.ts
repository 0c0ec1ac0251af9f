/**
 * Goal: whoever forgets the key that protects stored secrets learns it at the start, and from the answer, and not from an
 * unexpected error.
 * Method: servers with every mistake that an operator can make with the file.
 */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { Client, type Answer } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';

const HOOK_SECRET = 'a secret that nobody else may see';
const STANDARD_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const WHAT_TO_DO = /openssl rand -base64 32 > sealing-key/;

const folders: string[] = [];
const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-sealing-key-'));
  folders.push(folder);
  return folder;
}

async function start(
  environment: Readonly<Record<string, string>>,
  store: Store = createMemoryStore(),
): Promise<{ readonly server: TestServer; readonly client: Client }> {
  const server = await startServer({ store, environment });
  servers.push(server);
  return { server, client: new Client(server.url) };
}

const put = (client: Client, path: string, body: object): Promise<Answer> =>
  client.call('PUT', path, { body: JSON.stringify(body), type: 'application/json' });
const putWebhook = (client: Client) =>
  put(client, '/api/webhook/orders', {
    scheme: 'github',
    secret: HOOK_SECRET,
    publish: { name: "'order'", key: "'1'" },
  });
const putNotification = (client: Client) =>
  put(client, '/api/notification/billing', {
    url: 'http://127.0.0.1:9/billing',
    secret: STANDARD_SECRET,
    on: ['failed'],
  });

const warnings = ({ logLines }: TestServer): readonly unknown[] =>
  logLines.filter(({ keyFile }) => keyFile !== undefined).map(({ msg }) => msg);

describe('a server with secrets_dir and without sealing-key', () => {
  it('reports the missing key at startup, with the remedy', async () => {
    const { server } = await start({ secrets_dir: newFolder() });
    expect(warnings(server)).toEqual([expect.stringMatching(WHAT_TO_DO)]);
  });

  it('explains it to callers who set up a webhook or a notification, without its paths', async () => {
    const folder = newFolder();
    const { client } = await start({ secrets_dir: folder });
    for (const answer of [await putWebhook(client), await putNotification(client)]) {
      expect(answer.status).toBe(503);
      // Longer than clients wait: they show the error at once.
      expect(answer.headers.get('retry-after')).toBe('60');
      expect(answer.body).toMatchObject({
        code: 'sealing_key_unavailable',
        detail: expect.stringMatching(WHAT_TO_DO) as string,
      });
      expect(answer.text).toContain('sealing-key in secrets_dir');
      expect(answer.text).not.toContain(folder);
    }
  });

  it('uses the key as soon as it exists', async () => {
    const folder = newFolder();
    const { client } = await start({ secrets_dir: folder });
    expect((await putWebhook(client)).status).toBe(503);
    writeFileSync(join(folder, 'sealing-key'), 'a key that is long enough');
    expect((await putWebhook(client)).status).toBe(200);
  });
});

describe('a server', () => {
  it('reports nothing about a key that it has or will create', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'sealing-key'), 'a key that is long enough');
    const given = await start({ secrets_dir: folder });
    const creates = await start({ data_dir: newFolder() });
    for (const { client, server } of [given, creates]) {
      expect((await putWebhook(client)).status).toBe(200);
      expect(warnings(server)).toEqual([]);
    }
  });

  it('reports a key that is too short', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'sealing-key'), 'short');
    const { client, server } = await start({ secrets_dir: folder });
    expect(warnings(server)).toEqual([expect.stringContaining('shorter than 16 characters')]);
    expect((await putWebhook(client)).text).toContain('shorter than 16 characters');
  });

  it("reports that it can't create the key in data_dir", async () => {
    const file = join(newFolder(), 'file');
    writeFileSync(file, '');
    const { client } = await start({ data_dir: join(file, 'data') });
    const answer = await putNotification(client);
    expect(answer.status).toBe(503);
    expect(answer.text).toContain('sealing-key in data_dir');
    expect(answer.text).not.toContain(file);
  });

  it('asks senders to call again if the key is lost, without an unexpected error', async () => {
    const [before, after] = [newFolder(), newFolder()];
    writeFileSync(join(before, 'sealing-key'), 'a key that is long enough');
    writeFileSync(join(after, 'sealing-key'), 'another key, which opens nothing');
    const store = createMemoryStore();
    const first = await start({ secrets_dir: before }, store);
    expect((await putWebhook(first.client)).status).toBe(200);
    const { client, server } = await start({ secrets_dir: after }, store);
    const signature = createHmac('sha256', HOOK_SECRET).update('{}').digest('hex');
    const answer = await client.call('POST', '/hooks/orders', {
      body: '{}',
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': `sha256=${signature}`,
      },
    });
    expect(answer).toMatchObject({ status: 503, body: { code: 'sealing_key_unavailable' } });
    expect(server.logLines).toContainEqual(expect.objectContaining({ webhook: 'orders' }));
  });
});
