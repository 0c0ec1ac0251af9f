/**
 * Rights that end while calls are in progress: API keys that are removed, and tokens that expire. On every kind of store, and on
 * every node of two.
 */
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WorkItem } from '../../src/api/wire/models/activity.js';
import type { BulkJob, CreatedBulkJob } from '../../src/api/wire/models/bulk.js';
import type { CreatedApiKey } from '../../src/api/wire/models/key.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { fresh, type Answer, type Client } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';
import { activity, step } from './support/steps.js';
import { STORE_KINDS, type TestStore } from './support/stores.js';
import { TokenClient } from './support/token-client.js';

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const environment = {
  auth: 'true',
  alg: 'ES256',
  publickey: keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
};

function tokenUntil(time: number): Promise<string> {
  return new SignJWT({ scope: 'conductor:admin', sub: 'ada' })
    .setProtectedHeader({ alg: 'ES256' })
    .setExpirationTime(Math.ceil(time / 1000))
    .sign(keys.privateKey);
}

describe.each(STORE_KINDS.filter(({ available }) => available))('rights ($kind)', (storeKind) => {
  let store: TestStore;
  let servers: TestServer[];
  let admin: Client;

  beforeAll(async () => {
    store = await storeKind.create();
    servers = [];
    for (let node = 0; node < (storeKind.kind === 'memory' ? 1 : 2); node += 1) {
      servers.push(await startServer({ store: store.open(), environment }));
    }
    admin = new TokenClient(servers[0]!.url, await tokenUntil(Date.now() + 600_000));
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await store.remove();
  });

  const createKey = async (): Promise<CreatedApiKey> => {
    const body = { name: fresh('key'), scopes: ['conductor:admin'] };
    return (await admin.post<CreatedApiKey>('/api/key', body)).body;
  };
  const remove = async ({ id }: CreatedApiKey) => {
    expect((await admin.call('DELETE', `/api/key/${id}`)).status).toBe(204);
  };
  const callers = (bearer: string) => servers.map(({ url }) => new TokenClient(url, bearer));
  /** A definition whose runs offer work, and one whose runs wait. */
  const define = async () => {
    const queue = fresh('work');
    const works = await admin.define([activity('work', queue)]);
    const inputs = { EventName: '"never"', EventKey: '"k"' };
    const waits = await admin.define([step('wait', 'WaitFor', inputs)]);
    return { queue, works, waits, run: await admin.start(waits, { secret: 'of the run' }) };
  };
  /** On every node. */
  const untilPolled = async () => {
    for (const { url } of servers) {
      await eventually('a poll waits', async () => {
        const text = await (await fetch(`${url}/metrics`)).text();
        return /^stepwright_pollers(\{.*\})? [1-9]/m.test(text);
      });
    }
  };
  /** A call of each kind that waits, on every node; the polls last. */
  const callAll = (bearer: string, { queue, run, waits }: Awaited<ReturnType<typeof define>>) => {
    const all = callers(bearer);
    const others = all.flatMap((caller) => [
      caller.get<Problem>(`/api/workflow/${run}?wait=100`),
      caller.post<Problem>(`/api/workflow/${waits}?wait=100`, { secret: 'of the run' }),
      caller.get<Problem>(`/api/stream?workflowId=${run}`),
    ]);
    const polls = all.map((caller) => caller.get<Problem>(`/api/activity/${queue}?timeout=100`));
    return Promise.all([...others, ...polls]);
  };
  const expectEnded = (answers: readonly Answer<Problem>[]) => {
    for (const { body, headers, status, text } of answers) {
      expect(text).not.toContain('of the run');
      if (headers.get('content-type')?.startsWith('text/event-stream') === true) continue;
      expect([status, body.code], text).toEqual([401, 'authorization_ended']);
    }
  };

  it('ends polls, waits and streams on every node when an API key is removed', async () => {
    const team = await define();
    const key = await createKey();
    const answers = callAll(key.key, team);
    await untilPolled();
    await remove(key);
    // Without the removal, they would wait longer than a test may take.
    expectEnded(await answers);
    // Nobody has got it: its first attempt is the first worker's.
    await admin.start(team.works);
    const item = await admin.get<WorkItem>(`/api/activity/${team.queue}?timeout=30`);
    expect(item.body).toMatchObject({ attempt: 1 });
  });

  it('ends polls, waits and streams on every node when a token expires, and not before', async () => {
    const team = await define();
    const expiresAt = Math.ceil(Date.now() / 1000 + 3) * 1000;
    const answers = callAll(await tokenUntil(expiresAt), team);
    await untilPolled();
    expectEnded(await answers);
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
  });

  it('gives a work item that is created during the removal to one worker, as its first attempt', async () => {
    const { queue, works } = await define();
    for (let round = 0; round < 8; round += 1) {
      const key = await createKey();
      const polls = callers(key.key).map((caller) =>
        caller.get<WorkItem & Problem>(`/api/activity/${queue}?timeout=100`),
      );
      await untilPolled();
      const [, run] = await Promise.all([remove(key), admin.start(works)]);
      const answers = await Promise.all(polls);
      const got = answers.filter(({ status }) => status === 200);
      expectEnded(answers.filter(({ status }) => status !== 200));
      const later = await admin.get<WorkItem>(
        `/api/activity/${queue}?timeout=${got.length === 0 ? 30 : 0}`,
      );
      const items = [...got, ...(later.status === 200 ? [later] : [])].map(({ body }) => body);
      expect(items).toMatchObject([{ workflowId: run, attempt: 1 }]);
    }
  });

  it('lets a bulk job of a removed API key continue, and shows that the key is gone', async () => {
    const { waits } = await define();
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await admin.start(waits));
    const key = await createKey();
    const [caller] = callers(key.key);
    const body = { action: 'suspend', workflowIds: ids, reason: 'because', perSecond: 4 };
    const { body: created } = await caller!.post<CreatedBulkJob>('/api/bulk', body);
    const jobOn = async (server: TestServer) => {
      const client = new TokenClient(server.url, await tokenUntil(Date.now() + 600_000));
      return (await client.get<BulkJob>(`/api/bulk/${created.id}`)).body;
    };
    expect(await jobOn(servers[0]!)).toMatchObject({
      actor: key.name,
      apiKey: { id: key.id, state: 'Active' },
    });
    await remove(key);
    for (const server of servers) {
      await eventually('the job ends', async () => (await jobOn(server)).state === 'Done');
      expect(await jobOn(server)).toMatchObject({
        done: ids.length,
        actor: key.name,
        apiKey: { id: key.id, state: 'Removed' },
      });
    }
    const { body: list } = await admin.get<{ items: BulkJob[] }>('/api/bulk');
    expect(list.items.find(({ id }) => id === created.id)?.apiKey?.state).toBe('Removed');
  });
});
