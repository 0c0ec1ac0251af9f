/** Whom and which address the audit log names, and what happens if it cannot be written. */
import { afterEach, describe, expect, it } from 'vitest';
import type { AuditEntry, AuditPage } from '../../src/api/wire/models/audit.js';
import type { DefinitionPage } from '../../src/api/wire/models/definition.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import { OpenIdProvider } from '../support/openid-provider.js';
import { Client } from './support/client.js';
import { startServer, type TestServerOptions } from './support/server.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function start(options: Omit<TestServerOptions, 'store'> = {}): Promise<Client> {
  const server = await startServer({ store: createMemoryStore(), ...options });
  closing.push(() => server.stop());
  return new Client(server.url);
}

const body = JSON.stringify({ id: 'order', steps: [{ id: 'a', stepType: 'NoOp' }] });

function define(client: Client, headers: Readonly<Record<string, string>> = {}) {
  return client.call('POST', '/api/definition', { headers, body, type: 'application/json' });
}

async function newest(
  client: Client,
  headers: Readonly<Record<string, string>> = {},
): Promise<AuditEntry | undefined> {
  return (await client.call<AuditPage>('GET', '/api/audit', { headers })).body.items[0];
}

describe('the caller in the audit log', () => {
  it("is the subject of an OpenID provider's token", async () => {
    const provider = await OpenIdProvider.start({ redirectUris: [] });
    closing.push(() => provider.stop());
    const client = await start({ environment: provider.settings });
    const token = await provider.programToken('conductor:author conductor:admin');
    const headers = { authorization: `Bearer ${token}` };
    expect((await define(client, headers)).status).toBe(201);
    expect(await newest(client, headers)).toMatchObject({ actor: 'nightly-job' });
    const { body: page } = await client.call<DefinitionPage>('GET', '/api/definition', { headers });
    expect(page.items).toMatchObject([{ id: 'order', createdBy: 'nightly-job' }]);
  });

  it('is anonymous without access control', async () => {
    const client = await start();
    await define(client, { authorization: 'Bearer whatever' });
    expect(await newest(client)).toMatchObject({ actor: 'anonymous', address: '127.0.0.1' });
  });

  it('has the address that a trusted proxy reports, not one that the caller makes up', async () => {
    const forwarded = { 'x-forwarded-for': '192.0.2.7' };
    const direct = await start();
    await define(direct, forwarded);
    expect(await newest(direct)).toMatchObject({ address: '127.0.0.1' });
    const behind = await start({ environment: { trusted_proxies: '127.0.0.1' } });
    await define(behind, forwarded);
    expect(await newest(behind)).toMatchObject({ address: '192.0.2.7' });
  });
});

it("fails a call if its entry can't be stored, although the change was made (AU3)", async () => {
  let isDown = true;
  const wrapStore = (store: Store): Store => ({
    ...store,
    saveResource: (resource, expected) =>
      isDown && resource.kind === 'audit-entry'
        ? Promise.reject(new StoreUnavailableError('The store is down'))
        : store.saveResource(resource, expected),
  });
  const client = await start({ wrapStore });
  expect((await define(client)).status).toBe(503);
  isDown = false;
  const { body: page } = await client.call<DefinitionPage>('GET', '/api/definition');
  expect(page.items).toMatchObject([{ id: 'order', version: 1 }]);
  expect(await newest(client)).toBeUndefined();
});
