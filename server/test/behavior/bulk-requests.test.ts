/** What a request for a bulk job may contain. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BulkPreview } from '../../src/api/wire/models/bulk.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import {
  bulkDone,
  createBulk,
  postBulk,
  previewBulk,
  REASON,
  startWaiting,
} from './support/bulk.js';
import { Client, fresh } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';

const LONG = 'x'.repeat(501);
const suspend = { action: 'suspend', reason: REASON };
const named = { ...suspend, workflowIds: ['a'] };

/** Bodies, each with a part of the message that the response must have. */
const INVALID: readonly (readonly [unknown, string])[] = [
  ['', 'empty'],
  ['[]', 'object'],
  ['{"action":', 'JSON'],
  ['null', 'object'],
  [{ ...named, action: 'destroy' }, 'action'],
  [{ workflowIds: ['a'], reason: REASON }, 'action'],
  [{ action: 'suspend', workflowIds: ['a'] }, 'reason'],
  [{ ...named, reason: '' }, 'reason must not be empty'],
  [{ ...named, reason: ' \n' }, 'reason must not be blank'],
  [{ ...named, reason: LONG }, 'reason must have at most 500 characters'],
  [{ ...named, reason: 7 }, 'reason'],
  [suspend, 'exactly one of filter and workflowIds'],
  [{ ...named, filter: {} }, 'exactly one of filter and workflowIds'],
  [{ ...suspend, workflowIds: [] }, 'must name at least one run'],
  [{ ...suspend, workflowIds: 'a' }, 'workflowIds'],
  [{ ...suspend, workflowIds: [''] }, 'empty id'],
  [{ ...suspend, workflowIds: ['\u0000'] }, 'workflow id'],
  [{ ...suspend, workflowIds: [7] }, 'workflowIds'],
  [{ ...suspend, filter: [] }, 'filter'],
  [{ ...suspend, filter: { statuss: 'Suspended' } }, 'Did you mean'],
  [{ ...suspend, filter: { status: 'Asleep' } }, 'status'],
  [{ ...suspend, filter: { version: 0 } }, 'at least 1'],
  [{ ...suspend, filter: { where: 'a=1' } }, 'where'],
  [{ ...suspend, filter: { where: ['a'] } }, 'has no operator'],
  [{ ...suspend, filter: { startedFrom: 'yesterday' } }, 'startedFrom'],
  [
    { ...suspend, filter: { failedFrom: '2026-01-01', unchangedSince: '2026-01-01' } },
    'give only one',
  ],
  [{ ...suspend, filter: { limit: 5 } }, 'Unknown member "limit" of filter'],
  [{ ...named, dryRunn: true }, 'dryRun'],
  [{ ...named, dryRun: 'yes' }, 'dryRun'],
  [{ ...named, perSecond: 0 }, 'at least 0.1'],
  [{ ...named, perSecond: 1001 }, 'at most 1000'],
  [{ ...named, perSecond: '5' }, 'perSecond'],
  [{ ...named, modification: { data: {} } }, 'only to the action modify'],
  [{ ...named, compensate: true }, 'only to the action terminate'],
  [{ ...named, action: 'terminate', compensate: 1 }, 'compensate'],
  [{ ...named, action: 'modify' }, 'modification is missing'],
  [{ ...named, action: 'modify', modification: 7 }, 'modification'],
  [{ ...named, action: 'modify', modification: {} }, 'changes nothing'],
  [
    { ...named, action: 'modify', modification: { reason: 'x', resume: true } },
    'Unknown member "reason" of modification',
  ],
  [
    { ...named, action: 'modify', modification: { dryRun: true } },
    'Unknown member "dryRun" of modification',
  ],
  [{ ...named, action: 'modify', modification: { start: [{}] } }, 'stepId'],
  [
    { ...named, action: 'modify', modification: { data: { text: 'x'.repeat(100_000) } } },
    'longer than 100000',
  ],
];

describe('a request for a bulk job', () => {
  let server: TestServer;
  let client: Client;
  beforeAll(async () => {
    server = await startServer({ store: createMemoryStore() });
    client = new Client(server.url);
  });
  afterAll(() => server.stop());

  it.each(INVALID)('is refused: %j', async (body, message) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await postBulk<{ detail: string }>(client, text);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining(message)]);
    expect((await client.get<{ items: unknown[] }>('/api/bulk')).body.items).toEqual([]);
  });

  it('is refused if it names more than 10,000 runs', async () => {
    const workflowIds = Array.from({ length: 10_001 }, (_, n) => `${n}`);
    const answer = await postBulk<{ detail: string }>(client, { ...suspend, workflowIds } as never);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toBe('body.workflowIds must name at most 10000 runs');
  });

  it('is refused if its parameters or its media type are unknown', async () => {
    const typo = await client.call('POST', '/api/bulk?dryRun=true', {
      body: JSON.stringify(named),
      type: 'application/json',
    });
    expect(typo.status).toBe(400);
    const body = JSON.stringify(named);
    expect((await client.call('POST', '/api/bulk', { body, type: 'text/plain' })).status).toBe(415);
    for (const limit of ['0', '101', 'x']) {
      expect((await client.get(`/api/bulk?limit=${limit}`)).status, limit).toBe(400);
    }
    expect((await client.get('/api/bulk?cursor=x')).status).toBe(400);
  });

  it("shows in a dry run which of the first runs can't be modified, and why", async () => {
    const { ids } = await startWaiting(client, 2);
    const preview = (modification: object, workflowIds = ids) =>
      postBulk<BulkPreview>(
        client,
        JSON.stringify({ action: 'modify', workflowIds, reason: 'r', modification, dryRun: true }),
      );
    const impossible = await preview({ start: [{ stepId: 'nowhere' }] }, [ids[0]!, 'unknown']);
    expect(impossible.status).toBe(200);
    expect(impossible.body).toMatchObject({
      matched: 2,
      workflows: [{ workflowId: ids[0] }],
      obstacles: [
        {
          workflowId: ids[0],
          problem: {
            code: 'modification_impossible',
            errors: [{ code: 'unknown_step', pointer: '/start/0/stepId' }],
          },
        },
      ],
    });
    expect((await preview({ data: { x: 1 } })).body.obstacles).toEqual([]);
    const { data } = await client.workflow(ids[0]!);
    expect(data).not.toHaveProperty('x');
  });

  it('is accepted as YAML', async () => {
    const { ids } = await startWaiting(client, 1);
    const body = `action: suspend\nreason: by YAML\nworkflowIds: [${ids[0]!}]\n`;
    const answer = await client.call('POST', '/api/bulk', { body, type: 'application/yaml' });
    expect(answer.status, answer.text).toBe(202);
    const { id } = answer.body as { id: string };
    expect(await bulkDone(client, id)).toMatchObject({ done: 1, reason: 'by YAML' });
  });

  it('accepts 10,000 runs and a reason of 500 characters', async () => {
    const workflowIds = Array.from({ length: 10_000 }, (_, n) => `unknown-${n}`);
    const reason = 'é'.repeat(500);
    const answer = await postBulk(client, JSON.stringify({ ...suspend, reason, workflowIds }));
    expect([answer.status, answer.body.matched]).toEqual([202, 10_000]);
    const stopped = await client.call('DELETE', `/api/bulk/${answer.body.id}`);
    expect(stopped.body).toMatchObject({ state: 'Stopped', reason });
  });

  it('is refused while too many jobs are running', async () => {
    const { definitionId } = await startWaiting(client, 6);
    const slow = { action: 'suspend', filter: { definitionId }, perSecond: 0.1 } as const;
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await createBulk(client, slow));
    const refused = await postBulk<{ code: string; detail: string }>(client, slow);
    expect([refused.status, refused.body.code]).toEqual([409, 'too_many_bulk_jobs']);
    expect(refused.headers.get('retry-after')).toBeNull();
    expect(refused.body.detail).toContain('20 bulk jobs are running');
    // A preview creates none.
    expect((await previewBulk(client, slow)).matched).toBe(6);
    for (const id of ids) await client.call('DELETE', `/api/bulk/${id}`);
    const filter = { definitionId: fresh('unused') };
    await bulkDone(client, await createBulk(client, { action: 'suspend', filter }));
  });

  it('counts its outcomes in the metrics', async () => {
    const { ids } = await startWaiting(client, 2);
    await client.control(ids[0]!, 'suspend');
    const workflowIds = [...ids, 'unknown'];
    await bulkDone(client, await createBulk(client, { action: 'resume', workflowIds }));
    const { text } = await client.get('/metrics');
    for (const outcome of ['done', 'skipped', 'failed']) {
      const labels = `action="resume",outcome="${outcome}"`;
      expect(text).toContain(`stepwright_bulk_actions_total{${labels}} 1`);
    }
    await expect
      .poll(async () => (await client.get('/metrics')).text)
      .toContain('stepwright_bulk_jobs_running 0');
  });
});
