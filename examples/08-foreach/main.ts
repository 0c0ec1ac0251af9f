/** Packs the lines of an order in turn and weighs them all at once. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** What it starts with. */
interface PackOrderInput {
  lines: { article: string; weight: number }[];
}

/** What it has in the end. */
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
console.log(`Together ${data.weight} kg`);
