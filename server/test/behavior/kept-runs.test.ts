/** Runs that are started again, purged, or kept as long as their definition says. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import type { WorkflowActionList } from '../../src/api/wire/models/control.js';
import type { WorkflowExport } from '../../src/api/wire/models/export.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { Client, fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { compute, step } from './support/steps.js';

const WAITING = [step('wait', 'Delay', { Period: 3600 })];
const COUNTING = [compute('count', { n: 'data.n + 1' })];

function restart(client: Client, id: string, body: JsonObject, key?: string) {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return client.post<Workflow & Omit<Problem, 'status'>>(
    `/api/workflow/${id}/restart`,
    body,
    headers,
  );
}

function purge(client: Client, id: string, query = 'purge=true') {
  return client.call<Workflow & Omit<Problem, 'status'>>('DELETE', `/api/workflow/${id}?${query}`);
}

async function actions(client: Client, id: string): Promise<readonly string[]> {
  const { body } = await client.get<WorkflowActionList>(`/api/workflow/${id}/audit`);
  return body.items.map(({ action, actor, detail }) => `${actor} ${action} ${detail ?? ''}`);
}

everyStore('kept runs', (at) => {
  it('starts a run again with the same input, reference and tags, and links both', async () => {
    const { client } = at;
    const id = await client.define({ Steps: COUNTING, Tags: { team: 'a', unit: 'x' } });
    const query = 'reference=order-7&tag=env:prod&tag=team:b&wait=20';
    const first = await client.post<Workflow>(`/api/workflow/${id}?${query}`, { n: 1 });
    const { workflowId } = first.body;
    expect(first.body.data).toEqual({ n: 2 });
    const tags = { unit: null, note: 'late' };
    const patch = { body: JSON.stringify(tags), type: 'application/json' };
    expect((await client.call('PATCH', `/api/workflow/${workflowId}/tags`, patch)).status).toBe(
      200,
    );

    const { body, headers, status } = await restart(client, workflowId, { reason: 'carrier down' });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/workflow/${body.workflowId}`);
    const same = { definitionId: id, version: 1, reference: 'order-7' };
    const shown = { ...same, tags: { team: 'b', env: 'prod', note: 'late' } };
    expect(body).toMatchObject({ ...shown, restartOf: workflowId, restartedAs: null });
    const again = await client.ended(body.workflowId);
    expect(again).toMatchObject({ ...shown, restartOf: workflowId, data: { n: 2 }, parent: null });
    const input = await client.get(`/api/workflow/${body.workflowId}/input`);
    expect(input.body).toEqual({ n: 1 });

    const old = await client.workflow(workflowId);
    expect(old).toEqual({ ...first.body, tags: shown.tags, restartedAs: body.workflowId });
    const entry = (what: string) => `anonymous restart ${what}: carrier down`;
    expect((await actions(client, workflowId))[0]).toBe(
      entry(`restarted as run ${body.workflowId}`),
    );
    expect(await actions(client, body.workflowId)).toEqual([entry(`restart of run ${workflowId}`)]);

    const newest = await restart(client, workflowId, { reason: 'once more' });
    expect((await client.workflow(workflowId)).restartedAs).toBe(newest.body.workflowId);
    const list = await client.get<{ items: Workflow[] }>(`/api/workflow?definitionId=${id}`);
    expect(list.body.items.map(({ restartOf }) => restartOf)).toEqual([
      workflowId,
      workflowId,
      null,
    ]);
  });

  it('keeps a run open that is started again, even during a wait for its end', async () => {
    const { client } = at;
    const id = await client.defineAndStart([
      step('wait', 'WaitFor', { EventName: "'go'", EventKey: "'k'" }),
    ]);
    await client.untilWaiting(id, 'wait');
    const waiting = client.get<Workflow>(`/api/workflow/${id}?wait=20`);
    const { body } = await restart(client, id, { reason: 'try beside' });
    expect(await client.workflow(id)).toMatchObject({ status: 'Runnable', endTime: null });
    await client.untilWaiting(body.workflowId, 'wait');
    await client.publish('go', 'k', null);
    expect((await waiting).body).toMatchObject({
      outcome: 'Succeeded',
      restartedAs: body.workflowId,
    });
    expect(await client.ended(body.workflowId)).toMatchObject({ restartOf: id });
  });

  it('uses the version of the run, or the one in the restart', async () => {
    const { client } = at;
    const Id = fresh('versions');
    const post = (members: JsonObject) => client.postDefinition({ Id, ...members });
    await post({ Steps: [compute('v', { v: '1' })] });
    const first = await client.start(Id);
    const schema = { type: 'object', required: ['email'] };
    await post({ Steps: [compute('v', { v: '2' })], Tags: { added: 'later' } });
    await post({ Steps: [compute('v', { v: '3' })], Input: schema });
    const versionOf = async (body: JsonObject) =>
      (await client.ended((await restart(client, first, body)).body.workflowId)).data;
    expect(await versionOf({ reason: 'as it was' })).toEqual({ v: 1 });
    expect(await versionOf({ reason: 'fixed', version: 2 })).toEqual({ v: 2 });
    const refused = await restart(client, first, { reason: 'checked', version: 3 });
    expect(refused.body).toMatchObject({ status: 400, code: 'invalid_data' });
    expect(refused.body['errors']).toHaveLength(1);
    const unknown = await restart(client, first, { reason: 'x', version: 4 });
    expect(unknown.body).toMatchObject({ status: 404, code: 'definition_not_found' });
    await client.call('PUT', `/api/definition/${Id}/disable`);
    const disabled = await restart(client, first, { reason: 'x' });
    expect(disabled.body).toMatchObject({ status: 409, code: 'definition_disabled' });
  });

  it('starts a run again once per Idempotency-Key', async () => {
    const { client } = at;
    const id = (await client.run(COUNTING, { n: 1 })).workflowId;
    const first = await restart(client, id, { reason: 'a' }, 'key-1');
    const again = await restart(client, id, { reason: 'a' }, 'key-1');
    expect(again).toMatchObject({ status: 201, text: first.text });
    expect(await actions(client, id)).toHaveLength(1);
    const other = await restart(client, id, { reason: 'b' }, 'key-1');
    expect(other.body).toMatchObject({ status: 409, code: 'idempotency_conflict' });
    const otherKey = await restart(client, id, { reason: 'a' }, 'key-2');
    expect(otherKey.body.workflowId).not.toBe(first.body.workflowId);
  });

  it('rejects an invalid restart request', async () => {
    const { client } = at;
    const { workflowId } = await client.run(COUNTING, { n: 1 });
    const bad: JsonObject[] = [
      {},
      { reason: '' },
      { reason: 'x'.repeat(501) },
      { reason: 1 },
      { reason: ' ' },
      { reason: 'x', versoin: 2 },
      { reason: 'x', version: 0 },
      { reason: 'x', version: '1.5' },
    ];
    for (const body of bad) {
      const { status } = await restart(client, workflowId, body);
      expect(status, JSON.stringify(body)).toBe(400);
    }
    expect(await restart(client, 'nobody', { reason: 'x' })).toMatchObject({ status: 404 });
    expect((await restart(client, workflowId, { reason: 'x'.repeat(500) })).status).toBe(201);
  });

  it('purges an ended run with all its records', async () => {
    const { client, server } = at;
    const { workflowId } = await client.run(COUNTING, { n: 1 });
    const { body, status } = await purge(client, workflowId);
    expect(status).toBe(200);
    expect(body).toMatchObject({ workflowId, outcome: 'Succeeded', data: { n: 2 } });
    for (const path of ['', '/steps', '/input', '/audit', '/explain']) {
      expect((await client.get(`/api/workflow/${workflowId}${path}`)).status, path).toBe(404);
    }
    expect((await purge(client, workflowId)).status).toBe(404);
    const line = server.logLines.find(({ msg }) => msg === 'a run was purged');
    expect(line).toMatchObject({ workflowId, actor: 'anonymous', definitionId: body.definitionId });
    expect((await client.get('/metrics')).text).toMatch(
      /stepwright_workflows_removed_total\{reason="purge"\} [1-9]/,
    );
  });

  it('refuses to purge an open run', async () => {
    const { client } = at;
    const id = await client.defineAndStart(WAITING);
    await client.untilWaiting(id, 'wait');
    const refused = await purge(client, id);
    expect(refused.body).toMatchObject({ status: 409, code: 'action_conflict' });
    expect(await client.control(id, 'suspend')).toMatchObject({ status: 200 });
    expect((await purge(client, id)).status).toBe(409);
    expect((await purge(client, id, 'purge=true&compensate=true')).status).toBe(400);
    expect((await purge(client, id, 'purge=maybe')).status).toBe(400);
    expect(await client.workflow(id)).toMatchObject({ status: 'Suspended' });
    expect((await client.terminate(id)).status).toBe(200);
    expect((await purge(client, id)).status).toBe(200);
  });

  it('purges a run as soon as it has ended, without loss for its parent', async () => {
    const { client } = at;
    const child = await client.define([
      step('go', 'WaitFor', { EventName: "'child-may-end'", EventKey: "'k'" }),
    ]);
    const parent = await client.defineAndStart([
      step('sub', 'SubWorkflow', { DefinitionId: `'${child}'` }),
    ]);
    const { childWorkflowId } = await client.untilWaiting(parent, 'sub');
    await client.untilWaiting(childWorkflowId!, 'go');
    await client.publish('child-may-end', 'k', null);
    await eventually('the child is purged', async () => {
      const { status, text } = await purge(client, childWorkflowId!);
      expect([200, 409], text).toContain(status);
      return status === 200;
    });
    expect(await client.ended(parent)).toMatchObject({ outcome: 'Succeeded' });
  });

  it('removes runs after the Retention of their definition', async () => {
    const { client } = at;
    const Id = fresh('short');
    await client.postDefinition({ Id, Retention: 1, Steps: COUNTING });
    const open = await client.postDefinition({ Id: `${Id}-open`, Retention: 1, Steps: WAITING });
    expect(open.status).toBe(201);
    const [removed, waiting] = [await client.start(Id, { n: 1 }), await client.start(`${Id}-open`)];
    await client.postDefinition({ Id, Steps: COUNTING });
    const kept = (await client.ended(await client.start(Id, { n: 1 }))).workflowId;
    const { endTime } = await client.ended(removed);
    await eventually('the retention is over', () => Date.now() > Date.parse(endTime!) + 1000);
    await at.restart(); // A node removes expired runs when it starts, then once a minute.
    await eventually('the run is removed', async () => {
      return (await at.client.get(`/api/workflow/${removed}`)).status === 404;
    });
    expect(await at.client.workflow(kept)).toMatchObject({ version: 2 });
    expect(await at.client.workflow(waiting)).toMatchObject({ status: 'Runnable' });
    const definition = await at.client.get<JsonObject>(`/api/definition/${Id}?version=1`);
    expect(JSON.stringify(definition.body).toLowerCase()).toContain('"retention":1');
  });

  it('applies the retention of the new version to a moved run, and keeps a reopened one', async () => {
    const { client } = at;
    const [moving, opening] = [fresh('moving'), fresh('opening')];
    const steps = [step('go', 'WaitFor', { EventName: "'go'", EventKey: "'again'" })];
    await client.postDefinition({ Id: moving, Steps: WAITING });
    const moved = await client.start(moving);
    await client.untilWaiting(moved, 'wait');
    await client.postDefinition({ Id: moving, Retention: 1, Steps: WAITING });
    await client.postDefinition({ Id: opening, Retention: 1, Steps: steps });
    const opened = await client.start(opening);
    await client.untilWaiting(opened, 'go');
    await client.publish('go', 'again', null);
    await client.ended(opened);

    const reason = 'test';
    const modify = (id: string, body: JsonObject) =>
      client.post(`/api/workflow/${id}/modify`, { reason, ...body });
    const reopened = await modify(opened, { start: [{ stepId: 'go' }] });
    expect(reopened.status, reopened.text).toBe(200);
    const canceled = await modify(moved, { version: 2, cancel: ['*'] });
    expect(canceled.status, canceled.text).toBe(200);
    const { endTime } = await client.ended(moved);
    await eventually('the retention is over', () => Date.now() > Date.parse(endTime!) + 1000);
    await at.restart();
    await eventually('the moved run is removed', async () => {
      return (await at.client.get(`/api/workflow/${moved}`)).status === 404;
    });
    expect(await at.client.workflow(opened)).toMatchObject({ status: 'Runnable', endTime: null });
  });

  it('exports a run as one document with the data of all other calls', async () => {
    const { client } = at;
    const body = [compute('square', { last: 'context.Item * context.Item' })];
    const each = step(
      'each',
      'Foreach',
      { Collection: 'data.items' },
      { Do: [body], NextStepId: 'end' },
    );
    const items = Array.from({ length: 700 }, (_, n) => n);
    const id = await client.define([
      each,
      step('end', 'WaitFor', { EventName: "'x'", EventKey: "'y'" }),
    ]);
    const big = '12345678901234567890123';
    const input = `{"items":${JSON.stringify(items)},"big":${big}}`;
    const type = 'application/json';
    const path = `/api/workflow/${id}?reference=r&tag=a:b`;
    const started = await client.call<Workflow>('POST', path, { body: input, type });
    const { workflowId } = started.body;
    await client.untilWaiting(workflowId, 'end');
    const note = { body: '{"note":"exported"}', type };
    await client.call('PATCH', `/api/workflow/${workflowId}/tags`, note);
    const { exported, shown } = await eventually('the run rests', async () => {
      const before = await client.workflow(workflowId);
      const answer = await client.get<WorkflowExport>(`/api/workflow/${workflowId}/export`);
      const after = await client.workflow(workflowId);
      const rests = before.lastChangeTime === after.lastChangeTime;
      return rests && { exported: answer, shown: after };
    });
    expect(exported).toMatchObject({ status: 200 });
    expect(exported.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const { data, ...workflow } = shown;
    const definition = await client.get(`/api/definition/${id}?version=1`);
    const audit = await client.get<WorkflowActionList>(`/api/workflow/${workflowId}/audit`);
    expect(exported.body).toEqual({
      workflow,
      definition: definition.body,
      input: JSON.parse(input) as JsonObject,
      data,
      steps: await client.steps(workflowId),
      audit: audit.body.items,
    });
    expect(exported.body.steps.length).toBeGreaterThan(700);
    expect(exported.text.split(big)).toHaveLength(3);
    expect(exported.text).not.toContain('\n');
    expect((await client.get('/api/workflow/nobody/export')).body).toMatchObject({
      status: 404,
      code: 'workflow_not_found',
    });
  });
});

const archives = mkdtempSync(join(tmpdir(), 'stepwright-archives-'));
afterAll(() => rmSync(archives, { recursive: true, force: true }));

async function archivedRuns(): Promise<readonly WorkflowExport[]> {
  const names = readdirSync(archives);
  expect(names.every((name) => /^\d{4}-\d\d-\d\d-.*\.ndjson\.gz$/.test(name))).toBe(true);
  const texts = names.map((name) => gunzipSync(readFileSync(join(archives, name))).toString());
  const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
  return lines.map((line) => JSON.parse(line) as WorkflowExport);
}

everyStore(
  'archived runs',
  (at) => {
    it('stores runs in the archive as they were exported, before retention removes them', async () => {
      const { client } = at;
      const Id = fresh('archived');
      await client.postDefinition({ Id, Retention: 1, Steps: COUNTING });
      const ids: string[] = [];
      for (const n of [1, 2, 3]) ids.push(await client.start(Id, { n }));
      const [first = '', , purged = ''] = ids;
      for (const id of ids) await client.ended(id);
      const exported = await client.get<WorkflowExport>(`/api/workflow/${first}/export`);
      expect((await purge(client, purged)).status).toBe(200);
      const { endTime } = exported.body.workflow;
      await eventually('the retention is over', () => Date.now() > Date.parse(endTime!) + 2000);
      await at.restart();
      await eventually('the runs are removed', async () => {
        const { body } = await at.client.get<{ items: unknown[] }>(
          `/api/workflow?definitionId=${Id}`,
        );
        return body.items.length === 0;
      });
      const found = (await archivedRuns()).filter(({ workflow }) =>
        ids.includes(workflow.workflowId),
      );
      expect(found.map(({ workflow }) => workflow.workflowId).toSorted()).toEqual(
        ids.slice(0, 2).toSorted(),
      );
      expect(found).toContainEqual(exported.body);
      expect((await at.client.get('/metrics')).text).toMatch(
        /stepwright_workflows_archived_total [2-9]/,
      );
    });
  },
  { dialects: 'alternating', environment: { archive_dir: archives } },
);
