/** Shows three failures: an activity that fails sometimes, one that always fails, and an expression that fails. */
import { readFile } from 'node:fs/promises';
import { createClient, type WorkflowHandle } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface FlakyCallInput {
  /** How many attempts fail before one succeeds. */
  failures: number;
  people: number;
}

/** The data of the run when it has succeeded. */
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

/** Needed because `wait` waits for the end of a run, and a suspended run has not ended. */
async function untilSuspended(workflow: WorkflowHandle<FlakyCall>): Promise<void> {
  for await (const change of client.stream({ workflowId: workflow.id })) {
    if (change.type === 'workflow' && change.workflow.status === 'Suspended') return;
  }
}

try {
  const flaky = await start(2, 4);
  const recovered = await flaky.wait({ timeoutMs: 20_000 });
  console.log(`2 failures, then success: ${recovered.outcome}`);
  for await (const { attempt, error } of flaky.steps({ stepId: 'call' })) {
    console.log(
      `  attempt ${attempt} ${error === null ? 'succeeded' : `failed: ${error.message}`}`,
    );
  }

  const broken = await start(1000, 4);
  await untilSuspended(broken);
  const { lastError } = await broken.get();
  console.log(`Endless failures: Suspended after ${lastError?.attempt ?? 0} attempts`);
  isRepaired = true;
  await broken.resume();
  const repaired = await broken.wait({ timeoutMs: 20_000 });
  console.log(`After the repair, the resumed run ended: ${repaired.outcome}`);

  const lonely = await start(0, 0);
  const refused = await lonely.wait({ timeoutMs: 20_000 });
  console.log(
    `Nobody to share with: ${refused.outcome}, as ${refused.lastError?.type ?? '?'} was raised`,
  );
} finally {
  stop.abort();
  await running;
}
