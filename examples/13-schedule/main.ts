/** Sends an offer whose reminder comes later. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

await client.definitions.register(await read('reminder.yaml'));

const offer = await client.workflows.start<{ log: string[] }, { remindAfter: number }>('reminder', {
  remindAfter: 0.5,
});
const { data } = await offer.wait({ timeoutMs: 20_000 });
for (const line of data.log) console.log(line);

assert.deepEqual(data.log, ['offer sent', 'offer filed', 'reminder sent']);
console.log('OK: the reminder came later and held up nothing');
