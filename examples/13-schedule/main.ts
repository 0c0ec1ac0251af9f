/** Sends an offer, followed by a reminder later. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

await client.definitions.register(await read('reminder.yaml'));

const offer = await client.workflows.start<{ log: string[] }, { remindAfter: number }>('reminder', {
  remindAfter: 0.5,
});
const data = await offer.result({ timeoutMs: 20_000 });
for (const line of data.log) console.log(line);
