/** Lets a run call a carrier with a secret, and shows where the secret is visible. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';
import { startCarrier } from './carrier.ts';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

await client.definitions.register(await read('parcel.yaml'));
const secrets = await client.secrets.list();
const secret = secrets.find(({ name }) => name === 'CARRIER_TOKEN');
if (secret?.missing !== false) {
  throw new Error('start the server with secret_CARRIER_TOKEN=example-carrier-token');
}
console.log(`CARRIER_TOKEN is used by ${secret.definitions.join(', ')}`);

const carrier = await startCarrier('example-carrier-token');
try {
  const input = { carrier: carrier.url, city: 'Oslo' };
  const run = await client.workflows.start('ship-parcel', input);
  const data = await run.result({ timeoutMs: 30_000 });
  console.log(`Parcel ${String(data['parcel'])}`);
  console.log(`The carrier answered: ${String(data['message'])}`);
  for await (const { inputs } of client.workflows.steps(run.id)) {
    console.log(`The history shows: ${JSON.stringify(inputs)}`);
  }
} finally {
  carrier.close();
}
