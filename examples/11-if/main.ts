/** Buys for much and for little. */
import assert from 'node:assert/strict';
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
  discount: string;
  message: string;
}

await client.definitions.register(await read('discount.yaml'));

async function buyFor(total: number): Promise<Discount> {
  const purchase = await client.workflows.start<Discount, DiscountInput>('discount', { total });
  const { data } = await purchase.wait({ timeoutMs: 20_000 });
  console.log(`${total} EUR: ${data.message}`);
  return data;
}

const large = await buyFor(250);
assert.equal(large.total, 225);
assert.equal(large.discount, '10 %');

const small = await buyFor(40);
assert.equal(small.total, 40);
assert.ok(!('discount' in small));
console.log('OK: what stands in the If ran once, what follows it twice');
