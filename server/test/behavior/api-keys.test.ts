/** API keys: created once, accepted beside tokens, and dead within a second on every node. On every kind of store. */
import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiKey, ApiKeyPage, CreatedApiKey } from '../../src/api/wire/models/key.js';
import type { WorkflowActionList } from '../../src/api/wire/models/control.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { Client, fresh } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';
import { STORE_KINDS, type TestStore } from './support/stores.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const environment = {
  auth: 'true',
  alg: 'RS256',
  publickey: rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
};

interface Sent {
  readonly bearer: string;
  readonly body?: unknown;
}

describe.each(STORE_KINDS.filter(({ available }) => available))('API keys ($kind)', (storeKind) => {
  let store: TestStore;
  let servers: TestServer[];
  let clients: Client[];
  let admin: string;

  beforeAll(async () => {
    store = await storeKind.create();
    const nodes = storeKind.kind === 'memory' ? 1 : 2;
    servers = [];
    for (let node = 0; node < nodes; node += 1) {
      servers.push(await startServer({ store: store.open(), environment }));
    }
    clients = servers.map(({ url }) => new Client(url));
    admin = await new SignJWT({ scope: 'conductor:admin', sub: 'ada' })
      .setProtectedHeader({ alg: 'RS256' })
      .setExpirationTime('10m')
      .sign(rsa.privateKey);
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await store.remove();
  });

  const callNode = <Body>(node: number, method: string, path: string, options: Sent) =>
    clients[node % clients.length]!.call<Body>(method, path, {
      headers: { authorization: `Bearer ${options.bearer}` },
      ...(options.body !== undefined && {
        body: JSON.stringify(options.body),
        type: 'application/json',
      }),
    });
  const call = <Body>(method: string, path: string, bearer: string, body?: unknown) =>
    callNode<Body>(0, method, path, { bearer, body });
  const create = async (settings: object = {}): Promise<CreatedApiKey> => {
    const body = { name: fresh('key'), scopes: ['conductor:viewer'], ...settings };
    const answer = await call<CreatedApiKey>('POST', '/api/key', admin, body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };
  const list = async (): Promise<readonly ApiKey[]> =>
    (await call<ApiKeyPage>('GET', '/api/key', admin)).body.items;

  it('shows a key once, and then lists it without the key', async () => {
    const { key, ...shown } = await create({ name: 'billing worker' });
    expect(key).toMatch(/^sw_[a-z0-9]+_[\w-]{43}$/);
    expect(shown).toEqual({
      id: expect.any(String) as string,
      name: 'billing worker',
      scopes: ['conductor:viewer'],
      createdBy: 'ada',
      createdTime: expect.any(String) as string,
      expires: null,
      lastUsedTime: null,
    });
    expect((await list()).find(({ id }) => id === shown.id)).toEqual(shown);
    const { text } = await call('GET', '/api/key', admin);
    // The secret itself may contain the separator.
    const [, secret = key] = /^sw_[a-z0-9]+_(.+)$/.exec(key) ?? [];
    expect(text).not.toContain(secret);
  });

  it('grants the scopes of a key on every node, and shows its last use', async () => {
    const { id, key } = await create();
    for (let node = 0; node < clients.length; node += 1) {
      expect((await callNode(node, 'GET', '/api/workflow', { bearer: key })).status).toBe(200);
      expect(
        (await callNode(node, 'POST', '/api/definition', { bearer: key, body: {} })).status,
      ).toBe(403);
      expect((await callNode(node, 'GET', '/api/key', { bearer: key })).status).toBe(403);
    }
    await eventually('the last use', async () => {
      const found = (await list()).find((each) => each.id === id);
      return found?.lastUsedTime !== null && found?.lastUsedTime !== undefined;
    });
  });

  it('names the actor after the key', async () => {
    const name = fresh('operator');
    const { key } = await create({ name, scopes: ['conductor:admin'] });
    const wait = { Id: 'w', StepType: 'WaitFor', Inputs: { EventName: '"e"', EventKey: '"k"' } };
    const Id = fresh('definition');
    await call('POST', '/api/definition', key, { Id, Steps: [wait] });
    const { body } = await call<{ workflowId: string }>('POST', `/api/workflow/${Id}`, key, {});
    await call('PUT', `/api/workflow/${body.workflowId}/suspend`, key);
    const audit = await call<WorkflowActionList>(
      'GET',
      `/api/workflow/${body.workflowId}/audit`,
      key,
    );
    expect(audit.body.items.map(({ actor }) => actor)).toContain(name);
  });

  it('rejects a key a second after its removal, and accepts others all the time', async () => {
    const good = await create();
    const dead = await create();
    const failures: string[] = [];
    const late: number[] = [];
    let removedAt = Infinity;
    let isOver = false;
    const path = '/api/workflow?limit=1';
    const use = async (node: number): Promise<void> => {
      while (!isOver) {
        const sentAt = performance.now();
        const [kept, ended] = await Promise.all([
          callNode(node, 'GET', path, { bearer: good.key }),
          callNode(node, 'GET', path, { bearer: dead.key }),
        ]);
        if (kept.status !== 200) failures.push(`good: ${kept.status}`);
        if (removedAt === Infinity && sentAt < removedAt && ended.status !== 200) {
          failures.push(`before its removal: ${ended.status}`);
        }
        if (sentAt > removedAt + 1000) late.push(ended.status);
        // On a fast machine, calls without a pause reach the limit of wrong tokens for an address.
        await pause(20);
      }
    };
    const users = [0, 1, 0, 1].map((node) => use(node));
    await pause(300);
    expect((await call('DELETE', `/api/key/${dead.id}`, admin)).status).toBe(204);
    removedAt = performance.now();
    await eventually('calls after a second', () => late.length >= 20);
    isOver = true;
    await Promise.all(users);
    // A call that was sent before the removal and answered after it may have either status.
    expect(failures.filter((failure) => failure.startsWith('good'))).toEqual([]);
    expect(new Set(late)).toEqual(new Set([401]));
    const again = await call<Problem>('DELETE', `/api/key/${dead.id}`, admin);
    expect([again.status, again.body.code]).toEqual([404, 'key_not_found']);
  });

  it('rejects expired keys, which stay listed', async () => {
    const expires = new Date(Date.now() + 1500).toISOString();
    const { id, key } = await create({ expires });
    expect((await call('GET', '/api/workflow', key)).status).toBe(200);
    await eventually('its expiry', async () => {
      return (await call('GET', '/api/workflow', key)).status === 401;
    });
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires));
    expect((await list()).map((each) => each.id)).toContain(id);
  });

  it('rejects everything but the exact key', async () => {
    const { id, key } = await create();
    const secret = key.slice(`sw_${id}_`.length);
    const other = await create();
    const wrong = [
      key.slice(0, -1),
      `${key}A`,
      key.toUpperCase(),
      `sw_${id}_${'A'.repeat(43)}`,
      `sw_${other.id}_${secret}`,
      `sw_${'0'.repeat(26)}_${secret}`,
      'sw_',
      'sw___proto___',
      `sw_${'a'.repeat(5000)}_${secret}`,
    ];
    for (const text of wrong) {
      expect((await call('GET', '/api/workflow', text)).status, text).toBe(401);
    }
    expect((await call('GET', '/api/workflow', key)).status).toBe(200);
  });

  it.each([
    ['no name', { name: undefined }, 'name'],
    ['a blank name', { name: ' ' }, 'name must not be blank'],
    ['no scopes', { scopes: [] }, 'scope'],
    ['an unknown scope', { scopes: ['conductor:root'] }, 'scopes'],
    ['a time in the past', { expires: '2020-01-01T00:00:00Z' }, 'expires is in the past'],
    ['no time', { expires: 'soon' }, 'expires must be an ISO 8601 time'],
    ['an unknown member', { scope: 'conductor:viewer' }, 'scope'],
  ])('rejects a new key with %s', async (_, settings, message) => {
    const body = { name: fresh('key'), scopes: ['conductor:viewer'], ...settings };
    const answer = await call<Problem>('POST', '/api/key', admin, body);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.text).toContain(message);
  });

  it('rejects a name that another key has', async () => {
    const { name } = await create();
    const body = { name, scopes: ['conductor:viewer'] };
    const answer = await call<Problem>('POST', '/api/key', admin, body);
    expect([answer.status, answer.body.code]).toEqual([409, 'key_name_in_use']);
  });

  it('accepts a name once, however many keys are created at once on all nodes', async () => {
    for (let round = 0; round < 5; round += 1) {
      const body = { name: fresh('at-once'), scopes: ['conductor:viewer'] };
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, node) =>
          callNode<CreatedApiKey & Problem>(node, 'POST', '/api/key', { bearer: admin, body }),
        ),
      );
      const created = answers.filter(({ status }) => status === 201);
      const refused = answers.filter(({ status }) => status !== 201);
      expect(created.map(({ body: { name } }) => name)).toEqual([body.name]);
      expect(new Set(refused.map(({ body: { code }, status }) => `${status} ${code}`))).toEqual(
        new Set(['409 key_name_in_use']),
      );
      const { body: list } = await call<ApiKeyPage>('GET', '/api/key', admin);
      const [only, ...others] = list.items.filter(({ name }) => name === body.name);
      expect([only?.id, others.length]).toEqual([created[0]?.body.id, 0]);
      // After a removal, the name is free again, once.
      await call('DELETE', `/api/key/${only?.id ?? ''}`, admin);
      const again = await Promise.all(
        [0, 1].map((node) => callNode(node, 'POST', '/api/key', { bearer: admin, body })),
      );
      expect(again.map(({ status }) => status).sort()).toEqual([201, 409]);
    }
  });

  it("ends the stream of changes of a removed key's holder", async () => {
    const { id, key } = await create();
    const response = await fetch(`${servers[0]!.url}/api/stream`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const ended = response.text();
    await call('DELETE', `/api/key/${id}`, admin);
    await pause(600);
    const Id = fresh('after-the-removal');
    await call('POST', '/api/definition', admin, { Id, Steps: [{ Id: 'a', StepType: 'NoOp' }] });
    expect(await ended).not.toContain(Id);
  });
});
