/** Limits of steps (`Limits`), by every door and on every store. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import type { ActivityItemPage } from '../../src/api/wire/models/activity.js';
import type { Explanation } from '../../src/api/wire/models/explanation.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import { type Client, fresh } from './support/client.js';
import { useCallee } from './support/callee.js';
import { everyStore } from './support/every-store.js';
import { activity, step } from './support/steps.js';

const put = (client: Client, name: string, settings: JsonObject) =>
  client.call('PUT', `/api/limit/${name}`, {
    body: JSON.stringify(settings),
    type: 'application/json',
  });

async function limitOf(client: Client, settings: JsonObject): Promise<string> {
  const name = fresh('limit');
  const { status, text } = await put(client, name, settings);
  expect(status, text).toBe(201);
  return name;
}

async function use(client: Client, name: string): Promise<object> {
  const { body } = await client.get<object>(`/api/limit/${name}`);
  return body;
}

let calls = 0;
const callee = useCallee((_request, response) => {
  calls += 1;
  response.end('{}');
});

everyStore(
  'limits of steps',
  (at) => {
    it('hands out as many work items as the limit has slots, and further ones as they become free', async () => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 2 });
      const name = fresh('work');
      const id = await client.define({ Steps: [{ ...activity('ask', name), Limits: [limit] }] });
      const runs = [];
      for (let n = 0; n < 4; n += 1) runs.push(await client.start(id));
      const first = await client.work(name);
      const second = await client.work(name);
      expect((await client.pull(name)).status).toBe(404);
      expect(await use(client, limit)).toMatchObject({ held: 2, waiting: 2 });
      await client.succeed(first.token, null);
      const third = await client.work(name);
      expect((await client.pull(name)).status).toBe(404);
      await client.succeed(second.token, null);
      await client.succeed(third.token, null);
      const fourth = await client.work(name);
      await client.succeed(fourth.token, null);
      for (const run of runs) await client.ended(run);
      expect(await use(client, limit)).toMatchObject({ held: 0, waiting: 0 });
    });

    it('holds the slot of a SubWorkflow step until its child has ended', async () => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 1 });
      const name = fresh('work');
      const child = await client.define({ Steps: [activity('ask', name)] });
      const parent = await client.define({
        Steps: [
          {
            ...step('call', 'SubWorkflow', { DefinitionId: `"${child}"` }),
            Limits: [{ Name: limit }],
          },
        ],
      });
      const first = await client.start(parent);
      const item = await client.work(name);
      const second = await client.start(parent);
      await client.untilStep(second, 'call', ({ waitsFor }) => waitsFor?.kind === 'limit');
      const { body } = await client.get<Explanation>(`/api/workflow/${second}/explain`);
      expect(body.reasons).toMatchObject([
        {
          kind: 'limit',
          text: `waits for a slot of limit '${limit}' (1 of 1 in use)`,
          limit,
          holders: [first],
        },
      ]);
      await client.succeed(item.token, null);
      await client.ended(first);
      const next = await client.work(name);
      await client.succeed(next.token, null);
      await client.ended(second);
      expect(await use(client, limit)).toMatchObject({ held: 0, waiting: 0 });
    });

    it('lets a step go on when the run that holds the slot is terminated', async () => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 1 });
      const name = fresh('work');
      const child = await client.define({ Steps: [activity('ask', name)] });
      const call = step('call', 'SubWorkflow', { DefinitionId: `"${child}"` });
      const parent = await client.define({ Steps: [{ ...call, Limits: [limit] }] });
      const first = await client.start(parent);
      await client.work(name);
      const second = await client.start(parent);
      await client.untilStep(second, 'call', ({ waitsFor }) => waitsFor?.kind === 'limit');
      await client.terminate(first);
      await client.untilStep(second, 'call', ({ waitsFor }) => waitsFor?.kind === 'workflow');
    });

    it('lets waiting steps go when the limit is raised', async () => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 1 });
      const name = fresh('work');
      const id = await client.define({ Steps: [{ ...activity('ask', name), Limits: [limit] }] });
      await client.start(id);
      await client.start(id);
      await client.work(name);
      expect((await client.pull(name)).status).toBe(404);
      await put(client, limit, { concurrency: 2 });
      await client.work(name);
    });

    it('gives each key the whole limit', async () => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 1 });
      const name = fresh('work');
      const Limits = [{ Name: limit, Key: 'data.customer' }];
      const id = await client.define({ Steps: [{ ...activity('ask', name), Limits }] });
      await client.start(id, { customer: 'a' });
      const second = await client.start(id, { customer: 'a' });
      const other = await client.start(id, { customer: 7 });
      const item = await client.work(name);
      expect(await client.work(name)).toMatchObject({ workflowId: other });
      expect((await client.pull(name)).status).toBe(404);
      expect(await use(client, limit)).toMatchObject({
        held: 2,
        waiting: 1,
        keys: [
          { key: 'a', held: 1, waiting: 1 },
          { key: '7', held: 1, waiting: 0 },
        ],
      });
      const { body } = await client.get<ActivityItemPage>(`/api/activity/${name}/queue`);
      expect(body.items.map(({ state }) => state).sort()).toEqual(['held', 'held', 'limited']);
      await client.succeed(item.token, null);
      expect(await client.work(name)).toMatchObject({ workflowId: second });
    });

    it('takes all slots of a step or none, and blocks no step that needs others', async () => {
      const { client } = at;
      const [first, second] = [
        await limitOf(client, { concurrency: 1 }),
        await limitOf(client, { concurrency: 1 }),
      ];
      const name = fresh('work');
      const define = (...Limits: string[]) =>
        client.define({ Steps: [{ ...activity('ask', name), Limits }] });
      const [one, both, two] = [
        await define(first),
        await define(first, second),
        await define(second),
      ];
      await client.start(one);
      const held = await client.work(name);
      const waits = await client.start(both);
      expect((await client.pull(name)).status).toBe(404);
      const free = await client.start(two);
      const item = await client.work(name);
      expect(item.workflowId).toBe(free);
      await client.succeed(held.token, null);
      await client.ended(held.workflowId);
      expect((await client.pull(name)).status).toBe(404);
      await client.succeed(item.token, null);
      expect(await client.work(name)).toMatchObject({ workflowId: waits });
    });

    it('frees the slot of an item that its worker gives back or loses', async () => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 1 });
      const name = fresh('work');
      const id = await client.define({ Steps: [{ ...activity('ask', name), Limits: [limit] }] });
      await client.start(id);
      await client.start(id);
      const first = await client.work(name);
      await client.call('DELETE', `/api/activity/${first.token}`);
      const again = await client.work(name, '&lease=1');
      expect(again.workflowId).toBe(first.workflowId);
      // The lease ends by itself.
      await client.work(name);
      const late = await client.call('PUT', `/api/activity/${again.token}/heartbeat`);
      expect(late.status).toBe(404);
    });

    it('begins no more attempts than the rate allows', async () => {
      const { client } = at;
      const limit = await limitOf(client, { rate: { count: 20, per: 1, burst: 2 } });
      const before = calls;
      const steps = {
        Steps: [
          {
            Id: 'all',
            StepType: 'Foreach',
            Inputs: { Collection: 'list(range(12))', RunParallel: 'True' },
            Do: [[{ ...step('call', 'HttpRequest', { BaseUrl: 'data.base' }), Limits: [limit] }]],
          },
        ],
      };
      const { endTime, startTime } = await client.run(steps, { base: callee.url });
      expect(calls).toBe(before + 12);
      // 2 at once, and then one each 50 ms.
      expect(Date.parse(endTime ?? '') - Date.parse(startTime)).toBeGreaterThanOrEqual(10 * 50);
    });

    it('lets custom steps hold a slot for one attempt, and frees it before a retry', async () => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 1 });
      const script = await client.script('raise ValueError("no")');
      const id = await client.define({
        DefaultErrorBehavior: 'Retry',
        DefaultErrorRetryInterval: '01:00:00',
        Steps: [{ Id: 'call', StepType: script, Limits: [limit] }],
      });
      const first = await client.start(id);
      await client.untilStep(first, 'call', ({ waitsFor }) => waitsFor?.kind === 'retry');
      expect(await use(client, limit)).toMatchObject({ held: 0 });
      const second = await client.start(id);
      await client.untilStep(second, 'call', ({ waitsFor }) => waitsFor?.kind === 'retry');
    });

    it('fails a step whose key has no value or is too long, without a retry', async () => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 1 });
      const call = step('call', 'SubWorkflow', { DefinitionId: '"missing"' });
      const failed = async (Key: string) => {
        const Limits = [{ Name: limit, Key }];
        const run = await client.defineAndStart({
          DefaultErrorBehavior: 'Retry',
          Steps: [{ ...call, Limits }],
        });
        await client.untilWorkflow(run, ({ failure }) => failure?.type === 'InvalidLimitKey');
        return (await client.workflow(run)).lastError;
      };
      expect(await failed('data.missing')).toMatchObject({ attempt: 1 });
      expect(await failed('"x" * 257')).toMatchObject({ type: 'InvalidLimitKey' });
    });

    it.each(['Activity', 'SubWorkflow'])('fails a step (%s) whose limit is gone', async (type) => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 1 });
      const name = fresh('work');
      const child = await client.define([activity('ask', name)]);
      const call =
        type === 'Activity'
          ? activity('call', name)
          : step('call', type, { DefinitionId: `"${child}"` });
      const id = await client.define({
        Steps: [{ ...call, Limits: [limit] }],
      });
      await client.start(id);
      const held = await client.work(name);
      const waiting = await client.start(id);
      await client.untilStep(waiting, 'call', ({ waitsFor }) => waitsFor?.kind === 'limit');
      // Only the newest version of a definition keeps its limits.
      await client.postDefinition({ Id: id, Steps: [step('call', 'NoOp')] });
      expect((await client.call('DELETE', `/api/limit/${limit}`)).status).toBe(204);
      const late = await client.post<Workflow>(`/api/workflow/${id}?version=1`, {});
      for (const run of [waiting, late.body.workflowId]) {
        await client.untilWorkflow(run, ({ failure }) => failure?.type === 'UnknownLimit');
      }
      await client.succeed(held.token, null);
      await client.ended(held.workflowId);
    });

    it('passes over the steps of a suspended run until it is resumed', async () => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 1 });
      const name = fresh('work');
      const child = await client.define([activity('ask', name)]);
      const call = step('call', 'SubWorkflow', { DefinitionId: `"${child}"` });
      const parent = await client.define({ Steps: [{ ...call, Limits: [limit] }] });
      const begins = (run: string) =>
        client.untilStep(run, 'call', ({ waitsFor }) => waitsFor?.kind === 'workflow');
      const first = await client.start(parent);
      await begins(first);
      const [second, third] = [await client.start(parent), await client.start(parent)];
      await client.untilStep(third, 'call', ({ waitsFor }) => waitsFor?.kind === 'limit');
      await client.control(second, 'suspend');
      await client.terminate(first);
      await begins(third);
      await client.control(second, 'resume');
      await client.terminate(third);
      await begins(second);
    });

    it('lets steps go by the priority of their runs, then by age', async () => {
      const { client } = at;
      const limit = await limitOf(client, { concurrency: 1 });
      const name = fresh('work');
      const id = await client.define({ Steps: [{ ...activity('ask', name), Limits: [limit] }] });
      const startWith = async (priority: number) => {
        const path = `/api/workflow/${id}?priority=${priority}`;
        return (await client.post<Workflow>(path, {})).body.workflowId;
      };
      const order = [await startWith(1)];
      let item = await client.work(name);
      const [low, normal, high] = [await startWith(5), await startWith(3), await startWith(2)];
      order.push(high, normal, low);
      for (const run of order) {
        expect(item.workflowId).toBe(run);
        await client.succeed(item.token, null);
        if (run !== low) item = await client.work(name);
      }
    });
  },
  { dialects: 'alternating' },
);
