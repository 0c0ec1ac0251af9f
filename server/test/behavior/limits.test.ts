/** Overload and unavailable stores: a rejection says when to retry; accepted work continues. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { WorkItem } from '../../src/api/wire/models/activity.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import { observeStore } from '../../src/store/observed-store.js';
import { StoreUnavailableError } from '../../src/store/store.js';
import { Client, fresh } from './support/client.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { startServer, type TestServer, type TestServerOptions } from './support/server.js';
import { chain, compute, mark, step } from './support/steps.js';
import { STORE_KINDS } from './support/stores.js';

async function start(
  options: Partial<TestServerOptions> = {},
): Promise<{ server: TestServer; client: Client }> {
  const created = await STORE_KINDS.find(({ kind }) => kind === 'sqlite')!.create();
  const server = await startServer({ store: created.open(), ...options });
  onTestFinished(async () => {
    await server.stop();
    await created.remove();
  });
  return { server, client: new Client(server.url) };
}

describe('time limits', () => {
  it('caps polls and waits by the settings', async () => {
    const { client } = await start({
      environment: { poll_timeout_seconds_max: '1', wait_seconds_max: '1' },
    });
    const id = await client.defineAndStart([step('wait', 'Delay', { Period: 3600 })]);
    const startedAt = Date.now();
    const [poll, wait] = await Promise.all([
      client.pull('none', '?timeout=1000000'),
      client.get<Workflow>(`/api/workflow/${id}?wait=1000000`),
    ]);
    expect([poll.status, wait.body.status]).toEqual([404, 'Runnable']);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  });

  it('caps leases at a day', async () => {
    const { client } = await start();
    const name = fresh('work');
    await client.defineAndStart([step('ask', 'Activity', { ActivityName: `"${name}"` })]);
    const { body } = await client.pull(name, '?lease=100000000');
    expect(Date.parse(body.tokenExpiry)).toBeLessThanOrEqual(Date.now() + 86_400_000);
  });
});

describe('overload', () => {
  it('rejects polls beyond the limit with a request to retry, and serves the others', async () => {
    const { client } = await start({ environment: { pollers_max: '2' } });
    const name = fresh('work');
    const definition = await client.define([
      step('ask', 'Activity', { ActivityName: `"${name}"` }),
    ]);
    const polls = [client.work(name), client.work(name)];
    await eventually('two polls are waiting', async () => {
      const { text } = await client.get('/metrics');
      return text.includes('\nstepwright_pollers 2\n');
    });
    const refused = await client.get<Problem>(`/api/activity/${name}?timeout=5`);
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const ids = [await client.start(definition), await client.start(definition)];
    for (const item of await Promise.all(polls)) await client.succeed(item.token, 1);
    for (const id of ids) expect((await client.ended(id)).status).toBe('Complete');
  });

  it('rejects starts beyond the limit, and every accepted run ends', async () => {
    const { client } = await start({ environment: { starts_concurrent_max: '3' } });
    const definition = await client.define([compute('a', { n: 'data.n' })]);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        client.post<{ workflowId: string; code?: string }>(`/api/workflow/${definition}`, { n }),
      ),
    );
    const statuses = new Set(answers.map(({ status }) => status));
    for (const status of statuses) expect([201, 503]).toContain(status);
    expect(statuses).toContain(201);
    for (const { body, headers, status } of answers) {
      if (status === 201) expect((await client.ended(body.workflowId)).status).toBe('Complete');
      else expect([body.code, headers.get('retry-after')]).toEqual(['overloaded', '1']);
    }
  });
});

describe('an unavailable store', () => {
  it("gives 503 with Retry-After, and accepted runs continue once it's available", async () => {
    const store = { isDown: false };
    const { client } = await start({
      wrapStore: (real) =>
        observeStore(real, {
          before: () => {
            if (store.isDown) throw new StoreUnavailableError('down for the test');
          },
        }),
    });
    const name = fresh('work');
    const definition = await client.define(
      chain(
        step('ask', 'Activity', { ActivityName: `"${name}"` }),
        step('wait', 'Delay', { Period: 0.3 }),
        mark('after'),
      ),
    );
    const id = await client.start(definition);
    await client.succeed((await client.work(name)).token, 1);
    const waiting = await client.untilWaiting(id, 'wait');
    store.isDown = true;
    for (const [method, path] of [
      ['POST', `/api/workflow/${definition}`],
      ['GET', `/api/workflow/${id}`],
      ['GET', '/api/workflow'],
      ['PUT', `/api/workflow/${id}/suspend`],
      ['GET', `/api/activity/${name}`],
    ] as const) {
      const answer = await client.call<Problem>(method, path);
      expect([answer.status, answer.body.code], `${method} ${path}`).toEqual([
        503,
        'store_unavailable',
      ]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.text).not.toContain('down for the test');
    }
    expect((await client.get('/health/live')).status).toBe(200);
    // The Delay fires while the store is unavailable.
    const dueAt = Date.parse(waiting.waitsFor!.until!);
    await eventually('the Delay is over', () => Date.now() > dueAt + 100);
    store.isDown = false;
    expect((await client.ended(id)).data).toEqual({ trail: ['after'] });
  });

  it('fails a poll with an error, and keeps the work item', async () => {
    const store = { isDown: false };
    const { client } = await start({
      wrapStore: (real) =>
        observeStore(real, {
          before: ({ name }) => {
            if (store.isDown && name === 'claimActivity') throw new StoreUnavailableError('down');
          },
        }),
    });
    const name = fresh('work');
    const id = await client.defineAndStart([
      step('ask', 'Activity', { ActivityName: `"${name}"` }),
    ]);
    store.isDown = true;
    expect((await client.pull(name)).status).toBe(503);
    store.isDown = false;
    const item: WorkItem = await client.work(name);
    expect(item.workflowId).toBe(id);
  });

  it('answers an unexpected error with 500 and an id, which is also in the log', async () => {
    const { client, server } = await start({
      wrapStore: (real) =>
        observeStore(real, {
          before: ({ name }) => {
            if (name === 'listInstances') throw new Error('a secret of the server');
          },
        }),
    });
    const answer = await client.get<Problem>('/api/workflow');
    expect([answer.status, answer.body.code]).toEqual([500, 'internal']);
    expect(answer.text).not.toContain('secret');
    const line = server.logLines.find(({ errorId }) => errorId === answer.body.errorId);
    expect(JSON.stringify(line)).toContain('a secret of the server');
  });
});
