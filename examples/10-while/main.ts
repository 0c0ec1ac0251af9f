/** Adds interest to savings until they have doubled. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface SavingsInput {
  deposit: number;
  interest: number;
}

/** The data of the run when it has succeeded. */
interface Savings extends SavingsInput {
  balance: number;
  years: number;
}

await client.definitions.register(await read('savings.yaml'));

const savings = await client.workflows.start<Savings, SavingsInput>('savings', {
  deposit: 100,
  interest: 0.05,
});
const data = await savings.result({ timeoutMs: 20_000 });
console.log(`100 EUR at 5% become ${data.balance} EUR after ${data.years} years`);
