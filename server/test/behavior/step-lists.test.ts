/** The steps of a loop, newest first and one step at a time. */
import { expect, it } from 'vitest';
import type { StepExecutionPage } from '../../src/api/wire/models/step-execution.js';
import { everyStore } from './support/every-store.js';
import { compute, step } from './support/steps.js';

const TURNS = 60;

everyStore('lists of steps', (at) => {
  it('starts at either end, also for one step', async () => {
    const { client } = at;
    const { workflowId } = await client.run(
      [
        step(
          'loop',
          'While',
          { Condition: `data.n < ${TURNS}` },
          {
            Do: [
              [compute('turn', { n: 'data.n + 1' }, { NextStepId: 'rest' }), compute('rest', {})],
            ],
          },
        ),
      ],
      { n: 0 },
    );
    const list = async (query: string): Promise<StepExecutionPage> => {
      const path = `/api/workflow/${workflowId}/steps?limit=500${query}`;
      const answer = await client.get<StepExecutionPage>(path);
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    const { items } = await list('');
    expect(items).toHaveLength(2 * TURNS + 1);
    expect((await list('&order=desc')).items).toEqual(items.toReversed());
    const turns = items.filter(({ stepId }) => stepId === 'turn');
    expect(turns).toHaveLength(TURNS);
    expect((await list('&stepId=turn')).items).toEqual(turns);
    expect(await list('&stepId=nothing')).toEqual({ items: [], nextCursor: null });
    const newest = await list('&order=desc&stepId=turn');
    expect(newest.items[0]).toMatchObject({ outputs: { n: TURNS } });
  });

  it('rejects an unknown order', async () => {
    const { client } = at;
    const { workflowId } = await client.run([compute('one', {})]);
    const answer = await client.get(`/api/workflow/${workflowId}/steps?order=sideways`);
    expect(answer.status).toBe(400);
  });
});
