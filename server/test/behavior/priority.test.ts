/** The priority of runs: which they have, and the order in which their work is handed out. */
import { expect, it } from 'vitest';
import type { ActivityItem } from '../../src/api/wire/models/activity.js';
import type { WorkflowAction } from '../../src/api/wire/models/control.js';
import type { Priority } from '../../src/api/wire/models/workflow.js';
import type { Json } from '../../src/engine/values/json.js';
import { bulkDone, createBulk } from './support/bulk.js';
import { fresh, type Client } from './support/client.js';
import { start } from './support/doors.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, mark, step } from './support/steps.js';

const WAITING = [step('wait', 'Delay', { Period: 3600 })];

function setPriority(client: Client, id: string, priority: Json) {
  const body = JSON.stringify({ priority });
  const type = 'application/json';
  return client.call<{ priority: Priority; code: string }>('PUT', `/api/workflow/${id}/priority`, {
    body,
    type,
  });
}

everyStore('priorities', (at) => {
  it('is the one of the start, of the definition, or 3', async () => {
    const { client } = at;
    const plain = await client.define(WAITING);
    const urgent = await client.define({ Priority: 2, Steps: WAITING });
    for (const [id, query, priority] of [
      [plain, '', 3],
      [plain, 'priority=5', 5],
      [urgent, '', 2],
      [urgent, 'priority=4', 4],
    ] as const) {
      const { body, status, text } = await start(client, id, {}, query);
      expect(status, text).toBe(201);
      expect(body.priority).toBe(priority);
      expect((await client.workflow(body.workflowId)).priority).toBe(priority);
    }
  });

  it('refuses priorities that are no whole number from 1 to 5', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    for (const value of ['0', '6', '1.5', 'high', '']) {
      const { body, status } = await start(client, id, {}, `priority=${value}`);
      expect([status, body.code], value).toEqual([400, 'invalid_request']);
    }
    for (const Priority of [0, 6, 2.5, 'high', true, [1]] as const) {
      const answer = await client.postDefinition({ Id: fresh('d'), Priority, Steps: WAITING });
      expect(answer.status, answer.text).toBe(400);
      expect(answer.text).toContain('Priority must be a whole number');
    }
  });

  it('hands out the work of runs with a higher priority first', async () => {
    const { client } = at;
    const name = fresh('work');
    const id = await client.define([activity('ask', name)]);
    const started: string[] = [];
    for (const priority of [5, 3, 1, 3]) {
      const { body } = await start(client, id, {}, `priority=${priority}`);
      started.push(body.workflowId);
      await client.untilWaiting(body.workflowId, 'ask');
    }
    const queue = await client.get<{ items: ActivityItem[] }>(`/api/activity/${name}/queue`);
    expect(queue.body.items.map(({ priority }) => priority)).toEqual([5, 3, 1, 3]);
    const order: string[] = [];
    for (let n = 0; n < 4; n += 1) order.push((await client.work(name)).workflowId);
    expect(order).toEqual([2, 1, 3, 0].map((index) => started[index]));
  });

  it('moves the waiting work of a run whose priority is changed, and the work that it offers later', async () => {
    const { client } = at;
    const [first, second] = [fresh('first'), fresh('second')];
    const id = await client.define(chain(activity('one', first), activity('two', second)));
    const runs: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const run = await client.start(id);
      await client.untilWaiting(run, 'one');
      runs.push(run);
    }
    const changed = await setPriority(client, runs[2]!, 1);
    expect(changed.status, changed.text).toBe(200);
    expect(changed.body.priority).toBe(1);
    for (const index of [2, 0, 1]) {
      const item = await client.work(first);
      expect(item.workflowId).toBe(runs[index]);
      await client.succeed(item.token, null);
      await client.untilWaiting(item.workflowId, 'two');
    }
    expect((await client.work(second)).workflowId).toBe(runs[2]);
    const audit = await client.get<{ items: WorkflowAction[] }>(`/api/workflow/${runs[2]!}/audit`);
    expect(audit.body.items).toMatchObject([{ action: 'set-priority', detail: '1' }]);
  });

  it('refuses to change the priority of ended and unknown runs, and invalid bodies', async () => {
    const { client } = at;
    const { workflowId } = await client.run([mark('a')]);
    const ended = await setPriority(client, workflowId, 1);
    expect([ended.status, ended.body.code]).toEqual([409, 'action_conflict']);
    const unknown = await setPriority(client, 'none', 1);
    expect([unknown.status, unknown.body.code]).toEqual([404, 'workflow_not_found']);
    const open = await client.defineAndStart(WAITING);
    for (const priority of [0, 6, 1.5, null, {}, 'x'.repeat(1000)] as const) {
      const refused = await setPriority(client, open, priority);
      expect([refused.status, refused.body.code], JSON.stringify(priority)).toEqual([
        400,
        'invalid_request',
      ]);
    }
    expect((await client.workflow(open)).priority).toBe(3);
  });

  it('is inherited by children and kept by restarts, unless they have their own', async () => {
    const { client } = at;
    const child = await client.define({ Priority: 4, Steps: WAITING });
    const sub = (Id: string, inputs = {}) =>
      step(Id, 'SubWorkflow', { DefinitionId: `"${child}"`, Wait: 'False', ...inputs });
    const parent = await client.define(
      chain(sub('same'), sub('own', { Priority: 'data.wanted' }), ...WAITING),
    );
    const { body } = await start(client, parent, { wanted: 5 }, 'priority=1');
    await client.untilWaiting(body.workflowId, 'wait');
    const children = (await client.steps(body.workflowId)).flatMap(
      ({ childWorkflowId }) => childWorkflowId ?? [],
    );
    const priorities = await Promise.all(children.map((id) => client.workflow(id)));
    expect(priorities.map(({ priority }) => priority)).toEqual([1, 5]);
    const restarted = await client.post<{ priority: number }>(
      `/api/workflow/${body.workflowId}/restart`,
      { reason: 'again' },
    );
    expect(restarted.body.priority).toBe(1);
  });

  it('fails a SubWorkflow step whose Priority is none', async () => {
    const { client } = at;
    const child = await client.define(WAITING);
    const Inputs = { DefinitionId: `"${child}"`, Priority: '7' };
    const failing = step('sub', 'SubWorkflow', Inputs, { ErrorBehavior: 'Terminate' });
    const { lastError } = await client.run([failing]);
    expect(lastError).toMatchObject({ type: 'InputError' });
    expect(lastError?.message).toContain('from 1 to 5');
  });

  it('is changed for many runs by a bulk job', async () => {
    const { client } = at;
    const definitionId = await client.define(WAITING);
    const ids = await Promise.all([1, 2, 3].map(() => client.start(definitionId)));
    await client.terminate(ids[2]!);
    const request = { action: 'priority', priority: 2, workflowIds: ids } as const;
    const job = await bulkDone(client, await createBulk(client, request));
    expect(job).toMatchObject({ done: 2, skipped: 1, failed: 0 });
    expect((await client.workflow(ids[0]!)).priority).toBe(2);
    for (const body of [
      { action: 'priority', workflowIds: ids, reason: 'why' },
      { action: 'suspend', priority: 2, workflowIds: ids, reason: 'why' },
      { action: 'priority', priority: 9, workflowIds: ids, reason: 'why' },
    ]) {
      const refused = await client.post<{ code: string }>('/api/bulk', body);
      expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
    }
  });
});
