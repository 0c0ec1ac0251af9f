/** Sets up two webhooks, and calls them as GitHub does. */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

await client.definitions.register(await read('review.yaml'));

const secret = randomBytes(32).toString('hex');
await client.webhooks.put('example-pull-requests', {
  scheme: 'github',
  secret,
  start: {
    definitionId: 'review-pull-request',
    data: {
      '@repository': 'hook.body["repository"]["full_name"]',
      '@number': 'hook.body["number"]',
      '@title': 'hook.body["pull_request"]["title"]',
    },
  },
});
await client.webhooks.put('example-closed', {
  scheme: 'github',
  secret,
  publish: {
    name: '"pull-request-" + hook.body["action"]',
    key: 'hook.body["repository"]["full_name"] + "#" + str(hook.body["number"])',
  },
});

/** Sends a request as GitHub does: the signature covers the raw body. */
function call(name: string, body: string, deliveryId: string, key = secret): Promise<Response> {
  const signature = createHmac('sha256', key).update(body).digest('hex');
  return fetch(`${baseUrl}/hooks/${name}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-GitHub-Event': 'pull_request',
      'X-GitHub-Delivery': deliveryId,
      'X-Hub-Signature-256': `sha256=${signature}`,
    },
    body,
  });
}

function pullRequest(action: string): string {
  return JSON.stringify({
    action,
    number: 7,
    pull_request: { title: 'Fix the lamp', merged: action === 'closed' },
    repository: { full_name: 'acme/app' },
  });
}

try {
  const deliveryId = randomUUID();
  const opened = await call('example-pull-requests', pullRequest('opened'), deliveryId);
  const { id } = (await opened.json()) as { id: string };
  console.log(`Opened: ${opened.status}`);
  const again = await call('example-pull-requests', pullRequest('opened'), deliveryId);
  const isSame = ((await again.json()) as { id: string }).id === id;
  console.log(
    `The same delivery again: ${again.status}, ${isSame ? 'the same run' : 'another run'}`,
  );
  const forged = await call('example-pull-requests', pullRequest('opened'), randomUUID(), 'guess');
  console.log(`Forged: ${forged.status}`);

  const closed = await call('example-closed', pullRequest('closed'), randomUUID());
  console.log(`Closed: ${closed.status}`);
  const run = await client.workflows.wait(id, { timeoutMs: 30_000 });
  console.log(`The review: ${run.status}, merged ${String(run.data['merged'])}`);
} finally {
  await client.webhooks.remove('example-pull-requests');
  await client.webhooks.remove('example-closed');
}
