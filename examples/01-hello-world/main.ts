/** Stores a definition, starts a run of it, and waits for its end: the basic structure of every client program. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

const { id, version } = await client.definitions.register(await read('hello-world.yaml'));
console.log(`Stored ${id}, version ${version}`);

const hello = await client.workflows.start<{ greeting: string }, { name: string }>(id, {
  name: 'Ada',
});
const { greeting } = await hello.result({ timeoutMs: 20_000 });
console.log(`The run has ended: ${greeting}`);
