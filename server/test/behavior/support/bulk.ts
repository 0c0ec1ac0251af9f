/** Bulk jobs as a client uses them. */
import { expect } from 'vitest';
import type {
  BulkJob,
  BulkPreview,
  BulkRequest,
  CreatedBulkJob,
} from '../../../src/api/wire/models/bulk.js';
import type { WorkflowActionList } from '../../../src/api/wire/models/control.js';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { fresh, type Answer, type Client } from './client.js';
import { step } from './steps.js';

type Body = Partial<BulkRequest>;

export const REASON = 'the carrier is back';

export function postBulk<Result = CreatedBulkJob>(
  client: Client,
  body: Body | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<Result>> {
  return client.call('POST', '/api/bulk', {
    body: typeof body === 'string' ? body : JSON.stringify({ reason: REASON, ...body }),
    type: 'application/json',
    headers,
  });
}

/** The id of the job. */
export async function createBulk(client: Client, body: Body): Promise<string> {
  const answer = await postBulk(client, body);
  expect(answer.status, answer.text).toBe(202);
  return answer.body.id;
}

export async function previewBulk(client: Client, body: Body): Promise<BulkPreview> {
  const answer = await postBulk<BulkPreview>(client, { ...body, dryRun: true });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

export async function bulkJob(client: Client, id: string): Promise<BulkJob> {
  const answer = await client.get<BulkJob>(`/api/bulk/${id}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

export function untilBulk(
  client: Client,
  id: string,
  holds: (job: BulkJob) => boolean,
): Promise<BulkJob> {
  let seen: BulkJob | undefined;
  const what = (): string => `the bulk job changes; last seen: ${JSON.stringify(seen)}`;
  return eventually(what, async () => holds((seen = await bulkJob(client, id))) && seen);
}

/** The job once it has ended by itself. */
export async function bulkDone(client: Client, id: string): Promise<BulkJob> {
  const job = await untilBulk(client, id, ({ state }) => state !== 'Running');
  expect(job.state).toBe('Done');
  expect(job.done + job.skipped + job.failed).toBe(job.matched);
  return job;
}

/** Runs that wait for a worker, of one new definition. */
export async function startWaiting(
  client: Client,
  count: number,
): Promise<{ readonly definitionId: string; readonly ids: readonly string[] }> {
  const ActivityName = JSON.stringify(fresh('nobody'));
  const definitionId = await client.define([step('wait', 'Activity', { ActivityName })]);
  const ids: string[] = [];
  while (ids.length < count) {
    const batch = Array.from({ length: Math.min(20, count - ids.length) }, () =>
      client.start(definitionId),
    );
    ids.push(...(await Promise.all(batch)));
  }
  return { definitionId, ids };
}

/** The actions of bulk jobs on a run, as `action detail`. */
export async function bulkActionsOn(client: Client, id: string): Promise<readonly string[]> {
  const { body } = await client.get<WorkflowActionList>(`/api/workflow/${id}/audit`);
  return body.items
    .filter(({ detail }) => detail?.includes('bulk job ') === true)
    .map(({ action, detail }) => `${action} ${detail ?? ''}`);
}
