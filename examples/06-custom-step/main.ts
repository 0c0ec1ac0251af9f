/** Stores a script as a custom step, uses it, and replaces it. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface QuoteInput {
  length: number;
  width: number;
  height: number;
}

/** The data of the run when it has succeeded. */
interface Quote extends QuoteInput {
  litres: number;
  price: number;
}

async function quote(): Promise<void> {
  const parcel = { length: 30, width: 20, height: 15 };
  const workflow = await client.workflows.start<Quote, QuoteInput>('quote-parcel', parcel);
  const data = await workflow.result({ timeoutMs: 20_000 });
  console.log(`${data.litres} litres for ${data.price} EUR`);
}

const script = await read('parcel-price.py');
await client.steps.put('parcel-price', script);
await client.definitions.register(await read('quote-parcel.yaml'));
await quote();

// Each execution uses the latest script; the definition does not change.
await client.steps.put('parcel-price', `${script}price = round(price * 1.1, 2)\n`);
console.log('The script was replaced by one that takes 10% more');
await quote();
