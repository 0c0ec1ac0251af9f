/** Starts the nightly job unless it runs already, works for three nights, and ends it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createClient, type WorkflowHandle } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

interface NightlyCleanUp {
  /** Seconds. Left out in real life: then it is the next night. */
  firstRunAfter: number;
  interval: number;
  nights?: number;
  removed: number;
}

const NIGHTS = 3;

/** What an application calls when it starts: the job is started where it does not run yet. */
async function ensureJob(): Promise<WorkflowHandle<NightlyCleanUp>> {
  const { items } = await client.workflows
    .list({ definitionId: 'nightly-clean-up', status: 'Runnable' })
    .page();
  const job = items[0];
  if (job !== undefined) {
    console.log('It runs already: no second one');
    return client.workflows.handle<NightlyCleanUp>(job.workflowId);
  }
  console.log('Started the job');
  return client.workflows.start<NightlyCleanUp>('nightly-clean-up', {
    firstRunAfter: 0,
    interval: 0.5,
  });
}

await client.definitions.register(await read('nightly-clean-up.yaml'));
const job = await ensureJob();
assert.equal((await ensureJob()).id, job.id);

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

// A report is answered when it is stored; a moment later the workflow has read it.
while (((await job.get()).data.nights ?? 0) < NIGHTS) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
const { status, data } = await job.terminate();
console.log(`After ${data.nights ?? 0} nights ${data.removed} files are gone`);
assert.equal(status, 'Terminated');
assert.equal(data.removed, 3 * (data.nights ?? 0));
console.log('OK: the job ran night after night until it was terminated');
