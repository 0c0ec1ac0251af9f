/** Sets up a notification, receives its messages, and forges one. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { createClient } from '@stepwright/sdk';
import { startReceiver } from './receiver.ts';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');
const NAME = 'example-orders';

await client.definitions.register(await read('order.yaml'));

const secret = `whsec_${randomBytes(32).toString('base64')}`;
let refused = 0;
const receiver = await startReceiver(secret, ({ data, type }) => {
  if (type === 'workflow.failed' && refused++ === 0) {
    console.log('the receiver is busy: 503');
    return 503;
  }
  const about = data.reference ? ` ${data.reference}` : '';
  const why = data.lastError ? `: ${data.lastError.message}` : '';
  console.log(`${type}${about}${why}`);
  return 204;
});

/** Waits until all deliveries have arrived. */
async function untilDelivered(): Promise<void> {
  for (;;) {
    const { items } = await client.notifications.deliveries(NAME, { state: 'waiting' }).page();
    if (items.length === 0) return;
    await setTimeout(100);
  }
}

try {
  await client.notifications.put(NAME, {
    url: receiver.url,
    on: ['completed', 'failed'],
    definitionId: 'paid-order',
    where: 'tag.team=sales',
    secret,
    include: 'summary',
  });
  const { lastAnswer } = await client.notifications.test(NAME);
  console.log(`The test was answered with ${lastAnswer?.status ?? 'nothing'}`);

  for (const [reference, amount] of [
    ['order-1', 30],
    ['order-2', 300],
  ] as const) {
    const run = await client.workflows.start('paid-order', { amount }, { reference });
    await run.result({ timeoutMs: 30_000 }).catch(() => undefined);
    await untilDelivered();
  }

  for await (const { attempts, state, type } of client.notifications.deliveries(NAME)) {
    console.log(`${type}: ${state} after ${attempts} attempt${attempts === 1 ? '' : 's'}`);
  }

  const forged = await fetch(receiver.url, {
    method: 'POST',
    body: '{"type":"workflow.completed"}',
  });
  console.log(`A forged message was answered with ${forged.status}`);
} finally {
  await client.notifications.remove(NAME).catch(() => undefined);
  receiver.close();
}
