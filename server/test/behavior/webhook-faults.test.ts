/**
 * Goal: webhooks keep their word when the store fails between the effect and the note about it, and when there are too many
 * calls.
 * Method: a server of its own on the store in memory, whose notes about deliveries can be made to fail.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventPage } from '../../src/api/wire/models/event.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { ReceivedDelivery } from '../../src/api/wire/models/webhook.js';
import type { WorkflowPage } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { observeStore } from '../../src/store/observed-store.js';
import { StoreUnavailableError } from '../../src/store/store.js';
import { Client, fresh } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';
import { step } from './support/steps.js';

const SECRET = 'a secret that nobody else may see';
/** Of each webhook, and of wrong signatures from this address. */
const PER_MINUTE = 3;

/** As the proxy of this machine says. */
const ADDRESSES = {
  'the first': '192.0.2.1',
  'a second': '192.0.2.2',
  'a sender': '192.0.2.3',
} as const;

describe('a webhook', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-webhook-faults-'));
  let server: TestServer;
  let client: Client;
  let areNotesLost = false;

  beforeAll(async () => {
    server = await startServer({
      store: createMemoryStore(),
      environment: {
        data_dir: folder,
        trusted_proxies: 'loopback',
        webhook_calls_per_minute_max: String(PER_MINUTE),
        wrong_signatures_per_minute_max: String(PER_MINUTE),
      },
      wrapStore: (store) =>
        observeStore(store, {
          before: ({ args: [record], name }) => {
            const { kind } = (record ?? {}) as { readonly kind?: string };
            if (areNotesLost && name === 'saveResource' && kind === 'webhook-delivery') {
              throw new StoreUnavailableError('the node dies before it notes the delivery');
            }
          },
        }),
    });
    client = new Client(server.url);
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const create = async (effect: JsonObject): Promise<string> => {
    const name = fresh('hook');
    const body = JSON.stringify({ scheme: 'github', secret: SECRET, ...effect });
    const options = { body, type: 'application/json' };
    const answer = await client.call('PUT', `/api/webhook/${name}`, options);
    expect(answer.status, answer.text).toBe(200);
    return name;
  };
  const call = (
    name: string,
    delivery = randomUUID(),
    secret = SECRET,
    from?: keyof typeof ADDRESSES,
  ) =>
    client.call<ReceivedDelivery & Problem>('POST', `/hooks/${name}`, {
      body: '{}',
      headers: {
        'content-type': 'application/json',
        ...(from !== undefined && { 'x-forwarded-for': ADDRESSES[from] }),
        'x-github-delivery': delivery,
        'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update('{}').digest('hex')}`,
      },
    });

  it('has one effect for a delivery if the node dies before it has recorded it', async () => {
    const definitionId = await client.define([step('end', 'NoOp')]);
    const starts = await create({ start: { definitionId } });
    const publishes = await create({ publish: { name: "'noted'", key: "'1'" } });
    for (const name of [starts, publishes]) {
      const delivery = randomUUID();
      areNotesLost = true;
      const lost = await call(name, delivery);
      expect([lost.status, lost.body.code]).toEqual([503, 'store_unavailable']);
      areNotesLost = false;
      const first = await call(name, delivery);
      expect(first.status, first.text).toBe(202);
      expect((await call(name, delivery)).body).toEqual(first.body);
    }
    const runs = await client.get<WorkflowPage>(`/api/workflow?definitionId=${definitionId}`);
    expect(runs.body.items).toHaveLength(1);
    const events = await client.get<EventPage>('/api/event?name=noted&key=1');
    expect(events.body.items).toHaveLength(1);
  });

  it('limits the calls per minute for each webhook separately', async () => {
    const publish = { publish: { name: "'rated'", key: "'1'" } };
    const [name, other] = [await create(publish), await create(publish)];
    for (let n = 0; n < PER_MINUTE; n += 1) expect((await call(name)).status).toBe(202);
    const refused = await call(name);
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await call(other)).status).toBe(202);
    const events = await client.get<EventPage>('/api/event?name=rated&key=1');
    expect(events.body.items).toHaveLength(PER_MINUTE + 1);
  });

  it('reads no more bodies of an address after too many wrong signatures', async () => {
    const name = await create({ publish: { name: "'guessed'", key: "'1'" } });
    const from = 'the first';
    const statuses: number[] = [];
    for (let n = 0; n <= PER_MINUTE; n += 1) {
      const target = n % 2 === 0 ? name : fresh('unknown');
      statuses.push((await call(target, randomUUID(), 'a guess', from)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429]);
    // Not even a right one: nobody has read it. Others are not affected.
    expect((await call(name, randomUUID(), SECRET, from)).status).toBe(429);
    expect((await call(name, randomUUID(), SECRET, 'a second')).status).toBe(202);
    // The answer comes before the first byte of the body.
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = `POST /hooks/${name} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Forwarded-For: ${ADDRESSES[from]}\r\nContent-Length: 1000000\r\n\r\n`;
    socket.write(head);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 429 /);
    expect(answer.toString()).toMatch(/retry-after: \d+/i);
  });

  it('reads the valid calls of an address from which a sender signs, whatever its other users send', async () => {
    const name = await create({ publish: { name: "'shared'", key: "'1'" } });
    const from = 'a sender';
    expect((await call(name, randomUUID(), SECRET, from)).status).toBe(202);
    const wrong: number[] = [];
    for (let n = 0; n <= 10 * PER_MINUTE; n += 1) {
      wrong.push((await call(name, randomUUID(), 'a guess', from)).status);
      if (n === 5 * PER_MINUTE) {
        expect((await call(name, randomUUID(), SECRET, from)).status).toBe(202);
      }
    }
    expect(wrong.filter((status) => status === 401)).toHaveLength(10 * PER_MINUTE);
    expect(wrong.at(-1)).toBe(429);
  });
});
