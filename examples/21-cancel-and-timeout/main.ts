/** Lets three negotiations end in three ways: by an offer, by a withdrawal, by time. */
import assert from 'node:assert/strict';
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
  outcome: string;
  closed: boolean;
}

await client.definitions.register(await read('negotiation.yaml'));
let count = 0;

/** Runs one negotiation, in which `publish` says what happens. */
async function negotiate(publish: (requestId: string) => Promise<unknown>): Promise<string> {
  count += 1;
  const requestId = `request-${Date.now()}-${count}`;
  const negotiation = await client.workflows.start<Negotiation, NegotiationInput>('negotiation', {
    requestId,
  });
  await publish(requestId);
  const { status, data } = await negotiation.wait({ timeoutMs: 20_000 });
  console.log(data.outcome);
  assert.equal(status, 'Complete');
  assert.equal(data.closed, true);
  return data.outcome;
}

const offered = await negotiate((id) => client.events.publish('offer', id, { price: 90 }));
assert.equal(offered, 'offered for 90');

const withdrawn = await negotiate((id) => client.events.publish('withdrawal', id));
assert.equal(withdrawn, 'withdrawn by the customer');

const silent = await negotiate(async () => undefined);
assert.equal(silent, 'no offer came in time');

console.log('OK: whichever came first ended the wait of the others');
