/**
 * Goal: the recipes of docs/cookbook.md work as described.
 * Method: each recipe is posted as printed and then runs with real workers and a real service, which fail as the recipe
 * assumes. Pauses between retries are cut short by the call for operators.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { Client } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';

const cookbook = readFileSync(new URL('../../../docs/cookbook.md', import.meta.url), 'utf8');

const RECIPES = new Map(
  [...cookbook.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => [
    (parse(text) as { Id: string }).Id,
    text,
  ]),
);

/** The test of each recipe, by its id. */
const TRIALS: Readonly<Record<string, (client: Client) => Promise<void>>> = {
  'charge-or-fail': async (client) => {
    const id = await client.start('charge-or-fail', { total: 5 });
    await failUntil(client, id, 'charge-card', 'Terminated');
    expect((await client.workflow(id)).outcome).toBe('Failed');
    expect(await attemptsOf(client, id, 'charge')).toBe(6);
  },
  'charge-or-ask': async (client) => {
    const id = await client.start('charge-or-ask', { total: 5 });
    await failUntil(client, id, 'charge-card', 'Suspended');
    await client.control(id, 'resume');
    await client.succeed((await client.work('charge-card')).token, {});
    expect((await client.ended(id)).outcome).toBe('Succeeded');
  },
  'reindex-product': async (client) => {
    for (const n of [1, 2]) await client.publish('product.changed', '7', { n });
    const path = '/api/workflow?definitionId=reindex-product';
    const { items } = (await client.get<{ items: { workflowId: string }[] }>(path)).body;
    expect(items).toHaveLength(1);
    const id = items[0]!.workflowId;
    const collected = await client.untilWorkflow(id, ({ debounce }) => debounce?.starts === 2);
    const { latest, until } = collected.debounce!;
    expect(Date.parse(latest)).toBeGreaterThan(Date.parse(until!));
    // Nobody waits 30 s here.
    const now = { reason: 'now', cancel: ['*'], start: [{ stepId: 'index' }] };
    expect((await client.post(`/api/workflow/${id}/modify`, now)).status).toBe(200);
    const item = await client.work('index');
    expect(item.parameters).toEqual({ changes: [{ n: 1 }, { n: 2 }] });
    await client.succeed(item.token, {});
    expect((await client.ended(id)).outcome).toBe('Succeeded');
  },
  'import-customer': async (client) => {
    const start = (customer: string) => client.start('import-customer', { customer });
    const [first, second, other] = [await start('Ada'), await start('Ada'), await start('Bob')];
    expect(await client.workflow(second)).toMatchObject({ queued: true });
    expect(await client.workflow(other)).toMatchObject({ queued: false });
    const [one, two] = [await client.work('import'), await client.work('import')];
    expect([one.workflowId, two.workflowId].toSorted()).toEqual([first, other].toSorted());
    for (const { token } of [one, two]) await client.succeed(token, {});
    const next = await client.work('import');
    expect(next.workflowId).toBe(second);
    await client.succeed(next.token, {});
    expect((await client.ended(second)).outcome).toBe('Succeeded');
  },
  'send-letter': async (client) => {
    const runs = new Map<string, string>();
    const start = async (customer: string, plan: string) => {
      const data = { customer, plan, address: 'somebody@example.com' };
      const id = await client.start('send-letter', data);
      await client.untilWaiting(id, 'send');
      runs.set(id, customer);
    };
    for (let n = 0; n < 8; n += 1) await start('Ada', 'free');
    for (let n = 0; n < 6; n += 1) await start('Bob', 'pro');
    const order: string[] = [];
    for (let n = 0; n < 14; n += 1) {
      const item = await client.work('send-letter');
      order.push(runs.get(item.workflowId) ?? '?');
      await client.succeed(item.token, {});
    }
    // Three of Bob's for each of Ada's, while both have some.
    expect(order.slice(0, 8).filter((customer) => customer === 'Bob').length).toBe(6);
  },
  'fetch-order': async (client) => {
    const shop = await openShop([503, 200]);
    const id = await client.start('fetch-order', { shop, orderId: '17' });
    expect(await client.ended(id)).toMatchObject({
      outcome: 'Succeeded',
      data: { order: { path: '/orders/17' } },
    });
  },
  'fetch-prices': async (client) => {
    const shop = await openSlowShop();
    const articles = ['a', 'b', 'c', 'd', 'e'];
    const id = await client.start('fetch-prices', { shop: shop.url, articles });
    await eventually('three calls', () => Promise.resolve(shop.calls.size === 3));
    const { text } = await client.get(`/api/workflow/${id}/explain`);
    expect(text).toContain('items 4 to 5 of 5 wait, at most 3 are open at once');
    for (const article of articles) {
      const path = `/prices/${article}`;
      await eventually(path, () => Promise.resolve(shop.calls.has(path)));
      expect(shop.calls.size).toBeLessThanOrEqual(3);
      shop.calls.get(path)!(`${article}1`);
    }
    const prices = { a: 'a1', b: 'b1', c: 'c1', d: 'd1', e: 'e1' };
    expect((await client.ended(id)).data['prices']).toEqual(prices);
  },
  'fetch-price': async (client) => {
    const shop = await openSlowShop();
    const start = (tenant: string, article: string) =>
      client.start('fetch-price', { shop: shop.url, tenant, article });
    const ids = [];
    for (const article of ['a', 'b', 'c', 'd', 'e', 'f']) ids.push(await start('t', article));
    const other = await start('u', 'g');
    await eventually('all slots are held', () => Promise.resolve(shop.calls.size === 6));
    expect([...shop.calls.keys()].toSorted().at(-1)).toBe('/prices/g');
    const waiting = await Promise.all(
      ids.map(async (id) => {
        const { text } = await client.get(`/api/workflow/${id}/explain`);
        return text.includes('shop-api');
      }),
    );
    expect(waiting.filter(Boolean)).toHaveLength(1);
    for (const answer of shop.calls.values()) answer('10');
    await eventually('the last call', () => Promise.resolve(shop.calls.size === 1));
    for (const answer of shop.calls.values()) answer('10');
    for (const id of [...ids, other]) expect((await client.ended(id)).data['price']).toBe('10');
  },
  'find-order': async (client) => {
    const shop = await openShop([404, 200]);
    const missing = await client.ended(await client.start('find-order', { shop, orderId: '17' }));
    expect(missing.data).toMatchObject({ found: false, result: 'missing' });
    const found = await client.ended(await client.start('find-order', { shop, orderId: '18' }));
    expect(found.data).toMatchObject({ found: true, result: 'found' });
  },
  'refuse-large-orders': async (client) => {
    const refused = await client.ended(
      await client.start('refuse-large-orders', { total: 20_000 }),
    );
    expect(refused).toMatchObject({
      outcome: 'Failed',
      lastError: { type: 'ApprovalNeeded', message: 'an order of 20000 needs an approval' },
    });
    const accepted = await client.ended(await client.start('refuse-large-orders', { total: 20 }));
    expect(accepted).toMatchObject({ outcome: 'Succeeded', data: { accepted: true } });
  },
  'ship-parcel': async (client) => {
    const data = { address: 'Main Street 1', weight: 2 };
    const shipped = await client.ended(await client.start('ship-parcel', data));
    expect(shipped.data).toEqual({ ...data, express: false, price: 8 });
    const refused = await client.post('/api/workflow/ship-parcel', { weight: 0 });
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/address' }, { pointer: '/weight' }] },
    });
  },
  'charge-unless-declined': async (client) => {
    const id = await client.start('charge-unless-declined');
    const { token } = await client.work('charge-card');
    await client.fail(token, { type: 'CardDeclined', message: 'declined' });
    expect((await client.ended(id)).outcome).toBe('Failed');
    expect(await attemptsOf(client, id, 'charge')).toBe(1);
  },
  'book-trip': async (client) => {
    const id = await client.start('book-trip');
    await client.succeed((await client.work('book-flight')).token, {});
    const undone = client.work('cancel-flight');
    await failUntil(client, id, 'book-hotel', async () => {
      const steps = await client.steps(id);
      return steps.some(({ stepId }) => stepId === 'cancel-hotel');
    });
    expect(await attemptsOf(client, id, 'hotel')).toBe(4);
    await client.succeed((await client.work('cancel-hotel')).token, {});
    await client.succeed((await undone).token, {});
    expect((await client.ended(id)).outcome).toBe('Compensated');
  },
  'book-flight-only': async (client) => {
    const failed = await client.start('book-flight-only');
    const { token } = await client.work('book-flight');
    await client.call('POST', `/api/activity/fail/${token}?retry=false`);
    expect((await client.ended(failed)).outcome).toBe('Compensated');
    const canceled = await client.steps(failed);
    expect(canceled.map(({ stepId }) => stepId)).not.toContain('cancel-flight');
  },
  'cancelable-order': async (client) => {
    const id = await client.start('cancelable-order');
    for (const name of ['reserve-stock', 'charge-card']) {
      await client.succeed((await client.work(name)).token, {});
    }
    await client.untilWaiting(id, 'packed');
    await client.call('DELETE', `/api/workflow/${id}?compensate=true`);
    for (const name of ['refund-card', 'release-stock']) {
      await client.succeed((await client.work(name)).token, {});
    }
    expect((await client.ended(id)).outcome).toBe('Terminated');
  },
  'await-approval': async (client) => {
    const id = await client.start('await-approval', { orderId: 'o-1' });
    await client.untilWaiting(id, 'approval');
    await client.publish('approved', 'o-1', { ok: true });
    expect((await client.ended(id)).data).toMatchObject({ result: 'shipped' });
  },
  'order-with-survey': async (client) => {
    const survey = { Id: 'send-survey', Steps: [{ Id: 'fail', StepType: 'Fail' }] };
    Object.assign(survey.Steps[0]!, { Inputs: { Message: '"x"' }, ErrorBehavior: 'Terminate' });
    expect((await client.postDefinition(survey)).status).toBe(201);
    const order = await client.ended(await client.start('order-with-survey'));
    expect(order).toMatchObject({ outcome: 'Succeeded', data: { surveyed: false } });
  },
};

/** Fails every work item, without the pauses in between, until the run has reached the expected state. */
async function failUntil(
  client: Client,
  id: string,
  activity: string,
  end: Workflow['status'] | (() => Promise<boolean>),
): Promise<void> {
  const isOver =
    typeof end === 'function' ? end : async () => (await client.workflow(id)).status === end;
  while (!(await isOver())) {
    const { body, status } = await client.pull(activity);
    if (status === 200) await client.fail(body.token, { message: 'out of order' });
    else await client.call('PUT', `/api/workflow/${id}/retry`);
  }
}

async function attemptsOf(client: Client, id: string, stepId: string): Promise<number> {
  const steps = await client.steps(id);
  return Math.max(...steps.filter((step) => step.stepId === stepId).map(({ attempt }) => attempt));
}

/** A service with these responses, one after the other, and then the last one again. */
async function openShop(statuses: readonly number[]): Promise<string> {
  let calls = 0;
  const service = createServer((request, response) => {
    response.statusCode = statuses[Math.min(calls, statuses.length - 1)]!;
    calls += 1;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ path: request.url }));
  });
  return listen(service);
}

async function listen(service: Server): Promise<string> {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    service.closeAllConnections();
    service.close();
  });
  return `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
}

/** A service whose calls wait for the test to respond. */
async function openSlowShop(): Promise<{
  readonly url: string;
  /** Respond to the calls that wait, by the path of each. */
  readonly calls: Map<string, (answer: string) => void>;
}> {
  const calls = new Map<string, (answer: string) => void>();
  const service = createServer(({ url = '' }, response) => {
    calls.set(url, (answer) => {
      calls.delete(url);
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(answer));
    });
  });
  return { url: await listen(service), calls };
}

describe('the cookbook', () => {
  let server: TestServer;
  let client: Client;
  beforeAll(async () => {
    server = await startServer({ store: createMemoryStore() });
    client = new Client(server.url);
    const body = /api\/limit\/shop-api .* -d '(.*?)'/s.exec(cookbook)?.[1] ?? '';
    const put = await client.call('PUT', '/api/limit/shop-api', { body, type: 'application/json' });
    expect(put.status, put.text).toBe(201);
  });
  afterAll(() => server.stop());

  it('has a test for each recipe, and no test for a missing one', () => {
    expect([...RECIPES.keys()].sort()).toEqual(Object.keys(TRIALS).sort());
  });

  it.each([...RECIPES.keys()])(
    'contains %s, which is accepted without a warning and works as described',
    async (name) => {
      const path = '/api/definition?strict=true';
      const stored = await client.call<JsonObject>('POST', path, {
        body: RECIPES.get(name)!,
        type: 'application/yaml',
      });
      expect(stored.status, stored.text).toBe(201);
      await TRIALS[name]!(client);
    },
  );
});
