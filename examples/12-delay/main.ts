/** Waits for tea: once not long enough, and once until it is ready. */
import { readFile } from 'node:fs/promises';
import { createClient, isTimeoutError } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

await client.definitions.register(await read('tea-timer.yaml'));

const tea = await client.workflows.start<{ ready: boolean }, { seconds: number }>('tea-timer', {
  seconds: 2,
});
const early = await tea.wait({ timeoutMs: 200 }).catch((error: unknown) => {
  if (isTimeoutError(error)) return null;
  throw error;
});
console.log(early === null ? 'Not ready yet' : 'Ready too early');

const { ready } = await tea.result({ timeoutMs: 20_000 });
if (ready) console.log('The tea is ready');
