/** Runs three negotiations that end in three ways: by an offer, by a withdrawal, and by a timeout. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface NegotiationInput {
  requestId: string;
}

/** The data of the run when it has succeeded. */
interface Negotiation extends NegotiationInput {
  /** Undefined if there is none. */
  result?: string;
  closed: boolean;
}

await client.definitions.register(await read('negotiation.yaml'));
let count = 0;

/** Runs one negotiation, in which `publish` publishes the events. */
async function negotiate(publish: (requestId: string) => Promise<unknown>): Promise<void> {
  count += 1;
  const requestId = `request-${Date.now()}-${count}`;
  const negotiation = await client.workflows.start<Negotiation, NegotiationInput>('negotiation', {
    requestId,
  });
  await publish(requestId);
  // A negotiation that timed out is `Compensated`, so use `wait`, which returns a run with any outcome.
  const { outcome, data } = await negotiation.wait({ timeoutMs: 20_000 });
  console.log(`${data.result ?? 'open'} (${outcome})`);
}

await negotiate((id) => client.events.publish('offer', id, { price: 90 }));
await negotiate((id) => client.events.publish('withdrawal', id));
await negotiate(async () => undefined);
