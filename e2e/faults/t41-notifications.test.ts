import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from './support/eventually.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled, type Random } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, Page } from './support/wire.js';

const SECRET = `whsec_${Buffer.from('a secret of the receiver').toString('base64')}`;
const LANES = 8;
/** Keeps several deliveries in progress at any time. */
const ANSWER_MS = 30;
const REFUSED_SHARE = 0.1;

interface Target {
  url: string;
  /** The ids of messages that arrived, for each run. */
  readonly arrived: Map<string, Set<string>>;
  /** The runs whose message was accepted. */
  readonly accepted: Set<string>;
  attempts: number;
}

/** A slow target that refuses some messages. */
async function startTarget(random: Random): Promise<Target> {
  const target: Target = { url: '', arrived: new Map(), accepted: new Set(), attempts: 0 };
  const server = createServer((request, response) => {
    void text(request)
      .then(async (body) => {
        const { data } = JSON.parse(body) as { readonly data: { readonly workflowId: string } };
        const { workflowId } = data;
        const before = target.arrived.get(workflowId);
        const ids = before ?? new Set();
        target.arrived.set(workflowId, ids.add(String(request.headers['webhook-id'])));
        target.attempts += 1;
        await setTimeout(ANSWER_MS);
        // Only once: the pauses before later attempts are long.
        const isRefused = before === undefined && random() < REFUSED_SHARE;
        if (!isRefused) target.accepted.add(workflowId);
        response.writeHead(isRefused ? 503 : 204).end();
      })
      // The node that sent it has died.
      .catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  target.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return target;
}

describe.each(
  process.env['FAULTS'] === 'all'
    ? [{ store: 'sqlite' as const }, { store: 'mongo' as const }, { store: 'postgres' as const }]
    : [{ store: 'sqlite' as const }],
)('T-41 a notification on $store', ({ store }) => {
  it('is not lost, and keeps its id, when nodes are killed while runs complete', async () => {
    await withFleet({ count: 2, store }, async ({ fleet, random }) => {
      const target = await startTarget(random);
      const client = new PersistentClient(() => fleet.urls);
      const definition = { Id: 'short', Steps: [{ Id: 'only', StepType: 'NoOp' }] };
      await client.call('POST', '/api/definition', { body: definition });
      const body = { url: target.url, on: ['completed'], secret: SECRET };
      await client.call('PUT', '/api/notification/ends', { body });
      // From then on, each node knows it.
      for (const url of fleet.urls)
        await new PersistentClient(() => [url]).call('GET', '/api/notification/ends');

      const count = scaled(200);
      const ids: string[] = [];
      const lanes = Array.from({ length: LANES }, async (_, lane) => {
        for (let n = lane; n < count; n += LANES) {
          const options = { body: {}, key: `start-${n}` };
          const started = await client.call('POST', '/api/workflow/short', options);
          ids.push((started.body as Instance).workflowId);
        }
      });
      for (const victim of process.env['FAULTS'] === 'all' ? [0, 1] : [0]) {
        await eventually('half of the runs', () => ids.length > ((victim + 1) * count) / 4);
        await eventually('deliveries', () => target.attempts > 5 * (victim + 1));
        await fleet.kill(victim);
        await fleet.restart(victim);
      }
      await Promise.all(lanes);
      await eventually('every run is told', () => ids.every((id) => target.accepted.has(id)));
      await eventually('no delivery waits', async () => {
        const path = '/api/notification/ends/deliveries?state=waiting';
        return ((await client.call('GET', path)).body as Page<unknown>).items.length === 0;
      });
      expect([...target.accepted].toSorted()).toEqual(ids.toSorted());
      expect([...target.arrived.values()].filter((seen) => seen.size !== 1)).toEqual([]);
      console.log(`T-41 ${store}`, {
        runs: count,
        attempts: target.attempts,
        callsMadeAgain: client.retries,
      });
      expect(target.attempts).toBeGreaterThan(count);
    });
  });
});
