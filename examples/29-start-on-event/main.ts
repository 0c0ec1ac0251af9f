/** Stores a definition that starts on an event, and publishes payments: one of them twice. */
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { createClient, type WorkflowSummary } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const definition = await readFile(new URL('receipt.yaml', import.meta.url), 'utf8');

interface Receipt {
  receipt: string;
}

await client.definitions.register(definition);

// A shop that is not sure whether its first call arrived repeats it, with the same idempotency key.
for (const [order, amount] of [
  ['4711', 30],
  ['4712', 45],
  ['4711', 30],
] as const) {
  const idempotencyKey = `payment of ${order}`;
  await client.events.publish('payment.received', order, { amount }, { idempotencyKey });
  console.log(`Published: payment of order ${order}`);
}

/** The run of an order's receipt, which an event has started. */
async function startedFor(order: string): Promise<WorkflowSummary> {
  for (;;) {
    const { items } = await client.workflows.list({ reference: `receipt-${order}` }).page();
    if (items[0] !== undefined) return items[0];
    await setTimeout(50);
  }
}

for (const order of ['4711', '4712']) {
  const { trigger, workflowId } = await startedFor(order);
  const { receipt } = await client.workflows.handle<Receipt>(workflowId).result();
  console.log(`${receipt} (started by ${trigger?.name})`);
}

const { items } = await client.workflows.list({ definitionId: 'send-receipt' }).page();
console.log(`Runs: ${items.length}`);
