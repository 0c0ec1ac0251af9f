/** Bills two customers, each in a separate child run. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface MonthlyBillingInput {
  customers: { name: string; hours: number }[];
}

/** The data of the run when it has succeeded. */
interface MonthlyBilling extends MonthlyBillingInput {
  invoices: { customer: string; amount: number }[];
  total: number;
}

// A SubWorkflow step starts the latest version of its definition at the time the step runs.
await client.definitions.register(await read('bill-customer.yaml'));
await client.definitions.register(await read('monthly-billing.yaml'));

const billing = await client.workflows.start<MonthlyBilling, MonthlyBillingInput>(
  'monthly-billing',
  {
    customers: [
      { name: 'Ann', hours: 12 },
      { name: 'Bob', hours: 3 },
    ],
  },
);
const data = await billing.result({ timeoutMs: 20_000 });
for (const { customer, amount } of data.invoices) console.log(`${customer}: ${amount} EUR`);
console.log(`Total: ${data.total} EUR`);
