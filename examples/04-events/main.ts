/** Publishes what a parcel scanner would, faster than the workflow asks for it. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** What it starts with. */
interface DeliveryInput {
  parcelId: string;
}

/** What it has in the end. */
interface Delivery extends DeliveryInput {
  places: string[];
}

await client.definitions.register(await read('delivery.yaml'));

const parcelId = `parcel-${Date.now()}`;
const delivery = await client.workflows.start<Delivery, DeliveryInput>('delivery', { parcelId });

// Events may come faster than the workflow takes them: it gets every one, in the order of their publication.
for (const place of ['Bremen', 'Hamburg']) {
  await client.events.publish('parcel-scanned', parcelId, { place });
  console.log(`Scanned in ${place}`);
}
// An event under another key is for somebody else.
await client.events.publish('parcel-scanned', `${parcelId}-other`, { place: 'Rome' });

await client.events.publish('parcel-scanned', parcelId, { place: 'Kiel', delivered: true });
console.log('Scanned in Kiel, and delivered');

const data = await delivery.result({ timeoutMs: 20_000 });
console.log(`The workflow has seen: ${data.places.join(', ')}`);
