/** Eight runs call the service of a partner for one customer, and one for another. The partner limits the calls for each. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';
import { startPartner } from './partner.ts';

interface Invoice {
  partner: string;
  customer: string;
  invoice: number;
}

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const { definitions, workflows } = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

// `stepwright apply` does this for each *.limit.yaml of a folder.
const stored = await fetch(new URL('/api/limit/partner-api', baseUrl), {
  method: 'PUT',
  headers: { 'Content-Type': 'application/yaml' },
  body: await read('partner-api.limit.yaml'),
});
if (!stored.ok) throw new Error(await stored.text());
await definitions.register(await read('fetch-invoice.yaml'));

const now = Date.now();
const [acme, zeta] = [`acme-${now}`, `zeta-${now}`];
const partner = await startPartner();
const start = (customer: string, invoice: number) =>
  workflows.start<{ sum: number }, Invoice>('fetch-invoice', {
    partner: partner.url,
    customer,
    invoice,
  });

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the calls did not come');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

try {
  const runs = [];
  for (let invoice = 1; invoice <= 8; invoice += 1) runs.push(await start(acme, invoice));
  const last = runs.at(-1);
  runs.push(await start(zeta, 1));
  await until(() => partner.times(acme).length === 2 && partner.times(zeta).length === 1);
  console.log('the partner has 2 calls for acme, and 1 for zeta');

  const why = async () => (await last?.explain())?.reasons[0]?.text ?? '';
  await until(async () => (await why()).includes('5 in line'));
  console.log((await why()).replace(`-${now}`, ''));

  partner.answer();
  let sum = 0;
  for (const run of runs) sum += (await run.result({ timeoutMs: 20_000 })).sum;
  console.log(`sum of the invoices: ${sum}`);

  const times = partner.times(acme);
  const took = (times.at(-1) ?? 0) - (times[2] ?? 0);
  console.log(`calls for acme at a time: ${partner.most(acme)}`);
  console.log(`the other 6 calls for acme took half a second or more: ${took >= 500}`);
} finally {
  partner.close();
}
