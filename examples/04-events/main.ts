/** Publishes the events of a parcel scanner, faster than the run takes them. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface DeliveryInput {
  parcelId: string;
}

/** The data of the run when it has succeeded. */
interface Delivery extends DeliveryInput {
  places: string[];
}

await client.definitions.register(await read('delivery.yaml'));

const parcelId = `parcel-${Date.now()}`;
const delivery = await client.workflows.start<Delivery, DeliveryInput>('delivery', { parcelId });

// Events may arrive faster than the run takes them. It gets all of them, in the order of their publication.
for (const place of ['Bremen', 'Hamburg']) {
  await client.events.publish('parcel-scanned', parcelId, { place });
  console.log(`Scanned in ${place}`);
}
// The run ignores an event with another key.
await client.events.publish('parcel-scanned', `${parcelId}-other`, { place: 'Rome' });

await client.events.publish('parcel-scanned', parcelId, { place: 'Kiel', delivered: true });
console.log('Scanned in Kiel, and delivered');

const data = await delivery.result({ timeoutMs: 20_000 });
console.log(`The workflow has seen: ${data.places.join(', ')}`);
