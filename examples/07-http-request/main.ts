/** Lets a run call a shop, once successfully and once for an article that the shop doesn't have. */
import { readFile } from 'node:fs/promises';
import { startShop } from './shop.ts';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface StockCheckInput {
  shop: string;
  article: string;
  warehouse: string;
}

/** The data of the run when it has succeeded. */
interface StockCheck extends StockCheckInput {
  found: boolean;
  inStock: number;
  orderNumber: string;
}

await client.definitions.register(await read('stock-check.yaml'));
const shop = await startShop();

async function check(article: string): Promise<StockCheck> {
  const workflow = await client.workflows.start<StockCheck, StockCheckInput>('stock-check', {
    shop: shop.url,
    article,
    warehouse: 'north',
  });
  return workflow.result({ timeoutMs: 20_000 });
}

try {
  const pens = await check('pen');
  console.log(`pen: ${pens.inStock} in stock, ordered as ${pens.orderNumber}`);

  const unicorns = await check('unicorn');
  console.log(`unicorn: ${unicorns.found ? 'found' : 'the shop answered 404'}, nothing ordered`);

  console.log('Requests to the shop:');
  for (const line of shop.log) console.log(`  ${line}`);
} finally {
  shop.close();
}
