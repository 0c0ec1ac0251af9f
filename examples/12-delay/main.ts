/** Waits for tea, and looks what the workflow waits for meanwhile. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

await client.definitions.register(await read('tea-timer.yaml'));

const tea = await client.workflows.start<{ seconds: number; ready: boolean }>('tea-timer', {
  seconds: 1,
});
const { items } = await tea.steps().page();
console.log(`The step ${items[0]?.stepId ?? ''} waits for ${items[0]?.waitsFor?.kind ?? ''}`);

const { data, startTime, endTime } = await tea.wait({ timeoutMs: 20_000 });
const tookMs = Date.parse(endTime ?? '') - Date.parse(startTime);
console.log('The tea is ready');

assert.equal(data.ready, true);
assert.ok(tookMs >= 1000, 'a delay is never too short');
console.log('OK: the workflow waited for a second');
