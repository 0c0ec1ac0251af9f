/** Loops that only seem to wait: timers that are due at once, and calls that are never made. */
import { expect, it } from 'vitest';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { step } from './support/steps.js';

everyStore(
  'loops that only seem to wait',
  (at) => {
    it.each([
      [
        'a call that repeatedly fails before it is sent',
        [
          step(
            'a',
            'HttpRequest',
            { BaseUrl: '0' },
            { ErrorBehavior: 'Compensate', NextStepId: 'a' },
          ),
        ],
      ],
      [
        'the repeated start of a workflow that does not exist',
        [
          step(
            'a',
            'SubWorkflow',
            { DefinitionId: "'nothing'" },
            { ErrorBehavior: 'Compensate', NextStepId: 'a' },
          ),
        ],
      ],
      [
        'a Recur without an interval',
        [step('r', 'Recur', { Interval: 0 }, { Do: [[step('in', 'NoOp')]] })],
      ],
      [
        'a Delay of zero in a While',
        [step('w', 'While', { Condition: 'True' }, { Do: [[step('in', 'Delay', { Period: 0 })]] })],
      ],
      [
        'a Schedule of zero',
        [step('s', 'Schedule', { Interval: 0 }, { Do: [[step('in', 'NoOp')]], NextStepId: 's' })],
      ],
      [
        'a WaitFor that does not wait',
        [
          step(
            'w',
            'WaitFor',
            { EventName: "'e'", EventKey: "'k'", Timeout: 0 },
            { NextStepId: 'w' },
          ),
        ],
      ],
    ])('includes %s, which counts as a loop without a wait', async (_, steps) => {
      const { client } = at;
      const id = await client.defineAndStart(steps);
      const { lastError } = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      expect(lastError).toMatchObject({ type: 'StepLimit' });
    });
  },
  // Each iteration is a commit: a few of them are enough.
  { dialects: [CAMEL_JSON], environment: { steps_without_wait_max: '20' } },
);
