/** Runs at a time (`Concurrency`), by every door and on every store. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import type { Explanation } from '../../src/api/wire/models/explanation.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { type Client, fresh } from './support/client.js';
import { deliver, start, triggerOf, webhook } from './support/doors.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, mark, step } from './support/steps.js';

const WAITING = [step('wait', 'WaitFor', { EventName: '"go"', EventKey: 'context.Workflow.Id' })];

const define = (client: Client, concurrency: JsonObject): Promise<string> =>
  client.define({ Concurrency: concurrency, Steps: WAITING });

async function accepted(client: Client, id: string, data = {}, query = ''): Promise<Workflow> {
  const { body, status, text } = await start(client, id, data, query);
  expect(status, text).toBe(201);
  return body as unknown as Workflow;
}

everyStore('runs at a time', (at) => {
  it('lets as many runs begin as the limit says, and the others as places become free', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 2 });
    const runs = [];
    for (let n = 0; n < 4; n += 1) runs.push(await accepted(client, id));
    expect(runs.map(({ queued }) => queued)).toEqual([false, false, true, true]);
    const [first, second, third, fourth] = runs.map(({ workflowId }) => workflowId) as [
      string,
      string,
      string,
      string,
    ];
    const [waiting] = await client.steps(third);
    expect(waiting).toMatchObject({ status: 'Waiting', waitsFor: { kind: 'queue' } });
    const { body } = await client.get<Explanation>(`/api/workflow/${fourth}/explain`);
    expect(body.reasons).toMatchObject([
      {
        kind: 'queue',
        text: 'queued: 2 of 2 runs are open, 1 in line before it',
        holders: expect.arrayContaining([first, second]) as string[],
      },
    ]);
    await client.publish('go', second, null);
    await client.untilStep(third, 'wait', ({ waitsFor }) => waitsFor?.kind === 'event');
    expect(await client.workflow(third)).toMatchObject({ queued: false });
    const listed = await client.get<WorkflowPage>(`/api/workflow?queued=true&definitionId=${id}`);
    expect(listed.body.items.map(({ workflowId }) => workflowId)).toEqual([fourth]);
    await client.terminate(first);
    await client.untilStep(fourth, 'wait', ({ waitsFor }) => waitsFor?.kind === 'event');
  });

  it('counts each key for itself, and runs without a key together', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1, Key: 'data.customer' });
    const queued = async (data: object) => (await accepted(client, id, data)).queued;
    expect(await queued({ customer: 'a' })).toBe(false);
    expect(await queued({ customer: 'b' })).toBe(false);
    expect(await queued({ customer: 'a' })).toBe(true);
    expect(await queued({ customer: 7 })).toBe(false);
    expect(await queued({ customer: '7' })).toBe(true);
    expect(await queued({ customer: null })).toBe(false);
    expect(await queued({ customer: '' })).toBe(true);
  });

  it('lets runs of one key begin by priority, then in order', async () => {
    const { client } = at;
    const name = fresh('work');
    const id = await client.define({
      Concurrency: { Limit: 1 },
      Steps: chain(activity('ask', name), mark('after')),
    });
    const { workflowId: first } = await accepted(client, id);
    const { workflowId: low } = await accepted(client, id, {}, 'priority=5');
    const { workflowId: normal } = await accepted(client, id);
    const { workflowId: next } = await accepted(client, id);
    const { workflowId: high } = await accepted(client, id, {}, 'priority=1');
    for (const run of [first, high, normal, next, low]) {
      const item = await client.work(name);
      expect(item.workflowId).toBe(run);
      expect((await client.pull(name)).status).toBe(404);
      await client.succeed(item.token, null);
      await client.ended(run);
    }
  });

  it('refuses further starts if it says so, and names the open runs', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1, Key: 'data.c', OnFull: 'Reject' });
    const { workflowId } = await accepted(client, id, { c: 'x' });
    const refused = await start(client, id, { c: 'x' });
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { code: 'concurrency_reached', definitionId: id, workflowIds: [workflowId] },
    ]);
    expect(refused.text).toContain(`1 of 1 runs of '${id}' with the key 'x' are open`);
    expect((await start(client, id, { c: 'y' })).status).toBe(201);
    await client.terminate(workflowId);
    expect((await start(client, id, { c: 'x' })).status).toBe(201);
  });

  it('accepts exactly as many of 30 simultaneous starts as the limit says', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 3, OnFull: 'Reject' });
    const answers = await Promise.all(Array.from({ length: 30 }, () => start(client, id, {})));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(3);
    expect(statuses.filter((status) => status === 409)).toHaveLength(27);
  });

  it('refuses a start when as many wait as may', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1, MaxQueued: 1 });
    await accepted(client, id);
    const { workflowId } = await accepted(client, id);
    const refused = await start(client, id, {});
    expect([refused.status, refused.body.code]).toEqual([429, 'queue_full']);
    await client.terminate(workflowId);
    expect(await accepted(client, id)).toMatchObject({ queued: true });
  });

  it('passes over a suspended run until it is resumed', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1 });
    const { workflowId: first } = await accepted(client, id);
    const { workflowId: second } = await accepted(client, id);
    const { workflowId: third } = await accepted(client, id);
    await client.control(second, 'suspend');
    await client.terminate(first);
    await client.untilWorkflow(third, ({ queued }) => !queued);
    expect(await client.workflow(second)).toMatchObject({ queued: true });
    await client.control(second, 'resume');
    await client.terminate(third);
    await client.untilWorkflow(second, ({ queued }) => !queued);
  });

  it('lets a resumed run begin at once if a place is free', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1 });
    const { workflowId: first } = await accepted(client, id);
    const { workflowId: second } = await accepted(client, id);
    await client.control(second, 'suspend');
    await client.terminate(first);
    await client.ended(first);
    await client.control(second, 'resume');
    await client.untilStep(second, 'wait', ({ waitsFor }) => waitsFor?.kind === 'event');
  });

  it('holds for all versions, with the limit of the newest', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1 });
    await accepted(client, id);
    const { workflowId: second } = await accepted(client, id);
    const { workflowId: third } = await accepted(client, id, {}, '');
    const Steps = WAITING;
    await client.postDefinition({ Id: id, Concurrency: { Limit: 2 }, Steps });
    await client.untilWorkflow(second, ({ queued }) => !queued);
    expect(await client.workflow(third)).toMatchObject({ queued: true });
    await client.postDefinition({ Id: id, Steps });
    await client.untilWorkflow(third, ({ queued }) => !queued);
    expect(await accepted(client, id)).toMatchObject({ queued: false });
  });

  it('counts a run that starts later from that time on, and never refuses it', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1, OnFull: 'Reject' });
    const later = await accepted(client, id, {}, 'delay=1');
    const first = await accepted(client, id);
    expect([later.queued, first.queued]).toEqual([false, false]);
    await client.untilWorkflow(later.workflowId, ({ queued }) => queued);
    await client.terminate(first.workflowId);
    await client.untilWorkflow(later.workflowId, ({ queued }) => !queued);
  });

  it('counts a run that a modification lets begin before its time', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1 });
    const { workflowId: later } = await accepted(client, id, {}, 'delay=3600');
    const begin = { reason: 'now', cancel: '*', start: [{ stepId: 'wait' }] };
    const modified = await client.post(`/api/workflow/${later}/modify`, begin);
    expect(modified.status, modified.text).toBe(200);
    await client.untilStep(later, 'wait', ({ waitsFor }) => waitsFor?.kind === 'event');
    const next = await accepted(client, id);
    expect(next).toMatchObject({ queued: true });
    await client.terminate(later);
    await client.untilWorkflow(next.workflowId, ({ queued }) => !queued);
  });

  it('waits for the runs with its reference first, and then for a place', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1, MaxQueued: 1 });
    const query = 'onConflict=queue&reference=r';
    const first = await accepted(client, id, {}, query);
    const second = await accepted(client, id, {}, query);
    const other = await accepted(client, id);
    expect([first, second, other].map(({ queued }) => queued)).toEqual([false, true, true]);
    await client.terminate(first.workflowId);
    await client.untilWorkflow(other.workflowId, ({ queued }) => !queued);
    expect(await client.workflow(second.workflowId)).toMatchObject({ queued: true });
    await client.terminate(other.workflowId);
    await client.untilWorkflow(second.workflowId, ({ queued }) => !queued);
  });

  it('takes the place of a run that it replaces', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1, OnFull: 'Reject' });
    await accepted(client, id, {}, 'reference=r');
    const next = await accepted(client, id, {}, 'reference=r&onConflict=terminate');
    expect(next).toMatchObject({ queued: false });
  });

  it('fails a SubWorkflow step whose child is refused', async () => {
    const { client } = at;
    const child = await define(client, { Limit: 1, OnFull: 'Reject' });
    await accepted(client, child);
    const inputs = { DefinitionId: `"${child}"` };
    const steps = [step('sub', 'SubWorkflow', inputs, { ErrorBehavior: 'Terminate' })];
    const run = await client.start(await client.define(steps));
    expect((await client.ended(run)).lastError).toMatchObject({
      message: expect.stringContaining('1 of 1 runs') as string,
    });
  });

  it('applies to triggers, webhooks and restarts', async () => {
    const { client } = at;
    const id = await client.define({
      Concurrency: { Limit: 1, OnFull: 'Reject' },
      Triggers: [{ Name: 'main', Cron: '@yearly' }],
      Steps: WAITING,
    });
    const first = await accepted(client, id);
    const fired = await client.call<Problem>('POST', `/api/definition/${id}/triggers/main/fire`);
    expect([fired.status, fired.body.code]).toEqual([409, 'concurrency_reached']);
    expect((await triggerOf(client, id)).last).toMatchObject({
      outcome: 'Skipped',
      reason: `1 of 1 runs of '${id}' are open`,
    });
    const hook = await webhook(client, { definitionId: id });
    const delivered = await deliver(client, hook, {});
    expect([delivered.status, delivered.body.code]).toEqual([409, 'concurrency_reached']);
    const other = await define(client, { Limit: 1 });
    const { workflowId: ended } = await accepted(client, other);
    await client.terminate(ended);
    await client.ended(ended);
    await accepted(client, other);
    const body = { reason: 'again' };
    const restarted = await client.post<Workflow>(`/api/workflow/${ended}/restart`, body);
    expect(restarted.body).toMatchObject({ queued: true });
    await client.terminate(first.workflowId);
  });

  it('counts a run that a repair opens again, and does not hold it up', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1 });
    const { workflowId: ended } = await accepted(client, id);
    await client.terminate(ended);
    await client.ended(ended);
    const { workflowId: open } = await accepted(client, id);
    const body = { reason: 'again', from: 'wait' };
    const rerun = await client.post<JsonObject>(`/api/workflow/${ended}/rerun`, body);
    expect(rerun.status, rerun.text).toBe(200);
    await client.untilStep(ended, 'wait', ({ waitsFor }) => waitsFor?.kind === 'event');
    const { workflowId: queued } = await accepted(client, id);
    await client.terminate(open);
    await client.ended(open);
    expect(await client.workflow(queued)).toMatchObject({ queued: true });
    await client.terminate(ended);
    await client.untilWorkflow(queued, (run) => !run.queued);
  });

  it('lets a child wait, and its parent with it', async () => {
    const { client } = at;
    const child = await define(client, { Limit: 1 });
    const open = await accepted(client, child);
    const steps = [step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` })];
    const parent = await client.start(await client.define(steps));
    const listed = () =>
      client.get<WorkflowPage>(`/api/workflow?queued=true&definitionId=${child}`);
    await expect.poll(async () => (await listed()).body.items.length).toBe(1);
    await client.terminate(open.workflowId);
    await expect.poll(async () => (await listed()).body.items.length).toBe(0);
    await client.terminate(parent);
  });

  it('refuses a start whose key cannot be evaluated', async () => {
    const { client } = at;
    const id = await define(client, { Limit: 1, Key: 'data["missing"]' });
    const failed = await start(client, id, {});
    expect([failed.status, failed.body.code]).toEqual([400, 'expression_failed']);
    expect(failed.text).toContain('Key of Concurrency');
    const long = await define(client, { Limit: 1, Key: 'data["c"] * 300' });
    const refused = await start(client, long, { c: 'x' });
    expect([refused.status, refused.body.code]).toEqual([400, 'expression_failed']);
    expect(refused.text).toContain('at most 256');
  });

  it('keeps places and order over a restart of the server', async () => {
    const id = await define(at.client, { Limit: 1 });
    const first = await accepted(at.client, id);
    const second = await accepted(at.client, id);
    const third = await accepted(at.client, id);
    await at.restart();
    const { client } = at;
    expect(await accepted(client, id)).toMatchObject({ queued: true });
    await client.publish('go', first.workflowId, null);
    await client.untilWorkflow(second.workflowId, ({ queued }) => !queued);
    expect(await client.workflow(third.workflowId)).toMatchObject({ queued: true });
  });
});
