/** Makes one large purchase and one small one. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface DiscountInput {
  total: number;
}

/** The data of the run when it has succeeded. */
interface Discount extends DiscountInput {
  /** Undefined if there was none. */
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
