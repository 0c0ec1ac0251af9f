/** Calls every operation of the API for runs that exist, so that each has something to say about them. */
import { expect } from 'vitest';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { step } from '../../behavior/support/steps.js';
import { OPERATIONS, type Recorder, type Values } from './recorder.js';

export interface Subjects {
  /** Ended and suspended ones, at least 40. */
  readonly runs: readonly string[];
  /** The definition that the webhook `hook` starts, one with the trigger `main`, and an activity that has had work. */
  readonly triggered: string;
  readonly activity: string;
  readonly calleeUrl: string;
  /** The notification `all` has told so many changes. */
  readonly told: () => number;
}

const WHY = { reason: 'because' };
const KEPT_OPEN = 'GET /api/stream';
/** They show one run. */
const OF_RUNS = OPERATIONS.filter((name) => name.startsWith('GET /api/workflow/{id}'));

/** @throws if there are operations that it does not call */
export async function callEveryOperation(client: Recorder, subjects: Subjects): Promise<void> {
  for (const id of subjects.runs) for (const name of OF_RUNS) await client.operation(name, { id });
  const open = await openRun(client, subjects);
  await controls(client, open, subjects.runs);
  await bulkJobs(client, subjects.runs);
  await definitions(client, subjects.triggered);
  await notifications(client, subjects.told);
  await reads(client, open, subjects);
  await removals(client, subjects.runs);
  client.called.add(KEPT_OPEN);
  expect(OPERATIONS.filter((name) => !client.called.has(name))).toEqual([]);
}

const OPEN = 'leaks open';

async function openRun(client: Recorder, { calleeUrl }: Subjects): Promise<string> {
  const call = step('s', 'HttpRequest', {
    BaseUrl: `"${calleeUrl}"`,
    Headers: { '@A': 'secrets.TOKEN' },
  });
  const wait = step('wait', 'WaitFor', { EventName: '"open"', EventKey: '"k"' });
  const Steps = [{ ...call, NextStepId: 'wait' }, wait];
  await client.operation('POST /api/definition', {}, { body: { Id: OPEN, Steps } });
  const wrong = step('s', 'HttpRequest', { BaseUrl: 'secrets.NOWHERE + secrets.TOKEN' });
  const body = { Id: 'x', Steps: [wrong] };
  await client.operation('POST /api/definition/validate', {}, { body });
  const started = await client.operation<{ workflowId: string }>(
    'POST /api/workflow/{id}',
    { id: OPEN },
    { body: {}, query: '?reference=r&wait=1' },
  );
  const { workflowId } = started.body;
  await client.untilWaiting(workflowId, 'wait');
  return workflowId;
}

async function controls(client: Recorder, id: string, runs: readonly string[]): Promise<void> {
  const [first, second, third = ''] = runs;
  for (const name of ['suspend', 'resume', 'retry']) {
    await client.operation(`PUT /api/workflow/{id}/${name}`, { id });
  }
  await client.operation('PATCH /api/workflow/{id}/tags', { id }, { body: { a: 'b' } });
  await client.operation('PUT /api/workflow/{id}/priority', { id }, { body: { priority: 1 } });
  const several = { action: 'resume', workflowIds: [id, first, second] };
  await client.operation('PATCH /api/workflow', {}, { body: several });
  for (const dryRun of [true, false]) {
    const body = { ...WHY, data: { x: 1 }, dryRun };
    await client.operation('POST /api/workflow/{id}/modify', { id }, { body });
  }
  await client.operation('POST /api/workflow/{id}/rerun', { id }, { body: { ...WHY, from: 's' } });
  await client.operation('POST /api/workflow/{id}/restart', { id: third }, { body: WHY });
}

async function bulkJobs(client: Recorder, runs: readonly string[]): Promise<void> {
  for (const action of ['restart', 'retry', 'resume', 'terminate']) {
    const bulk = { action, workflowIds: runs.slice(0, 40), ...WHY };
    const tried = await client.operation('POST /api/bulk', {}, { body: { ...bulk, dryRun: true } });
    expect(tried.status, tried.text).toBeLessThan(300);
    const body = { ...bulk, perSecond: 1000 };
    const { body: job } = await client.operation<{ id: string }>('POST /api/bulk', {}, { body });
    await eventually('the job ends', async () => {
      const found = await client.operation<{ state: string }>('GET /api/bulk/{id}', job);
      return found.body.state === 'Done';
    });
    await client.operation('GET /api/bulk/{id}/runs', job);
    await client.operation('DELETE /api/bulk/{id}', job);
  }
}

async function definitions(client: Recorder, triggered: string): Promise<void> {
  for (const name of ['disable', 'enable']) {
    await client.operation(`PUT /api/definition/{id}/${name}`, { id: OPEN });
  }
  const trigger = { id: triggered, name: 'main' };
  const path = '/api/definition/{id}/triggers/{name}';
  for (const name of ['pause', 'resume']) await client.operation(`PUT ${path}/${name}`, trigger);
  await client.operation(`POST ${path}/fire`, trigger);
  const period = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
  await client.operation(`POST ${path}/backfill`, trigger, { body: period });
  await client.operation('POST /api/step/{id}', { id: 'plain' }, { body: 'a = 1\n' });
  await client.operation('POST /hooks/{name}', { name: 'hook' }, { body: { a: 1 } });
  const key = { name: 'k', scopes: ['conductor:viewer'] };
  const created = await client.operation<{ id: string }>('POST /api/key', {}, { body: key });
  await client.operation('GET /api/key');
  await client.operation('DELETE /api/key/{id}', { id: created.body.id });
}

async function notifications(client: Recorder, told: () => number): Promise<void> {
  const values = { name: 'all' };
  const path = '/api/notification/{name}';
  for (const name of ['pause', 'resume']) await client.operation(`PUT ${path}/${name}`, values);
  await client.operation(`POST ${path}/test`, values);
  await eventually('the notifications were told', () => told() > 50);
  const deliveries = await client.operation<{ items: readonly { id: string }[] }>(
    `GET ${path}/deliveries`,
    values,
  );
  const id = deliveries.body.items[0]?.id ?? '';
  await client.operation(`POST ${path}/deliveries/{id}/redeliver`, { ...values, id });
}

/** All others that read. */
async function reads(client: Recorder, id: string, subjects: Subjects): Promise<void> {
  const event = { name: 'other', key: 'k' };
  const published = await client.operation<{ id: string }>('POST /api/event/{name}/{key}', event, {
    body: {},
  });
  const queries: Values = {
    'GET /api/workflow/explain': `?id=${subjects.runs.slice(0, 40).join('&id=')}`,
    'GET /api/workflow/find': '?text=leaks',
    'GET /api/workflow': '?limit=500',
    'GET /api/audit': '?limit=500',
    'GET /api/event': '?name=other&key=k',
  };
  const valuesByPath: readonly (readonly [string, Values])[] = [
    ['/api/event/{id}', { id: published.body.id }],
    ['/api/step', { id: 'plain' }],
    ['/api/notification', { name: 'all' }],
    ['/api/webhook', { name: 'hook' }],
    ['/api/limit', { name: 'slots' }],
    ['/api/activity', { id: subjects.activity }],
    ['/api/workflow', { id }],
  ];
  const others = OPERATIONS.filter((name) => name.startsWith('GET') && !client.called.has(name));
  for (const name of others.filter((each) => each !== KEPT_OPEN)) {
    const [, path = ''] = name.split(' ');
    const values = valuesByPath.find(([start]) => path.startsWith(start))?.[1];
    const query = queries[name] ?? '';
    const answer = await client.operation(name, values ?? { ...event, id: OPEN }, { query });
    expect(answer.status, `${name} ${answer.text}`).toBeLessThan(300);
  }
}

async function removals(client: Recorder, runs: readonly string[]): Promise<void> {
  await client.operation('DELETE /api/webhook/{name}', { name: 'hook' });
  await client.operation('DELETE /api/limit/{name}', { name: 'slots' });
  await client.operation('DELETE /api/notification/{name}', { name: 'all' });
  const id = runs[2] ?? '';
  await client.operation('DELETE /api/workflow/{id}', { id }, { query: '?purge=true' });
}
