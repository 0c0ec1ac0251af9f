/** Starts the nightly job unless it runs already, works for three nights, and ends it. */
import { readFile } from 'node:fs/promises';
import { createClient, type WorkflowHandle } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** What it starts with: nothing in production, where it runs at two o'clock every night. */
interface Schedule {
  /** Seconds until the first run. */
  firstRunAfter?: number;
  /** Seconds from one run to the next. */
  interval?: number;
}

interface NightlyCleanUp extends Schedule {
  nights?: number;
  removed?: number;
}

const NIGHTS = 3;

/**
 * What every deployment of an application calls when it starts: the job is started unless it runs already.
 *
 * Deployments that start together all see that it does not run. They give their starts the same idempotency key, so that the
 * server starts one job. The key names the run before, because a key that was used once stands for that run for good.
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
console.log(`Deployments that asked for the job: ${jobs.length}, jobs that run: ${ids.size}`);

const stop = new AbortController();
let nights = 0;
const worker = new Worker({
  baseUrl,
  activities: {
    'clean-up': ({ olderThanDays }: { olderThanDays: number }) => {
      console.log(`Worker: removed 3 files older than ${olderThanDays} days`);
      nights += 1;
      // It still reports this night, and takes no other.
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
