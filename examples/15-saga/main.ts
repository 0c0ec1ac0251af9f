/** Books two holidays: one succeeds, and the other is compensated because a part is not available. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface HolidayInput {
  soldOut: string[];
}

/** The data of the run when it has succeeded. */
interface Holiday extends HolidayInput {
  log: string[];
}

await client.steps.put('book-if-free', await read('book-if-free.py'));
await client.definitions.register(await read('holiday.yaml'));

async function book(soldOut: string[]): Promise<void> {
  const holiday = await client.workflows.start<Holiday, HolidayInput>('holiday', { soldOut });
  const { outcome, data } = await holiday.wait({ timeoutMs: 20_000 });
  console.log(`${soldOut.length === 0 ? 'Nothing' : soldOut.join()} sold out: ${outcome}`);
  for (const line of data.log ?? []) console.log(`  ${line}`);
}

await book([]);
await book(['car']);
