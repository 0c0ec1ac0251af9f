/** Bulk jobs through the client with a real server. */
import { expect, it, onTestFinished } from 'vitest';
import { isApiError } from '../src/index.js';
import { startServer } from './support/started-server.js';

const RUNNING_JOBS_MAX = 20;

it('fails at once in client.bulk.create while too many jobs are running', async () => {
  const { client, server } = await startServer();
  onTestFinished(() => server.remove());
  // Such a job takes minutes.
  const workflowIds = Array.from({ length: 50 }, (_, n) => `unknown-${n}`);
  const slow = { action: 'suspend', workflowIds, reason: 'a test', perSecond: 0.1 } as const;
  const ids: string[] = [];
  while (ids.length < RUNNING_JOBS_MAX) ids.push((await client.bulk.create(slow)).id);

  const error: unknown = await client.bulk.create(slow).catch((reason: unknown) => reason);
  if (!isApiError(error, 'too_many_bulk_jobs')) throw error;
  expect([error.status, error.attempts, error.retryAfterMs]).toEqual([409, 1, null]);
  expect(error.message).toContain('stop one');

  await client.bulk.stop(ids[0]!);
  expect((await client.bulk.create(slow)).matched).toBe(50);
});
