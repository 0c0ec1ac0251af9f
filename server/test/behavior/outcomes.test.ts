/** How a run ended, which error it has then, and lists by outcome and by parent. */
import { describe, expect, it } from 'vitest';
import type { WorkflowOutcome, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import type { Client } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, failing, mark, step } from './support/steps.js';

const undone = failing('bad', { CompensateWith: [mark('undo')] });

const idsOf = async (client: Client, query: string): Promise<readonly string[]> => {
  const { body } = await client.get<WorkflowPage>(`/api/workflow?${query}`);
  return body.items.map(({ workflowId }) => workflowId);
};

everyStore('the outcome of a run', (at) => {
  it.each([
    {
      outcome: 'Succeeded',
      steps: [mark('a')],
      shows: { status: 'Complete', lastError: null, failureTime: null },
      says: 'completed',
    },
    {
      outcome: 'Compensated',
      steps: chain(undone, mark('after')),
      shows: { status: 'Complete', lastError: { stepId: 'bad' } },
      says: 'the failure was compensated: step bad failed',
    },
    {
      outcome: 'Compensated',
      steps: [
        step('saga', 'Sequence', {}, { Saga: true, ErrorBehavior: 'Terminate', Do: [[undone]] }),
      ],
      shows: { status: 'Terminated', lastError: { stepId: 'bad' } },
      says: 'and its completed steps were compensated',
    },
    {
      outcome: 'Failed',
      steps: chain(undone, failing('worse', { ErrorBehavior: 'Terminate' })),
      shows: { status: 'Terminated', lastError: { stepId: 'worse' } },
      says: 'because step worse failed',
    },
  ] as const)('is $outcome: $says', async ({ outcome, shows, says, steps }) => {
    const { client } = at;
    const ended = await client.run([...steps]);
    expect(ended).toMatchObject({ ...shows, outcome });
    expect(ended.failureTime).toBe(ended.lastError === null ? null : ended.lastError.time);
    const explain = `/api/workflow/${ended.workflowId}/explain`;
    const { body } = await client.get<{ outcome: string; summary: string }>(explain);
    expect(body.outcome).toBe(outcome);
    expect(body.summary).toContain(says);
  });

  it('is Terminated as soon as a client ends the run, which keeps its last error', async () => {
    const { client } = at;
    const id = await client.defineAndStart([failing('bad', { RetryInterval: 3600 })]);
    const open = await client.untilWorkflow(id, ({ lastError }) => lastError !== null);
    expect(open.outcome).toBeNull();
    const { body } = await client.terminate(id);
    expect(body).toMatchObject({ outcome: 'Terminated', lastError: { stepId: 'bad' } });
    await client.untilStep(id, 'bad', ({ endTime }) => endTime !== null);
    expect(await client.workflow(id)).toMatchObject({
      outcome: 'Terminated',
      lastError: { stepId: 'bad' },
      failureTime: open.failureTime,
    });
  });

  it('is a filter of lists', async () => {
    const { client } = at;
    const define = (steps: Parameters<Client['define']>[0]) => client.define(steps);
    const ended: Partial<Record<WorkflowOutcome, string>> = {};
    for (const steps of [[mark('a')], [undone], [failing('a', { ErrorBehavior: 'Terminate' })]]) {
      const { definitionId, outcome, workflowId } = await client.run(steps);
      ended[outcome!] = workflowId;
      expect(await idsOf(client, `definitionId=${definitionId}&outcome=${outcome}`)).toEqual([
        workflowId,
      ]);
      expect(await idsOf(client, `definitionId=${definitionId}&outcome=Terminated`)).toEqual([]);
      expect(await idsOf(client, `outcome=${outcome}&status=Runnable`)).toEqual([]);
    }
    expect(Object.keys(ended)).toEqual(['Succeeded', 'Compensated', 'Failed']);
    const open = await client.start(await define([step('wait', 'Delay', { Period: 3600 })]));
    await client.terminate(open);
    expect(await idsOf(client, 'outcome=Terminated&limit=1')).toEqual([open]);
    expect((await client.get('/api/workflow?outcome=Sunny')).status).toBe(400);
  });

  it('is counted in the metrics', async () => {
    const { client } = at;
    const { definitionId } = await client.run([undone]);
    const { text } = await client.get('/metrics');
    const counts = text
      .split('\n')
      .filter((line) => line.startsWith('stepwright_workflows_ended_total{'))
      .filter((line) => line.includes(`,definition="${definitionId}"} `))
      .map((line) => line.replace(/^.*status="(\w+)",outcome="(\w+)",.* (\d+)$/, '$1 $2 $3'));
    expect(counts.toSorted()).toEqual([
      'Complete Compensated 1',
      'Complete Succeeded 0',
      'Terminated Compensated 0',
      'Terminated Failed 0',
      'Terminated Terminated 0',
    ]);
  });
});

everyStore('lists of children', (at) => {
  const startsChild = (child: string) => step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` });

  describe('the filter parent', () => {
    it('selects the children of one run, the runs without a parent, or all runs', async () => {
      const { client } = at;
      const leaf = await client.define([compute('a', { x: '1' })]);
      const middle = await client.define([startsChild(leaf)]);
      const top = await client.run([startsChild(middle)]);
      const [middleId] = await idsOf(client, `parent=${top.workflowId}`);
      expect(await client.workflow(middleId!)).toMatchObject({
        definitionId: middle,
        parent: { workflowId: top.workflowId },
      });
      const [leafId] = await idsOf(client, `parent=${middleId}`);
      expect(await idsOf(client, `parent=${leafId}`)).toEqual([]);
      expect(await idsOf(client, `definitionId=${leaf}`)).toEqual([leafId]);
      expect(await idsOf(client, `definitionId=${leaf}&parent=none`)).toEqual([]);
      expect(await idsOf(client, `definitionId=${top.definitionId}&parent=none`)).toEqual([
        top.workflowId,
      ]);
      const all = await idsOf(client, 'limit=3');
      expect(all).toHaveLength(3);
      expect(all).toEqual(expect.arrayContaining([top.workflowId, middleId, leafId]));
      expect(await idsOf(client, 'parent=none&limit=1')).toEqual([top.workflowId]);
      const { body } = await client.get<WorkflowPage>('/api/workflow?limit=3');
      expect(new Map(body.items.map((item) => [item.workflowId, item.parent]))).toEqual(
        new Map([
          [top.workflowId, null],
          [middleId, { workflowId: top.workflowId }],
          [leafId, { workflowId: middleId }],
        ]),
      );
    });
  });
});
