/** Starts one order with data that matches its schema, and one with data that doesn't. */
import { readFile } from 'node:fs/promises';
import { createClient, isApiError } from '@stepwright/sdk';
import type { Data, Input } from './order-types.ts';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
await client.definitions.register(await readFile(new URL('order.yaml', import.meta.url), 'utf8'));

const order = await client.workflows.start<Data, Input>('checked-order', {
  id: 'A-1',
  lines: [{ sku: 'pen', count: 2 }, { sku: 'ink' }],
});
const { lines, pieces, priority } = await order.result({ timeoutMs: 20_000 });
console.log(`${Number(pieces)} pieces, priority ${priority}, ink: ${lines[1]?.count}`);

try {
  // The types would catch these mistakes, so this start doesn't use them.
  await client.workflows.start('checked-order', { priority: 'High', lines: [{ sku: 5 }] });
} catch (error) {
  if (!isApiError(error)) throw error;
  for (const { message, pointer } of error.errors) {
    console.log(`${pointer}: ${message}`);
  }
}
