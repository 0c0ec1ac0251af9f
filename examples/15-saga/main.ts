/** Books a holiday, once whole and once with a part that cannot be had. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** What it starts with. */
interface HolidayInput {
  soldOut: string[];
}

/** What it has in the end. */
interface Holiday extends HolidayInput {
  log: string[];
}

await client.steps.put('book-if-free', await read('book-if-free.py'));
await client.definitions.register(await read('holiday.yaml'));

async function book(soldOut: string[]): Promise<string[]> {
  const holiday = await client.workflows.start<Holiday, HolidayInput>('holiday', { soldOut });
  const { data } = await holiday.wait({ timeoutMs: 20_000 });
  console.log(
    `${soldOut.length === 0 ? 'Nothing' : soldOut.join()} sold out: ${data.log.join(', ')}`,
  );
  return data.log;
}

assert.deepEqual(await book([]), ['flight booked', 'hotel booked', 'car booked', 'file closed']);
assert.deepEqual(await book(['car']), [
  'flight booked',
  'hotel booked',
  'hotel cancelled',
  'flight cancelled',
  'apology sent',
  'file closed',
]);
console.log('OK: what had been booked was undone, the last one first');
