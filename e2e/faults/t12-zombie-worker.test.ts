import { describe, expect, it } from 'vitest';
import { KINDS } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import type { Fleet } from './support/fleet.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, WorkItem } from './support/wire.js';

async function startRuns(client: PersistentClient, count: number): Promise<void> {
  await client.call('POST', '/api/definition', { body: KINDS.activity.definition, key: 'def' });
  for (let n = 0; n < count; n += 1) {
    const body = { name: `run-${n}`, n };
    await client.call('POST', '/api/workflow/activity', { body, key: `start-${n}` });
  }
}

async function take(client: PersistentClient): Promise<WorkItem> {
  return eventually('there is work', async () => {
    const path = '/api/activity/work?workerId=w&timeout=5';
    const found = await client.call('GET', path, { expected: [200, 404] });
    return found.status === 200 && (found.body as WorkItem);
  });
}

async function takeAll(client: PersistentClient, count: number) {
  const items = new Map<string, WorkItem>();
  while (items.size < count) {
    const item = await take(client);
    items.set(item.workflowId, item);
  }
  return items;
}

function clients(fleet: Fleet): readonly [PersistentClient, PersistentClient] {
  const { url: first } = fleet.node(0);
  const { url: second } = fleet.node(1);
  return [new PersistentClient(() => [first]), new PersistentClient(() => [second])];
}

async function ended(client: PersistentClient, workflowId: string): Promise<Instance> {
  return eventually(`${workflowId} ends`, async () => {
    const { body } = await client.call('GET', `/api/workflow/${workflowId}?wait=5`);
    return (body as Instance).status === 'Complete' && (body as Instance);
  });
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-12 a zombie worker on $store',
  ({ store }) => {
    it('gets 404 for a token whose lease has expired, and affects no other worker', async () => {
      await withFleet({ count: 2, store }, async ({ fleet }) => {
        const [zombie, heir] = clients(fleet);
        const count = scaled(15);
        await startRuns(zombie, count);
        const stale = await takeAll(zombie, count);
        // The leases start only when all items are claimed; otherwise, on a slow machine, the first would expire before
        // the last is claimed.
        for (const { token } of stale.values()) {
          await zombie.call('PUT', `/api/activity/${token}/heartbeat?lease=1`);
        }
        const fresh = await takeAll(heir, count);
        for (const { token } of stale.values()) {
          const calls = [
            zombie.call('POST', `/api/activity/success/${token}`, { body: 'z', expected: [404] }),
            zombie.call('POST', `/api/activity/fail/${token}`, { body: 'z', expected: [404] }),
            zombie.call('DELETE', `/api/activity/${token}`, { expected: [404] }),
            zombie.call('PUT', `/api/activity/${token}/heartbeat?lease=9`, { expected: [404] }),
          ];
          await Promise.all(calls);
        }
        // A stale release must not have released the item that the new holder has.
        await zombie.call('GET', '/api/activity/work?workerId=w', { expected: [404] });
        const ends = [...fresh].map(async ([workflowId, { token }]) => {
          await heir.call('POST', `/api/activity/success/${token}`, { body: 'heir' });
          expect((await ended(heir, workflowId)).data['result']).toBe('heir');
        });
        await Promise.all(ends);
        console.log(`T-12 ${store}`, { items: count, staleCallsRefused: count * 4 });
      });
    });

    it('has only one of two simultaneous results on two nodes accepted', async () => {
      await withFleet({ count: 2, store }, async ({ fleet }) => {
        const [one, other] = clients(fleet);
        const count = scaled(60);
        await startRuns(one, count);
        const items = await takeAll(other, count);
        const racing = [...items].map(async ([workflowId, { token }]) => {
          const path = `/api/activity/success/${token}`;
          const answers = await Promise.all(
            [one, other].map((client, at) =>
              client.call('POST', path, { body: at, expected: [202, 404] }),
            ),
          );
          const winners = answers.flatMap(({ status }, at) => (status === 202 ? [at] : []));
          expect(winners).toHaveLength(1);
          expect((await ended(one, workflowId)).data['result']).toBe(winners[0]);
          return winners[0];
        });
        const winners = await Promise.all(racing);
        console.log(`T-12 ${store}`, {
          races: count,
          wonByFirst: winners.filter((w) => w === 0).length,
        });
      });
    });
  },
);
