/** Starts an invoice with data and a reference, and prints the data that the steps produced. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface InvoiceInput {
  customer: { name: string };
  lines: { article: string; price: number; count: number }[];
}

/** The data of the run when it has succeeded. */
interface Invoice extends InvoiceInput {
  taxRate: number;
  net: number;
  tax: number;
  total: number;
  letter: string;
}

// A custom step must be stored before a definition can use it.
await client.steps.put('compose-letter', await read('compose-letter.py'));
await client.definitions.register(await read('invoice.yaml'));

const invoice = await client.workflows.start<Invoice, InvoiceInput>(
  'invoice',
  {
    customer: { name: 'Ada' },
    lines: [
      { article: 'pen', price: 20, count: 2 },
      { article: 'ink', price: 5, count: 3 },
    ],
  },
  { reference: 'R-2041' },
);
const data = await invoice.result({ timeoutMs: 20_000 });
console.log(`net ${data.net}, tax ${data.tax}, total ${data.total}`);
console.log(data.letter);
