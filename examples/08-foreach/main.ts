/** Packs the lines of an order one after another, and weighs two of them at once. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface PackOrderInput {
  lines: { article: string; weight: number }[];
}

/** The data of the run when it has succeeded. */
interface PackOrder extends PackOrderInput {
  packed: string[];
  weight: number;
}

await client.definitions.register(await read('pack-order.yaml'));

const order = await client.workflows.start<PackOrder, PackOrderInput>('pack-order', {
  lines: [
    { article: 'pen', weight: 1 },
    { article: 'ink', weight: 2 },
    { article: 'paper', weight: 3 },
  ],
});
const data = await order.result({ timeoutMs: 20_000 });
for (const line of data.packed) console.log(line);
console.log(`Total weight: ${data.weight} kg`);
