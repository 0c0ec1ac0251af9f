/** Packs the lines of an order in turn and weighs them all at once. */
import assert from 'node:assert/strict';
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
const { data } = await order.wait({ timeoutMs: 20_000 });
for (const line of data.packed) console.log(line);
console.log(`Together ${data.weight} kg`);

assert.deepEqual(data.packed, ['1. pen', '2. ink', '3. paper']);
assert.equal(data.weight, 6);

// What ran, with the item that each step ran for.
const settled = [];
for await (const step of order.steps()) if (step.stepId === 'settle') settled.push(step);
const lastStart = Math.max(...settled.map((step) => Date.parse(step.startTime)));
const firstEnd = Math.min(...settled.map((step) => Date.parse(step.endTime ?? '')));
assert.equal(settled.length, 3);
assert.ok(lastStart < firstEnd, 'all items wait at the same time');
console.log('OK: each line was packed in its turn, and all were weighed at once');
