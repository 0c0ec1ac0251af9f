/** Starts several runs for each customer at once. Those of one customer run one after another, in the order of their starts. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';

interface Change {
  customer: string;
  change: string;
}

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const { definitions, workflows } = createClient({ baseUrl });
await definitions.register(await readFile(new URL('sync.yaml', import.meta.url), 'utf8'));

const now = Date.now();
const start = async (name: string, change: string) => {
  const customer = `${name}-${now}`;
  const run = await workflows.start<Change, Change>('sync-customer', { customer, change });
  const { queued } = await run.get();
  console.log(`${name}, ${change}: ${queued ? 'queued' : 'started'}`);
  return run;
};
const first = await start('Ada', 'address');
const second = await start('Ada', 'name');
const other = await start('Bob', 'address');
const last = await start('Ada', 'address again');

const [reason] = (await last.explain()).reasons;
const holders = reason?.holders ?? [];
console.log(`the last one waits for ${holders.length} runs`);
console.log(`the first of them is the first of Ada: ${holders[0] === first.id}`);

const sent: Change[] = [];
const worker = new Worker({
  baseUrl,
  activities: {
    'send-change': (change) => {
      sent.push(change as Change);
      return { sent: true };
    },
  },
});
const stop = new AbortController();
const running = worker.run({ signal: stop.signal });
try {
  for (const run of [first, second, other, last]) await run.result({ timeoutMs: 20_000 });
} finally {
  stop.abort();
  await running;
}
const ofAda = sent.filter(({ customer }) => customer === `Ada-${now}`).map(({ change }) => change);
console.log(`sent for Ada: ${ofAda.join(', then ')}`);
