/** Starts the nightly job unless it is already running, does its work for three nights, and terminates it. */
import { readFile } from 'node:fs/promises';
import { createClient, type WorkflowHandle } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data: empty in production, where the job runs at two o'clock every night. */
interface Schedule {
  /** Seconds until the first night. */
  firstRunAfter?: number;
  /** Seconds from one night to the next. */
  interval?: number;
}

interface NightlyCleanUp extends Schedule {
  nights?: number;
  removed?: number;
}

const NIGHTS = 3;

/**
 * Every deployment of an application calls this when it starts. It starts the job unless the job is already running.
 *
 * Deployments that start at the same time all see that the job is not running. They use the same idempotency key, so that the
 * server starts only one job. The key contains the id of the previous run, because a used key always refers to its first run.
 */
async function ensureJob(schedule: Schedule): Promise<WorkflowHandle<NightlyCleanUp>> {
  const definitionId = 'nightly-clean-up';
  const { items } = await client.workflows.list({ definitionId, limit: 1 }).page();
  const newest = items[0];
  if (newest !== undefined && newest.endTime === null) {
    return client.workflows.handle<NightlyCleanUp>(newest.workflowId);
  }
  return client.workflows.start<NightlyCleanUp, Schedule>(definitionId, schedule, {
    idempotencyKey: `${definitionId} after ${newest?.workflowId ?? 'none'}`,
  });
}

await client.definitions.register(await read('nightly-clean-up.yaml'));
const schedule = { firstRunAfter: 0, interval: 0.5 };
const jobs = await Promise.all([1, 2, 3].map(() => ensureJob(schedule)));
const ids = new Set(jobs.map(({ id }) => id));
console.log(`Deployments that requested the job: ${jobs.length}, running jobs: ${ids.size}`);

const stop = new AbortController();
let nights = 0;
const worker = new Worker({
  baseUrl,
  activities: {
    'clean-up': ({ olderThanDays }: { olderThanDays: number }) => {
      console.log(`Worker: removed 3 files older than ${olderThanDays} days`);
      nights += 1;
      // The worker still reports this night, and claims no further work.
      if (nights === NIGHTS) stop.abort();
      return { removed: 3 };
    },
  },
});
await worker.run({ signal: stop.signal });

for (const id of ids) {
  const { status } = await client.workflows.terminate(id);
  console.log(`After ${nights} nights the job is ${status}`);
}
