/** Makes breakfast in two branches. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

await client.definitions.register(await read('breakfast.yaml'));

const breakfast = await client.workflows.start<{ done: string[]; served: string }, object>(
  'breakfast',
);
const { data, startTime, endTime } = await breakfast.wait({ timeoutMs: 20_000 });
console.log(`Served: ${data.served}`);

const tookMs = Date.parse(endTime ?? '') - Date.parse(startTime);
assert.deepEqual(data.done, ['toast', 'tea'], 'the shorter branch ends first');
assert.ok(tookMs >= 1000, 'what follows waits for the longer branch');
console.log('OK: both branches ran at the same time, and were waited for');
