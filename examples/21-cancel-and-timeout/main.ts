/** Lets three negotiations end in three ways: by an offer, by a withdrawal, by time. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** What it starts with. */
interface NegotiationInput {
  requestId: string;
}

/** What it has in the end. */
interface Negotiation extends NegotiationInput {
  /** Where one is known. */
  result?: string;
  closed: boolean;
}

await client.definitions.register(await read('negotiation.yaml'));
let count = 0;

/** Runs one negotiation, in which `publish` says what happens. */
async function negotiate(publish: (requestId: string) => Promise<unknown>): Promise<void> {
  count += 1;
  const requestId = `request-${Date.now()}-${count}`;
  const negotiation = await client.workflows.start<Negotiation, NegotiationInput>('negotiation', {
    requestId,
  });
  await publish(requestId);
  // A negotiation that ran out of time is `Compensated`, so it is `wait` that knows about all three.
  const { outcome, data } = await negotiation.wait({ timeoutMs: 20_000 });
  console.log(`${data.result ?? 'open'} (${outcome})`);
}

await negotiate((id) => client.events.publish('offer', id, { price: 90 }));
await negotiate((id) => client.events.publish('withdrawal', id));
await negotiate(async () => undefined);
