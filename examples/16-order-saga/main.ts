/** Processes two orders with two workers. The second order cannot be shipped. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';
import { createPaymentWorker } from './payment-worker.ts';
import { createWarehouseWorker } from './warehouse-worker.ts';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface OrderInput {
  orderId: string;
  amount: number;
  items: string[];
  address: string;
}

/** The data of the run when it has succeeded. */
interface Order extends OrderInput {
  receipt: string;
  shelf: number;
  parcel: string;
}

await client.definitions.register(await read('order.yaml'));

let told: string[] = [];
const tell = (line: string) => told.push(line);
const stop = new AbortController();
const workers = [createPaymentWorker(baseUrl, tell), createWarehouseWorker(baseUrl, tell)];
const running = workers.map((worker) => worker.run({ signal: stop.signal }));

async function order(address: string): Promise<void> {
  told = [];
  const orderId = `order-${Date.now()}`;
  const workflow = await client.workflows.start<Order, OrderInput>(
    'order',
    { orderId, amount: 30, items: ['pen', 'ink'], address },
    { reference: orderId },
  );
  const { outcome, lastError } = await workflow.wait({ timeoutMs: 20_000 });
  console.log(
    `order to ${address}: ${outcome}${lastError === null ? '' : `, ${lastError.message}`}`,
  );
  for (const line of told) console.log(`  ${line}`);
}

try {
  await order('Kiel');
  await order('Atlantis');
} finally {
  stop.abort();
  await Promise.all(running);
}
