/** Every failed attempt is logged and counted. */
import { expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { everyStore } from './support/every-store.js';
import { failing, mark, step } from './support/steps.js';

everyStore(
  'the log of failed attempts',
  (at) => {
    const linesOf = (workflowId: string) =>
      at.server.logLines.filter(
        (line) => line['workflowId'] === workflowId && line['code'] === 'step_attempt_failed',
      );

    it('contains step, run, cause and consequence of each failure', async () => {
      const { client } = at;
      const id = await client.defineAndStart([
        failing('s', { MaxRetries: 3, RetryInterval: 0.02 }),
      ]);
      const { definitionId, lastError } = await client.untilWorkflow(
        id,
        ({ status }) => status === 'Suspended',
      );
      const lines = await eventually('two lines are logged', () => {
        const found = linesOf(id);
        return found.length === 2 && found;
      });
      expect(lines).toMatchObject([
        { level: 'warn', attempt: 1, next: expect.stringMatching(/^retry at 20\d\d-/) as string },
        { level: 'error', attempt: 4, next: 'suspended', errorMessage: lastError!.message },
      ]);
      for (const line of lines) {
        expect(line).toMatchObject({ definitionId, stepId: 's', errorType: 'AttributeError' });
      }
      const { text } = await client.get('/metrics');
      const counter = (next: string): string =>
        `stepwright_failed_attempts_total{definition="${definitionId}",next="${next}"}`;
      expect(text).toContain(`${counter('retry')} 3`);
      expect(text).toContain(`${counter('suspended')} 1`);
    });

    it.each([
      { behavior: 'Terminate', next: 'terminated', level: 'error' },
      { behavior: 'Compensate', next: 'goes on', level: 'warn' },
    ])(
      'is at level $level if the step is not retried: $behavior',
      async ({ behavior, level, next }) => {
        const { client } = at;
        const Inputs = { Message: '"no"', Type: '"Refused"' };
        const id = await client.defineAndStart([
          step('f', 'Fail', Inputs, { ErrorBehavior: behavior }),
        ]);
        await client.ended(id);
        expect(linesOf(id)).toMatchObject([
          { level, stepId: 'f', errorType: 'Refused', errorMessage: 'no', next },
        ]);
      },
    );

    it('is at level warn if a saga compensates the failure, or a parent handles it', async () => {
      const { client } = at;
      const refused = step('f', 'Fail', { Message: '"no"' }, { ErrorBehavior: 'Terminate' });
      const child = await client.define([refused]);
      const sub = step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` });
      const undo = { CompensateWith: [mark('undo')] };
      const id = await client.defineAndStart([
        step('saga', 'Sequence', {}, { Saga: true, ...undo, Do: [[sub]] }),
      ]);
      await client.ended(id);
      expect(linesOf(id)).toMatchObject([{ level: 'warn', stepId: 'sub', next: 'compensating' }]);
      const ofChild = at.server.logLines.filter(
        (line) => line['definitionId'] === child && line['code'] === 'step_attempt_failed',
      );
      expect(ofChild).toMatchObject([{ level: 'warn', stepId: 'f', next: 'terminated' }]);
    });
  },
  { dialects: 'alternating' },
);
