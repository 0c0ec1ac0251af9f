import { describe, expect, it } from 'vitest';
import { readHistory } from './support/checker.js';
import { assign, definition } from './support/definitions.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, Page, StepRow, WorkItem } from './support/wire.js';

const NODES = 3;
const BRANCHES = 10;
const TURNS = 8;

const JOIN = definition('join', [
  {
    Id: 'fork',
    StepType: 'Parallel',
    Do: Array.from({ length: BRANCHES }, (_, at) => [
      {
        Id: `branch-${at}`,
        StepType: 'Activity',
        Inputs: { ActivityName: 'data.name', Parameters: { '@branch': `${at}` } },
        Outputs: { [`result${at}`]: 'step.Result' },
      },
    ]),
  },
  assign('after', { joins: 'data.get("joins", 0) + 1' }),
]);

const LOOP = definition('loop', [
  assign('zero', { turns: '0', taken: '[]' }),
  {
    Id: 'loop',
    StepType: 'While',
    Inputs: { Condition: `data.turns < ${TURNS}` },
    Do: [
      [
        {
          Id: 'wait',
          StepType: 'WaitFor',
          Inputs: { EventName: '"go"', EventKey: 'data.name' },
          Outputs: { taken: 'data.taken + [step.EventData]' },
          NextStepId: 'turn',
        },
        assign('turn', { turns: 'data.turns + 1' }),
      ],
    ],
  },
  assign('end', { loops: 'data.get("loops", 0) + 1' }),
]);

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-06 a race in a join or loop on $store',
  ({ store }) => {
    it('continues a join once, whichever branch ends last', async () => {
      await withFleet({ count: NODES, store }, async ({ fleet }) => {
        // Each worker calls a node of its own choice, so that all nodes take part in every join.
        const clients = fleet.urls.map((url) => new PersistentClient(() => [url]));
        const callAt = async (
          at: number,
          ...call: Parameters<PersistentClient['call']>
        ): Promise<unknown> => (await clients[at % NODES]?.call(...call))?.body;
        await callAt(0, 'POST', '/api/definition', { body: JOIN });
        const rounds = scaled(10);
        for (let round = 0; round < rounds; round += 1) {
          const name = `join-${round}`;
          const start = await callAt(round, 'POST', '/api/workflow/join', { body: { name } });
          const { workflowId } = start as Instance;
          const take = async (worker: number): Promise<WorkItem> =>
            (await callAt(worker, 'GET', `/api/activity/${name}?workerId=${worker}&timeout=60`, {
              deadlineMs: 120_000,
            })) as WorkItem;
          const workers = Array.from({ length: BRANCHES }, (_, worker) => worker);
          const items = await Promise.all(workers.map(take));
          await Promise.all(
            items.map(({ token }, worker) =>
              callAt(worker, 'POST', `/api/activity/success/${token}`, { body: token }),
            ),
          );
          const ended = (await callAt(round + 1, 'GET', `/api/workflow/${workflowId}?wait=60`, {
            deadlineMs: 120_000,
          })) as Instance;
          expect(ended.status).toBe('Complete');
          expect(ended.data['joins']).toBe(1);
          const results = workers.map((at) => ended.data[`result${at}`]);
          expect(new Set(results)).toEqual(new Set(items.map(({ token }) => token)));
          const rows = await readHistory(
            workflowId,
            async (path) => (await callAt(0, 'GET', path)) as Page<StepRow>,
          );
          const expected = ['after', 'fork', ...workers.map((at) => `branch-${at}`)];
          expect(rows.map(({ stepId }) => stepId).sort()).toEqual(expected.sort());
        }
        expect(fleet.faults).toEqual([]);
        console.log(`T-06 join ${store}`, {
          joins: rounds,
          commitsMadeAgain: await fleet.metric('stepwright_commits_lost_total'),
        });
      });
    });

    it('runs one loop iteration after the other, in whatever order its events arrive', async () => {
      await withFleet({ count: NODES, store }, async ({ fleet }) => {
        const client = new PersistentClient(() => fleet.urls);
        await client.call('POST', '/api/definition', { body: LOOP });
        const values = Array.from({ length: TURNS }, (_, value) => value);
        const play = async (name: string): Promise<void> => {
          const { body } = await client.call('POST', '/api/workflow/loop', { body: { name } });
          const { workflowId } = body as Instance;
          const publish = (value: number): Promise<unknown> =>
            client.call('POST', `/api/event/go/${name}`, {
              body: value,
              key: `${name}-${value}`,
            });
          await Promise.all(values.map(publish));
          const { data, status } = (
            await client.call('GET', `/api/workflow/${workflowId}?wait=60`, { deadlineMs: 120_000 })
          ).body as Instance;
          expect(status).toBe('Complete');
          expect({ turns: data['turns'], loops: data['loops'] }).toEqual({
            turns: TURNS,
            loops: 1,
          });
          expect([...(data['taken'] as number[])].sort((a, b) => a - b)).toEqual(values);
          const rows = await readHistory(
            workflowId,
            async (path) => (await client.call('GET', path)).body as Page<StepRow>,
          );
          const inside = rows
            .filter(({ stepId }) => stepId === 'wait' || stepId === 'turn')
            .sort((a, b) => a.executionId - b.executionId);
          expect(inside.map(({ stepId }) => stepId)).toEqual(
            values.flatMap(() => ['wait', 'turn']),
          );
          for (const [at, { startTime }] of inside.entries()) {
            const before = inside[at - 1];
            // ISO timestamps with the same zone and length sort like strings.
            if (before !== undefined) expect(startTime >= (before.endTime ?? '')).toBe(true);
          }
        };
        const loops = scaled(12);
        await Promise.all(Array.from({ length: loops }, (_, at) => play(`loop-${at}`)));
        expect(fleet.faults).toEqual([]);
        console.log(`T-06 loop ${store}`, {
          loops,
          commitsMadeAgain: await fleet.metric('stepwright_commits_lost_total'),
        });
      });
    });
  },
);
