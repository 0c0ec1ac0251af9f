/** Starts orders and gets the result in the same call, with at most one open run per order. */
import { readFile } from 'node:fs/promises';
import { createClient, isApiError } from '@stepwright/sdk';

interface Input {
  order: string;
  lines: { price: number; count: number }[];
}
interface Order extends Input {
  total: number;
  paid?: boolean;
}

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const { workflows } = client;
await client.definitions.register(await readFile(new URL('order.yaml', import.meta.url), 'utf8'));

// One request: the response to the start has the result.
const free = { order: `free-${Date.now()}`, lines: [{ price: 0, count: 2 }] };
const { data, outcome } = await workflows.run<Order, Input>('single-order', free, {
  timeoutMs: 20_000,
});
console.log(`a free order: ${outcome}, total ${data.total}`);

const order = `order-${Date.now()}`;
const sent = { order, lines: [{ price: 5, count: 3 }] };
const open = await workflows.start<Order, Input>('single-order', sent, { reference: order });
try {
  await workflows.start('single-order', sent, { reference: order, onConflict: 'fail' });
} catch (error) {
  if (!isApiError(error, 'reference_in_use')) throw error;
  console.log(`a second start is refused: ${error.problem['workflowId'] === open.id}`);
}

const joined = await workflows.start<Order, Input>('single-order', sent, {
  reference: order,
  onConflict: 'existing',
});
console.log(`a third start joins the open run: ${joined.id === open.id}`);

await client.events.publish('paid', order, null);
const ended = await joined.result({ timeoutMs: 20_000 });
console.log(`the order of ${ended.total} is paid: ${ended.paid}`);
console.log(`it was started with: ${Object.keys(await workflows.input(open.id)).join(', ')}`);
