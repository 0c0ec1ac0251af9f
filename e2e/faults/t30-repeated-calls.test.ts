import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { PersistentClient, type Answer } from './support/persistent-client.js';
import { scaled, shuffled, type Random } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, Page, WorkItem } from './support/wire.js';

const BOTH = {
  Id: 'both',
  StepType: 'Parallel',
  Do: [
    [
      {
        Id: 'work',
        StepType: 'Activity',
        Inputs: { ActivityName: '"work"', Parameters: { '@name': 'data.name' } },
        Outputs: { worked: 'step.Result' },
      },
    ],
    [
      {
        Id: 'wait',
        StepType: 'WaitFor',
        Inputs: { EventName: '"go"', EventKey: 'data.name' },
        Outputs: { got: 'step.EventData' },
      },
    ],
  ],
};

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly key?: string;
  readonly expected: readonly number[];
}

/** Sends each call one to three times, in any order, within half a second. */
async function inDisorder(
  client: PersistentClient,
  random: Random,
  calls: readonly Call[],
): Promise<readonly (Answer & { readonly call: Call })[]> {
  const copies = calls.flatMap((call) =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => call),
  );
  return Promise.all(
    shuffled(random, copies).map(async (call) => {
      await setTimeout(random() * 500);
      return { call, ...(await client.call(call.method, call.path, call)) };
    }),
  );
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-30 each repeated or reordered call on $store',
  ({ store }) => {
    it('has one effect, and a documented response', async () => {
      await withFleet({ count: 2, store }, async ({ fleet, random }) => {
        const client = new PersistentClient(() => fleet.urls);
        const names = Array.from({ length: scaled(30) }, (_, at) => `run-${at}`);
        const definitions = await inDisorder(client, random, [
          {
            method: 'POST',
            path: '/api/definition',
            body: definition('both', [BOTH]),
            key: 'definition',
            expected: [200, 201],
          },
        ]);
        for (const { body } of definitions) expect((body as Instance).version).toBe(1);

        const starts = await inDisorder(
          client,
          random,
          names.map((name) => ({
            method: 'POST',
            path: `/api/workflow/both?reference=${name}`,
            body: { name },
            key: `start-${name}`,
            expected: [200, 201],
          })),
        );
        const ids = new Map<string, string>();
        for (const { body, call } of starts) {
          const { workflowId } = body as Instance;
          expect(workflowId).toBe(ids.get(call.path) ?? workflowId);
          ids.set(call.path, workflowId);
        }
        expect(new Set(ids.values()).size).toBe(names.length);

        const answers = await inDisorder(client, random, await allCalls(client, names, ids));
        const ends = [...ids.values()].map((id) =>
          eventually(`${id} ends`, async () => {
            await client.call('PUT', `/api/workflow/${id}/resume`, { expected: [200, 400] });
            const { body } = await client.call('GET', `/api/workflow/${id}?wait=2`);
            const { data, status } = body as Instance;
            if (status !== 'Complete') return false;
            expect(data).toEqual({ name: data['name'], worked: 'done', got: data['name'] });
            return true;
          }),
        );
        await Promise.all(ends);
        const all = await client.call('GET', '/api/workflow?definitionId=both&limit=200');
        expect((all.body as Page<Instance>).items).toHaveLength(names.length);
        console.log(`T-30 ${store}`, {
          calls: definitions.length + starts.length + answers.length,
          distinct: 1 + names.length * 5,
        });
      });
    });
  },
);

/** A result, an event, a suspension and a resume for every run. */
async function allCalls(
  client: PersistentClient,
  names: readonly string[],
  ids: ReadonlyMap<string, string>,
): Promise<readonly Call[]> {
  const calls: Call[] = [];
  for (const name of names) {
    const id = ids.get(`/api/workflow/both?reference=${name}`) ?? '';
    const { token } = await eventually('there is work', async () => {
      const path = '/api/activity/work?workerId=w&timeout=5';
      const found = await client.call('GET', path, { expected: [200, 404] });
      return found.status === 200 && (found.body as WorkItem);
    });
    calls.push(
      {
        method: 'POST',
        path: `/api/activity/success/${token}`,
        body: 'done',
        expected: [202],
      },
      {
        method: 'POST',
        path: `/api/event/go/${name}`,
        body: name,
        key: `event-${name}`,
        expected: [202],
      },
      { method: 'PUT', path: `/api/workflow/${id}/suspend`, expected: [200, 400] },
      { method: 'PUT', path: `/api/workflow/${id}/resume`, expected: [200, 400] },
    );
  }
  return calls;
}
