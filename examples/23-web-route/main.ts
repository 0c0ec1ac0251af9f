/** Serves the route, and simulates the page in a browser that calls it. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';
import { GET, POST } from './route.ts';
import { serveRoute } from './web-server.ts';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

interface Offer {
  id: string;
  price?: number;
}

await client.definitions.register(await read('quote.yaml'));
const web = await serveRoute({ GET, POST });

/** Simulates the page in the browser. */
async function call(path: string, init: RequestInit = {}): Promise<[number, Offer]> {
  const response = await fetch(`${web.url}${path}`, init);
  return [response.status, (await response.json()) as Offer]; // The route returns this type.
}

function ask(people: unknown, headers: Record<string, string> = {}): Promise<[number, Offer]> {
  return call('/api/quote', { method: 'POST', body: JSON.stringify({ people }), headers });
}

try {
  const [status, family] = await ask(4);
  console.log(`4 people: ${status}, ${family.price ?? '?'} EUR`);

  const [refused] = await ask('many');
  console.log(`"many" people: ${refused}`);

  // The same key: one offer, even if the form is submitted twice.
  const key = { 'idempotency-key': `form-${Date.now()}` };
  const [[, one], [, same]] = [await ask(2, key), await ask(2, key)];
  console.log(`Sent twice: ${one.id === same.id ? 'one offer' : 'two offers'}`);

  const [accepted, group] = await ask(30);
  console.log(`30 people: ${accepted}, a colleague must set the price`);
  await client.events.publish('group-price', group.id, { price: 125 });
  const [ready, offer] = await call(`/api/quote?id=${group.id}`);
  console.log(`Asked again: ${ready}, ${offer.price ?? '?'} EUR`);

  const [unknown] = await call('/api/quote?id=nothing');
  console.log(`An unknown offer: ${unknown}`);
} finally {
  web.close();
}
