/**
 * Goal: what a database refuses because of its data ends with an outcome that somebody sees, is not repeated without end, and holds
 * up nothing else.
 * Method: a store that refuses operations whose arguments contain a word, as a database refuses what it cannot store. The suite of the
 * stores shows that theirs do so with the same error.
 */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { BulkJob } from '../../src/api/wire/models/bulk.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Trigger } from '../../src/api/wire/models/trigger.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { observeStore, type StoreOperation } from '../../src/store/observed-store.js';
import { StoreRefusedError } from '../../src/store/store.js';
import { Client, fresh } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';
import { chain, step } from './support/steps.js';

const BAD = 'unstorable';
const SECRET = 'a secret of sixteen characters';
const END = step('end', 'NoOp');

describe('data that the store refuses', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-refused-'));
  let server: TestServer;
  let client: Client;
  let refusing: readonly StoreOperation[] = [];
  let refusals = 0;

  beforeAll(async () => {
    server = await startServer({
      store: createMemoryStore(),
      environment: { data_dir: folder },
      wrapStore: (store) =>
        observeStore(store, {
          before: ({ args, name }) => {
            if (!refusing.includes(name) || !JSON.stringify(args).includes(BAD)) return;
            refusals += 1;
            throw new StoreRefusedError('what it is', new Error('of the database'));
          },
        }),
    });
    client = new Client(server.url);
  });
  beforeEach(() => {
    refusing = [];
    refusals = 0;
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const lastOf = async (id: string) =>
    (await client.get<Trigger[]>(`/api/definition/${id}/triggers`)).body[0]?.last;
  const undelivered = async (): Promise<number> => {
    const { text } = await client.get('/metrics');
    return Number(/^stepwright_events_undelivered (\d+)/m.exec(text)?.[1]);
  };

  it('fails the start of a trigger, which is delivered and starts the next run', async () => {
    refusing = ['insertInstance'];
    const name = fresh('event');
    const Triggers = [{ Name: 't', Event: { Name: name } }];
    const id = await client.define({ Triggers, Steps: [END] });
    await client.publish(name, 'k', { v: BAD });
    await eventually('an outcome', async () => (await lastOf(id)) !== null);
    expect(await lastOf(id)).toMatchObject({
      outcome: 'Failed',
      reason: expect.stringContaining('what it is') as string,
    });
    await eventually('delivery', async () => (await undelivered()) === 0);
    expect(refusals).toBe(1);
    await client.publish(name, 'k', { v: 'good' });
    await eventually('a start', async () => (await lastOf(id))?.outcome === 'Started');
  });

  it('is answered with 400 for clients and webhooks', async () => {
    refusing = ['insertInstance', 'insertEvent'];
    const definitionId = await client.define([END]);
    const started = await client.post<Problem>(`/api/workflow/${definitionId}`, { v: BAD });
    expect([started.status, started.body.code]).toEqual([400, 'invalid_data']);
    const published = await client.post<Problem>(`/api/event/${fresh('event')}/k`, { v: BAD });
    expect([published.status, published.body.code]).toEqual([400, 'invalid_data']);
    const hook = fresh('hook');
    const settings = { scheme: 'github', secret: SECRET, start: { definitionId } };
    await client.call('PUT', `/api/webhook/${hook}`, {
      body: JSON.stringify(settings),
      type: 'application/json',
    });
    const body = JSON.stringify({ v: BAD });
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const received = await client.call<Problem>('POST', `/hooks/${hook}`, {
      body,
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': `sha256=${signature}`,
      },
    });
    expect([received.status, received.body.code]).toEqual([400, 'invalid_data']);
    expect(server.logLines.some(({ msg }) => msg === 'Call failed')).toBe(false);
  });

  it('suspends the run in whose commit it is, with the reason', async () => {
    refusing = ['commitInstance'];
    const wait = step('wait', 'WaitFor', { EventName: '"go"', EventKey: 'data.key' });
    const bad = step('bad', 'NoOp', {}, { Outputs: { v: `"${BAD.slice(0, 4)}" + data.rest` } });
    const key = fresh('key');
    const id = await client.defineAndStart(chain(wait, bad), { key, rest: BAD.slice(4) });
    const other = await client.defineAndStart(chain(wait, END), { key });
    await client.publish('go', key, null);
    const suspended = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
    expect(suspended.lastError).toMatchObject({
      type: 'StoreRefused',
      message: expect.stringContaining('what it is') as string,
    });
    expect((await client.ended(other)).status).toBe('Complete');
  });

  it('suspends a run that has no space for the reason', async () => {
    const wait = step('wait', 'WaitFor', { EventName: '"go"', EventKey: 'data.key' });
    const key = fresh('key');
    const id = await client.defineAndStart(chain(wait, END), { key, v: BAD });
    await client.untilWaiting(id, 'wait');
    refusing = ['commitInstance'];
    await client.publish('go', key, null);
    await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
    refusing = [];
    expect((await client.control(id, 'resume')).status).toBe(200);
    expect((await client.ended(id)).status).toBe('Complete');
  });

  it("fails the step whose result can't be delivered, and delivers others", async () => {
    const name = fresh('activity');
    const work = step(
      'work',
      'Activity',
      { ActivityName: `"${name}"` },
      { ErrorBehavior: 'Terminate' },
    );
    const ids = [await client.defineAndStart([work]), await client.defineAndStart([work])];
    const items = [(await client.pull(name)).body, (await client.pull(name)).body];
    refusing = ['postMessages', 'completeActivity'];
    const results: JsonObject[] = [{ v: BAD }, { v: 'good' }];
    for (const [at, result] of results.entries()) {
      await client.post(`/api/activity/success/${items[at]!.token}`, result);
    }
    expect((await client.ended(ids[1]!)).status).toBe('Complete');
    // The worker is told; what it sends instead is accepted.
    const [first] = items;
    const answer = await client.post<Problem>(`/api/activity/success/${first!.token}`, {
      v: BAD,
    });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_data']);
    expect((await client.post(`/api/activity/fail/${first!.token}`, 'too large')).status).toBe(202);
    expect((await client.ended(ids[0]!)).outcome).toBe('Failed');
  });

  it('leaves the event to the runs that accept it', async () => {
    const key = fresh('key');
    const wait = step('wait', 'WaitFor', { EventName: '"refused"', EventKey: 'data.key' });
    const id = await client.defineAndStart([wait], { key });
    await client.untilWaiting(id, 'wait');
    refusing = ['postMessages'];
    await client.publish('refused', key, { v: BAD });
    await eventually('delivery', async () => (await undelivered()) === 0);
    await client.publish('refused', key, { v: 'good' });
    await client.ended(id);
  });

  it('reports the end of a child to its parent', async () => {
    refusing = ['postMessages'];
    const out = { Outputs: { v: `"${BAD}"` } };
    const child = await client.define([step('end', 'NoOp', {}, out)]);
    const outputs = { Outputs: { status: 'step.Status' } };
    const parent = await client.defineAndStart([
      step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` }, outputs),
    ]);
    expect((await client.ended(parent)).data).toMatchObject({ status: 'Complete' });
    expect(refusals).toBe(1);
  });

  it('counts as a failure of a bulk job, which ends', async () => {
    const definitionId = await client.define([
      step('wait', 'WaitFor', { EventName: '"never"', EventKey: '"k"' }),
    ]);
    const ids = [await client.start(definitionId), await client.start(definitionId)];
    refusing = ['controlInstance', 'saveBulkProgress'];
    const created = await client.post<BulkJob>('/api/bulk', {
      action: 'suspend',
      workflowIds: ids,
      reason: BAD,
    });
    const job = async () => (await client.get<BulkJob>(`/api/bulk/${created.body.id}`)).body;
    await eventually('the end of the job', async () => (await job()).state === 'Done');
    expect(await job()).toMatchObject({ matched: 2, failed: 2, done: 0 });
  });
});
