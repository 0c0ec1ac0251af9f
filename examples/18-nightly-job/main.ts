/** Stores a job with a cron trigger, and backfills three nights from before the server existed. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');
const JOB = 'nightly-clean-up';

interface Night {
  night: string;
  removed?: number;
}

await client.definitions.register(await read(`${JOB}.yaml`));
const [nightly] = await client.triggers.list(JOB);
console.log(`The trigger ${nightly?.name} fires at ${nightly?.cron} in ${nightly?.timeZone}`);

// Each planned time starts only one run, no matter how often this is repeated.
const nights = await client.triggers.backfill(JOB, 'nightly', {
  from: '2026-01-01T00:00:00Z',
  to: '2026-01-04T00:00:00Z',
});
console.log(`Nights to make up for: ${nights.length}`);

const stop = new AbortController();
let done = 0;
const worker = new Worker({
  baseUrl,
  activities: {
    'clean-up': ({ night }: { night: string }) => {
      console.log(`Worker: removed 3 files of ${night}`);
      done += 1;
      // The worker still reports this night, and claims no further work.
      if (done === nights.length) stop.abort();
      return { removed: 3 };
    },
  },
});
await worker.run({ signal: stop.signal });

const { items } = await client.workflows.list({ reference: 'clean-up-2026-01-03' }).page();
const last = await client.workflows.handle<Night>(items[0]?.workflowId ?? '').wait();
console.log(`The night of ${last.trigger?.time} is ${last.status}`);
