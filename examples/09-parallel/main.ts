/** Makes breakfast in two parallel branches. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

await client.definitions.register(await read('breakfast.yaml'));

const breakfast = await client.workflows.start<{ done: string[]; served: string }, object>(
  'breakfast',
);
const { done, served } = await breakfast.result({ timeoutMs: 20_000 });
console.log(`Done first: ${done[0]}`);
console.log(`Served: ${served}`);
