/** Sends two orders through two workers; the second one cannot be shipped. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';
import { createPaymentWorker } from './payment-worker.ts';
import { createWarehouseWorker } from './warehouse-worker.ts';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** What it starts with. */
interface OrderInput {
  orderId: string;
  amount: number;
  items: string[];
  address: string;
}

/** What it has in the end. */
interface Order extends OrderInput {
  outcome: string;
}

await client.definitions.register(await read('order.yaml'));

let told: string[] = [];
const tell = (line: string) => told.push(line);
const stop = new AbortController();
const workers = [createPaymentWorker(baseUrl, tell), createWarehouseWorker(baseUrl, tell)];
const running = workers.map((worker) => worker.run({ signal: stop.signal }));

async function order(address: string): Promise<string[]> {
  told = [];
  const orderId = `order-${Date.now()}`;
  const workflow = await client.workflows.start<Order, OrderInput>(
    'order',
    { orderId, amount: 30, items: ['pen', 'ink'], address },
    { reference: orderId },
  );
  const { data } = await workflow.wait({ timeoutMs: 20_000 });
  console.log(`order to ${address}: ${data.outcome}`);
  for (const line of told) console.log(`  ${line}`);
  return told;
}

try {
  const shipped = await order('Kiel');
  assert.equal(shipped.at(-1), 'warehouse: shipped to Kiel');

  const undone = await order('Atlantis');
  assert.deepEqual(undone.slice(-2), [
    'warehouse: put back from shelf 7',
    'payment: refunded r-30',
  ]);
} finally {
  stop.abort();
  await Promise.all(running);
}
console.log('OK: an order that could not be shipped was put back and refunded');
