/** Sends three orders through the same decision. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface ShippingInput {
  weight: number;
  value: number;
}

/** The data of the run when it has succeeded. */
interface Shipping extends ShippingInput {
  carrier: string;
  insured: boolean;
}

await client.definitions.register(await read('shipping.yaml'));

async function choose(weight: number, value: number): Promise<void> {
  const shipping = await client.workflows.start<Shipping, ShippingInput>('shipping', {
    weight,
    value,
  });
  const data = await shipping.result({ timeoutMs: 20_000 });
  const choice = data.carrier + ('insured' in data ? ', insured' : '');
  console.log(`${weight} kg worth ${value} EUR goes by ${choice}`);
}

await choose(2, 50);
await choose(40, 300);
await choose(1, 2500);
