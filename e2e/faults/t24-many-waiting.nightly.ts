import { describe, expect, it } from 'vitest';
import { definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import type { Fleet } from './support/fleet.js';
import { inLanes } from './support/lanes.js';
import { megabytesOf } from './support/megabytes.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

const CLIENTS = 8;
const READY_MS_MAX = 300_000;
/** A node keeps at most 2,000 waiting instances in memory, so this does not grow with their number. */
const MEGABYTES_MAX = 500;

/** Two waits for one name and key: if an event were delivered twice, the second wait would take it. */
const WAITING = definition(
  'waiting',
  ['first', 'second'].map((id) => ({
    Id: id,
    StepType: 'WaitFor',
    Inputs: { EventName: '"go"', EventKey: 'data.key' },
    Outputs: { [id]: 'step.EventData' },
  })),
);

interface Scene {
  readonly fleet: Fleet;
  readonly client: PersistentClient;
  readonly ids: ReadonlyMap<string, string>;
}

async function startWaiting(
  fleet: Fleet,
  count: number,
  keyOf: (name: string) => string,
): Promise<Scene> {
  const client = new PersistentClient(() => fleet.urls);
  await client.call('POST', '/api/definition', { body: WAITING });
  const ids = new Map<string, string>();
  const names = Array.from({ length: count }, (_, at) => `run-${at}`);
  await inLanes(CLIENTS, names, async (name) => {
    const body = { name, key: keyOf(name) };
    const answer = await client.call('POST', '/api/workflow/waiting', { body, key: name });
    ids.set(name, (answer.body as Instance).workflowId);
  });
  return { fleet, client, ids };
}

async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  const beganAt = Date.now();
  await work();
  return Math.round((count * 1000) / (Date.now() - beganAt));
}

/** Every run took the event with its first wait, and nothing with its second. */
async function expectFirst({ client, ids }: Scene, expected: (name: string) => unknown) {
  await inLanes(CLIENTS, [...ids], async ([name, id]) => {
    const data = await eventually(
      `${name} has its event`,
      async () => {
        const { body } = await client.call('GET', `/api/workflow/${id}`);
        const instance = body as Instance;
        return 'first' in instance.data && instance.data;
      },
      READY_MS_MAX,
    );
    expect(data['first']).toEqual(expected(name));
    expect('second' in data).toBe(false);
  });
}

async function expectEnds({ client, ids }: Scene, second: unknown): Promise<void> {
  await inLanes(CLIENTS, [...ids.values()], async (id) => {
    const { data, status } = await untilEnded(client, id, READY_MS_MAX);
    expect(status).toBe('Complete');
    expect(data['second']).toEqual(second);
  });
}

describe.each([
  { store: 'sqlite', count: 10_000 },
  { store: 'mongo', count: 2000 },
  { store: 'postgres', count: 2000 },
] as const)('T-24 each of very many waiting runs on $store', ({ store, count }) => {
  it('wakes up once by its own event', { timeout: 1_800_000 }, async () => {
    await withFleet({ count: 2, store }, async ({ fleet }) => {
      const runs = scaled(count);
      const scene = await startWaiting(fleet, runs, (name) => name);
      const waitingMegabytes = await megabytesOf(fleet);
      const publishAll = (body: string): Promise<void> =>
        inLanes(CLIENTS, [...scene.ids.keys()], async (name) => {
          const key = `${name}-${body}`;
          await scene.client.call('POST', `/api/event/go/${name}`, { body: { body, name }, key });
        });
      const eventsPerSecond = await perSecond(runs, () => publishAll('one'));
      await expectFirst(scene, (name) => ({ body: 'one', name }));
      await publishAll('two');
      await inLanes(CLIENTS, [...scene.ids], async ([name, id]) => {
        const { data } = await untilEnded(scene.client, id, READY_MS_MAX);
        expect(data['second']).toEqual({ body: 'two', name });
      });
      const megabytes = await megabytesOf(fleet);
      console.log(`T-24 ${store} by key`, { runs, eventsPerSecond, waitingMegabytes, megabytes });
      expect(Math.max(...waitingMegabytes, ...megabytes)).toBeLessThan(MEGABYTES_MAX);
      expect(fleet.faults).toEqual([]);
    });
  });

  it(
    'takes the same event, although its node dies during the delivery',
    { timeout: 1_800_000 },
    async () => {
      await withFleet({ count: 2, store }, async ({ fleet }) => {
        const runs = scaled(count);
        const scene = await startWaiting(fleet, runs, () => 'all');
        const publisher = fleet.node(0).url;
        const posted = (): Promise<number> =>
          fleet.metric('stepwright_store_operations_total{operation="postMessages",result="ok"}');
        const call = { method: 'POST', headers: { 'content-type': 'application/json' } };
        const answer = fetch(`${publisher}/api/event/go/all`, { ...call, body: '"one"' });
        const outcome = answer.then(
          ({ status }) => status,
          () => 'broken',
        );
        await eventually('the event is on its way', async () => (await posted()) > 0, READY_MS_MAX);
        await fleet.kill(0);
        expect(await outcome).toBe('broken');
        const eventsPerSecond = await perSecond(runs, () => expectFirst(scene, () => 'one'));
        const megabytes = await megabytesOf(fleet);
        await scene.client.call('POST', '/api/event/go/all', { body: 'two', key: 'two' });
        await expectEnds(scene, 'two');
        console.log(`T-24 ${store} one event`, {
          runs,
          takenPerSecond: eventsPerSecond,
          megabytes,
        });
        expect(Math.max(...megabytes)).toBeLessThan(MEGABYTES_MAX);
        expect(fleet.faults).toEqual([]);
      });
    },
  );
});
