/** A definition with every member, posted in every spelling of its names. */
import { expect, it } from 'vitest';
import { fresh } from './support/client.js';
import { ALL_DIALECTS } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { compute, mark, step } from './support/steps.js';

everyStore(
  'a definition that uses every member',
  (at) => {
    it('behaves the same in every spelling', async () => {
      const { client } = at;
      const id = fresh('everything');
      const posted = await client.postDefinition<{ version: number; warnings: unknown[] }>({
        Id: id,
        Version: 99,
        Description: 'All members',
        DefaultErrorBehavior: 'Suspend',
        DefaultErrorRetryInterval: '00:00:01',
        Steps: [
          step(
            'Each',
            'Foreach',
            { Collection: 'data.Items', RunParallel: false },
            {
              Name: 'For each item',
              NextStepId: 'Choose',
              CancelCondition: 'False',
              ProceedOnCancel: true,
              Saga: true,
              Timeout: 60,
              RetryInterval: '00:00:01',
              MaxRetries: 1,
              RetryBackoff: 2,
              RetryJitter: 0.5,
              OnRetriesExhausted: 'Terminate',
              ErrorBehavior: 'Retry',
              CompensateWith: [mark('Undo')],
              Do: [
                [
                  compute('Sum', {
                    Total: 'data.get("Total", 0) + context.Item',
                    'With.Dot': 'context.Index',
                  }),
                ],
              ],
            },
          ),
          {
            Id: 'Choose',
            StepType: 'Decide',
            SelectNextStep: { Wait: 'data.Total == 6', Never: 'False' },
          },
          step(
            'Wait',
            'WaitFor',
            { EventName: '"nothing"', EventKey: '"k"', Timeout: 0.02 },
            { Outputs: { Late: 'step.TimedOut' } },
          ),
          mark('Never'),
        ],
      });
      expect(posted.status, posted.text).toBe(201);
      // `Never` is selected by a constant on purpose.
      expect(posted.body).toMatchObject({
        version: 1,
        warnings: [{ code: 'constant_condition' }],
      });
      const { data, status } = await client.ended(await client.start(id, { Items: [1, 2, 3] }));
      expect({ data, status }).toEqual({
        status: 'Complete',
        data: { Items: [1, 2, 3], Total: 6, 'With.Dot': 2, Late: true },
      });

      const { body } = await client.get<{ steps: Record<string, unknown>[] }>(
        `/api/definition/${id}`,
      );
      expect(body).toMatchObject({
        id,
        version: 1,
        description: 'All members',
        defaultErrorBehavior: 'Suspend',
      });
      expect(body.steps[0]).toMatchObject({
        id: 'Each',
        stepType: 'Foreach',
        name: 'For each item',
        nextStepId: 'Choose',
        proceedOnCancel: true,
        saga: true,
        maxRetries: 1,
        compensateWith: [{ id: 'Undo' }],
        do: [
          [
            {
              id: 'Sum',
              outputs: {
                Total: 'data.get("Total", 0) + context.Item',
                'With.Dot': 'context.Index',
              },
            },
          ],
        ],
      });
      expect(body.steps[1]).toMatchObject({
        selectNextStep: { Wait: 'data.Total == 6', Never: 'False' },
      });
    });
  },
  { dialects: ALL_DIALECTS },
);
