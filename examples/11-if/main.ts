/** Buys for much and for little. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** What it starts with. */
interface DiscountInput {
  total: number;
}

/** What it has in the end. */
interface Discount extends DiscountInput {
  /** Only where there was one. */
  discount?: string;
  message: string;
}

await client.definitions.register(await read('discount.yaml'));

async function buyFor(total: number): Promise<void> {
  const purchase = await client.workflows.start<Discount, DiscountInput>('discount', { total });
  const { message } = await purchase.result({ timeoutMs: 20_000 });
  console.log(`${total} EUR: ${message}`);
}

await buyFor(250);
await buyFor(40);
