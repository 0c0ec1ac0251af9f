/** Lets an activity fail now and then, always, and lets an expression fail; shows what becomes of each workflow. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createClient, type WorkflowHandle } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** What it starts with. */
interface FlakyCallInput {
  /** How often the call fails before it succeeds. */
  failures: number;
  people: number;
}

/** What it has in the end. */
interface FlakyCall extends FlakyCallInput {
  answer: string;
  share: number;
}

await client.definitions.register(await read('flaky-call.yaml'));
let isRepaired = false;
const worker = new Worker({
  baseUrl,
  activities: {
    flaky: ({ failures }: { failures: number }, { attempt }) => {
      if (attempt <= failures && !isRepaired) throw new Error('the line is dead');
      return 'hello';
    },
  },
});
const stop = new AbortController();
const running = worker.run({ signal: stop.signal });

function start(failures: number, people: number) {
  return client.workflows.start<FlakyCall, FlakyCallInput>('flaky-call', { failures, people });
}

/** `wait` waits for the end, and a suspended workflow has not ended. */
async function untilSuspended(workflow: WorkflowHandle<FlakyCall>) {
  for (let look = 0; look < 400; look += 1) {
    const { status, lastError } = await workflow.get();
    if (status === 'Suspended') return lastError;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the workflow was not suspended');
}

try {
  const flaky = await start(2, 4);
  const recovered = await flaky.wait({ timeoutMs: 20_000 });
  console.log(`2 failures, then success: ${recovered.status}`);
  for await (const { stepId, attempt, error } of flaky.steps()) {
    if (stepId !== 'call') continue;
    console.log(
      `  attempt ${attempt} ${error === null ? 'succeeded' : `failed: ${error.message}`}`,
    );
  }
  assert.equal(recovered.data.answer, 'hello');

  const broken = await start(1000, 4);
  const lastError = await untilSuspended(broken);
  console.log(`Failures without end: Suspended after ${lastError?.attempt ?? 0} attempts`);
  isRepaired = true;
  await broken.resume();
  const repaired = await broken.wait({ timeoutMs: 20_000 });
  console.log(`The line was repaired, the workflow resumed: ${repaired.status}`);
  assert.equal(repaired.data.share, 25);

  const lonely = await start(0, 0);
  const refused = await lonely.wait({ timeoutMs: 20_000 });
  console.log(
    `Nobody to share with: ${refused.status}, as ${refused.lastError?.type ?? '?'} was raised`,
  );
  assert.equal(refused.status, 'Terminated');
} finally {
  stop.abort();
  await running;
}
console.log('OK: failures were retried, shown, and dealt with');
