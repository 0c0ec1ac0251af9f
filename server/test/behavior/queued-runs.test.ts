/** Runs that wait for those with the same reference (`onConflict=queue`), by every door and on every store. */
import { expect, it } from 'vitest';
import type { Explanation } from '../../src/api/wire/models/explanation.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { type Client, fresh } from './support/client.js';
import { start } from './support/doors.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, mark, step } from './support/steps.js';

const WAITING = [step('wait', 'WaitFor', { EventName: '"go"', EventKey: 'context.Workflow.Id' })];

async function queue(client: Client, id: string, reference: string, query = ''): Promise<Workflow> {
  const { body, status, text } = await start(
    client,
    id,
    {},
    `reference=${reference}&onConflict=queue${query}`,
  );
  expect(status, text).toBe(201);
  return body as unknown as Workflow;
}

everyStore('queued runs', (at) => {
  it('starts at once if no run with the reference is open, and waits otherwise', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    const first = await queue(client, id, 'r');
    expect(first).toMatchObject({ queued: false, status: 'Runnable' });
    const second = await queue(client, id, 'r');
    expect(second).toMatchObject({ queued: true, status: 'Runnable' });
    expect(await queue(client, id, 'other')).toMatchObject({ queued: false });
    await client.untilWaiting(first.workflowId, 'wait');
    const [waiting] = await client.steps(second.workflowId);
    expect(waiting).toMatchObject({ status: 'Waiting', waitsFor: { kind: 'queue' } });
    const { body } = await client.get<Explanation>(`/api/workflow/${second.workflowId}/explain`);
    const before = "queued: waits for the runs with the reference 'r' that were open before it";
    expect(body).toMatchObject({
      summary: `${before}; 1 of them is open`,
      reasons: [{ kind: 'queue', holders: [first.workflowId], stepId: null }],
    });
    const listed = await client.get<WorkflowPage>(`/api/workflow?queued=true&definitionId=${id}`);
    expect(listed.body.items.map(({ workflowId }) => workflowId)).toEqual([second.workflowId]);
    await client.publish('go', first.workflowId, null);
    await client.untilWorkflow(second.workflowId, ({ queued }) => !queued);
    await client.untilStep(second.workflowId, 'wait', ({ waitsFor }) => waitsFor?.kind === 'event');
    await client.publish('go', second.workflowId, null);
    expect(await client.ended(second.workflowId)).toMatchObject({ outcome: 'Succeeded' });
  });

  it('lets several go in the order of their acceptance, one after another', async () => {
    const { client } = at;
    const name = fresh('work');
    const id = await client.define(chain(activity('ask', name), mark('after')));
    const runs: string[] = [];
    for (let n = 0; n < 5; n += 1) runs.push((await queue(client, id, 'r')).workflowId);
    for (const run of runs) {
      const item = await client.work(name);
      expect(item.workflowId).toBe(run);
      // Nobody else may work on it.
      expect((await client.pull(name)).status).toBe(404);
      await client.succeed(item.token, null);
      await client.ended(run);
    }
  });

  it('waits for every run that was open before, however that was started', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    const open = [await client.start(id, {}, 'r'), await client.start(id, {}, 'r')] as const;
    const queued = await queue(client, id, 'r');
    expect(queued).toMatchObject({ queued: true });
    await client.terminate(open[1]);
    await client.ended(open[1]);
    // The other one is still open.
    expect(await client.workflow(queued.workflowId)).toMatchObject({ queued: true });
    await client.terminate(open[0]);
    await client.untilWorkflow(queued.workflowId, (run) => !run.queued);
  });

  it('passes over a queued run that is terminated', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    const first = await queue(client, id, 'r');
    const second = await queue(client, id, 'r');
    const third = await queue(client, id, 'r');
    await client.terminate(second.workflowId);
    expect(await client.ended(second.workflowId)).toMatchObject({
      outcome: 'Terminated',
      queued: false,
    });
    expect(await client.workflow(third.workflowId)).toMatchObject({ queued: true });
    const { body } = await client.get<Explanation>(`/api/workflow/${third.workflowId}/explain`);
    expect(body.reasons).toMatchObject([{ holders: [first.workflowId] }]);
    await client.terminate(first.workflowId);
    await client.untilWorkflow(third.workflowId, ({ queued }) => !queued);
  });

  it('counts a run that starts later from that time on', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    const later = await queue(client, id, 'r', '&delay=2');
    expect(later).toMatchObject({ queued: false });
    const first = await queue(client, id, 'r');
    expect(first).toMatchObject({ queued: false });
    await client.untilWorkflow(later.workflowId, ({ queued }) => queued);
    const last = await queue(client, id, 'r');
    await client.terminate(first.workflowId);
    await client.untilWorkflow(later.workflowId, ({ queued }) => !queued);
    expect(await client.workflow(last.workflowId)).toMatchObject({ queued: true });
    await client.terminate(later.workflowId);
    await client.untilWorkflow(last.workflowId, ({ queued }) => !queued);
  });

  it('takes the rule of the definition, and needs a reference', async () => {
    const { client } = at;
    const id = await client.define({ Reference: 'data.c', OnConflict: 'Queue', Steps: WAITING });
    const first = await start(client, id, { c: 'c1' });
    const second = await start(client, id, { c: 'c1' });
    expect([first.body, second.body]).toMatchObject([{ queued: false }, { queued: true }]);
    const without = await start(client, await client.define(WAITING), {}, 'onConflict=queue');
    expect([without.status, without.body.code]).toEqual([400, 'invalid_request']);
  });

  it('answers a repeated start with the same run', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    await queue(client, id, 'r');
    const headers = { 'idempotency-key': fresh('key') };
    const path = `/api/workflow/${id}?reference=r&onConflict=queue`;
    const [once, again] = [
      await client.post<Workflow>(path, {}, headers),
      await client.post<Workflow>(path, {}, headers),
    ];
    expect(again.body.workflowId).toBe(once.body.workflowId);
    expect([once.body, again.body]).toMatchObject([{ queued: true }, { queued: true }]);
  });

  it('goes on after a resume, and does not begin while it is suspended', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    const first = await queue(client, id, 'r');
    const second = await queue(client, id, 'r');
    await client.control(second.workflowId, 'suspend');
    await client.terminate(first.workflowId);
    await client.ended(first.workflowId);
    expect(await client.workflow(second.workflowId)).toMatchObject({ status: 'Suspended' });
    await client.control(second.workflowId, 'resume');
    await client.untilStep(second.workflowId, 'wait', ({ waitsFor }) => waitsFor?.kind === 'event');
  });

  it('waits for nobody when a repair opens it again', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    const first = await queue(client, id, 'r');
    const second = await queue(client, id, 'r');
    await client.terminate(second.workflowId);
    await client.ended(second.workflowId);
    const rerun = await client.post<{ workflow: Workflow; warnings: unknown[] }>(
      `/api/workflow/${second.workflowId}/rerun`,
      { reason: 'after all' },
    );
    expect(rerun.body).toMatchObject({ workflow: { queued: false, status: 'Runnable' } });
    const listed = await client.get<WorkflowPage>(`/api/workflow?queued=true&definitionId=${id}`);
    expect(listed.body.items).toEqual([]);
    await client.untilStep(second.workflowId, 'wait', ({ waitsFor }) => waitsFor?.kind === 'event');
    // It counts for those that come later.
    const third = await queue(client, id, 'r');
    await client.terminate(first.workflowId);
    await client.ended(first.workflowId);
    expect(await client.workflow(third.workflowId)).toMatchObject({ queued: true });
    await client.terminate(second.workflowId);
    await client.untilWorkflow(third.workflowId, ({ queued }) => !queued);
  });

  it('fails a step whose child would wait for its own parent', async () => {
    const { client } = at;
    const Id = fresh('self');
    const inputs = { DefinitionId: `"${Id}"`, Reference: '"r"', OnConflict: '"queue"' };
    const Steps = [step('sub', 'SubWorkflow', inputs, { ErrorBehavior: 'Terminate' })];
    expect((await client.postDefinition({ Id, Steps })).status).toBe(201);
    const run = await client.start(Id, {}, 'r');
    const { lastError } = await client.ended(run);
    expect(lastError?.message).toContain('waits for this step itself');
  });
});
