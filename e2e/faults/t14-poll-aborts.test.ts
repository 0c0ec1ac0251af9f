import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { KINDS } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import type { Fleet } from './support/fleet.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, WorkItem } from './support/wire.js';

/** How long a poller that disconnected at the very last moment may hold an item. */
const LEASE_SECONDS = 3;

function poll(url: string, query: string, signal: AbortSignal): Promise<Response | null> {
  const path = `/api/activity/work?workerId=w&timeout=120${query}`;
  return fetch(`${url}${path}`, { signal }).catch(() => null);
}

async function startRuns(client: PersistentClient, count: number): Promise<readonly string[]> {
  await client.call('POST', '/api/definition', { body: KINDS.activity.definition, key: 'def' });
  const starts = Array.from({ length: count }, async (_, n) => {
    const { body } = await client.call('POST', '/api/workflow/activity', {
      body: { name: `run-${n}`, n },
      key: `start-${n}`,
    });
    return (body as Instance).workflowId;
  });
  return Promise.all(starts);
}

async function untilNoPollerIsLeft(fleet: Fleet): Promise<void> {
  await eventually('no poll is left behind', async () => {
    return (await fleet.metric('stepwright_pollers')) === 0;
  });
}

async function allEnd(client: PersistentClient, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await eventually(`${id} ends`, async () => {
      const { body } = await client.call('GET', `/api/workflow/${id}?wait=5`);
      return (body as Instance).status === 'Complete';
    });
  }
}

describe('T-14 an aborted poll', () => {
  it('holds no work, with or without a lease', async () => {
    await withFleet({ count: 2, store: 'sqlite' }, async ({ fleet }) => {
      const client = new PersistentClient(() => fleet.urls);
      const count = scaled(200);
      const giveUp = new AbortController();
      const polls = Array.from({ length: count }, (_, at) =>
        poll(fleet.urls[at % 2] ?? '', '', giveUp.signal),
      );
      await eventually('all of them wait', async () => {
        return (await fleet.metric('stepwright_pollers')) === count;
      });
      giveUp.abort();
      await Promise.all(polls);
      await untilNoPollerIsLeft(fleet);
      const ids = await startRuns(client, 20);
      for (let taken = 0; taken < ids.length; taken += 1) {
        const { attempt, token } = await eventually('there is work', async () => {
          const path = '/api/activity/work?workerId=w&timeout=5';
          const found = await client.call('GET', path, { expected: [200, 404] });
          return found.status === 200 && (found.body as WorkItem);
        });
        expect(attempt).toBe(1);
        await client.call('POST', `/api/activity/success/${token}`, { body: 'done' });
      }
      await allEnd(client, ids);
    });
  });

  it('loses no work if it disconnects while the work is handed out', async () => {
    await withFleet({ count: 2, store: 'sqlite' }, async ({ fleet, random }) => {
      const client = new PersistentClient(() => fleet.urls);
      let isOver = false;
      let hungUp = 0;
      const impatient = Array.from({ length: 20 }, async (_, at) => {
        for (let polls = 0; polls < scaled(40); polls += 1) {
          const giveUp = new AbortController();
          const url = fleet.urls[at % 2] ?? '';
          const polled = poll(url, `&lease=${LEASE_SECONDS}`, giveUp.signal);
          await setTimeout(random() * 60);
          giveUp.abort();
          hungUp += 1;
          await polled;
        }
      });
      const ids = await startRuns(client, scaled(60));
      const patient = Array.from({ length: 2 }, async () => {
        while (!isOver) {
          const path = `/api/activity/work?workerId=p&timeout=1&lease=${LEASE_SECONDS * 10}`;
          const found = await client.call('GET', path, { expected: [200, 404] });
          if (found.status === 404) continue;
          const { token } = found.body as WorkItem;
          // A lease that expired on a very slow machine is not a loss: the item is handed out again.
          const expected = [202, 404];
          await client.call('POST', `/api/activity/success/${token}`, { body: 'done', expected });
        }
      });
      const beganAt = Date.now();
      await allEnd(client, ids);
      const endedMs = Date.now() - beganAt;
      isOver = true;
      await Promise.all([...impatient, ...patient]);
      await untilNoPollerIsLeft(fleet);
      console.log('T-14', { items: ids.length, hungUp, endedMs });
    });
  });
});
