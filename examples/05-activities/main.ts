/** Starts runs and, in the same process, the worker that they wait for. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';
import { activities } from './activities.ts';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

interface Addends {
  left: number;
  right: number;
}

await client.definitions.register(await read('add-up.yaml'));

// The run starts before the worker does: its work item waits.
const first = await client.workflows.start<{ sum: number }, Addends>('add-up', {
  left: 2,
  right: 3,
});

const worker = new Worker({
  baseUrl,
  declaredActivities: activities,
  activities: {
    'add-numbers': ({ left, right, unit }) => {
      console.log(`Worker: ${left} + ${right} ${unit}`);
      return { sum: left + right };
    },
  },
});
// In a program that only runs a worker: `stopOnSignals(worker); await worker.run();`
const stop = new AbortController();
const running = worker.run({ signal: stop.signal });

try {
  const one = await first.result({ timeoutMs: 20_000 });
  const second = await client.workflows.start<{ sum: number }, Addends>('add-up', {
    left: 20,
    right: 22,
  });
  const two = await second.result({ timeoutMs: 20_000 });
  console.log(`Results: ${one.sum} and ${two.sum}`);
} finally {
  stop.abort();
  await running;
}
