/** Events before, during and after the wait; each taken once. */
import { expect } from 'vitest';
import { assign, reached, run, waitFor } from '../environment/steps.js';
import { scenarios } from '../environment/test-environment.js';

scenarios('an event', {
  'reaches an existing wait': async (environment) => {
    const handle = await run(environment, [waitFor('answer', 'asked')]);
    await reached(handle, 'answer');
    await environment.checkpoint();
    const { deliveredTo } = await environment.client.events.publish('asked', handle.id, {
      yes: true,
    });
    // A node that has just started may find the event itself, before it is delivered to the wait.
    expect(deliveredTo).toBeLessThanOrEqual(1);
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({ answer: { yes: true } });
  },

  'is kept for a later wait in the same run': async (environment) => {
    const handle = await run(environment, [
      waitFor('first', 'first', { NextStepId: 'second' }),
      waitFor('second', 'second'),
    ]);
    await reached(handle, 'first');
    await environment.client.events.publish('second', handle.id, 2);
    await environment.checkpoint();
    await environment.client.events.publish('first', handle.id, 1);
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({ first: 1, second: 2 });
  },

  'is not taken if it is older than the run': async (environment) => {
    const key = environment.unique('key');
    await environment.client.events.publish('shared', key, 'old');
    const step = {
      Id: 'shared',
      StepType: 'WaitFor',
      Inputs: { EventName: '"shared"', EventKey: `"${key}"` },
      Outputs: { taken: 'step.EventData' },
    };
    const handle = await run(environment, [step]);
    await reached(handle, 'shared');
    await environment.checkpoint();
    await environment.client.events.publish('shared', key, 'new');
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({ taken: 'new' });
  },

  'reaches every waiting run': async (environment) => {
    const key = environment.unique('key');
    const step = {
      Id: 'all',
      StepType: 'WaitFor',
      Inputs: { EventName: '"all"', EventKey: `"${key}"` },
      Outputs: { got: 'step.EventData' },
    };
    const handles = await Promise.all(Array.from({ length: 5 }, () => run(environment, [step])));
    for (const handle of handles) await reached(handle, 'all');
    await environment.checkpoint();
    const { deliveredTo } = await environment.client.events.publish('all', key, 'x');
    // As above: an instance that a new node has just loaded may find the event itself.
    expect(deliveredTo).toBeLessThanOrEqual(5);
    for (const handle of handles) {
      expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({ got: 'x' });
    }
  },

  'is taken once by a loop, in order': async (environment) => {
    const handle = await run(
      environment,
      [
        {
          Id: 'loop',
          StepType: 'While',
          Inputs: { Condition: 'len(data.seen) < 4' },
          Do: [
            [
              waitFor('one', 'one', { NextStepId: 'add' }),
              assign('add', { seen: 'data.seen + [data.one]' }),
            ],
          ],
        },
      ],
      { data: { seen: [] } },
    );
    await reached(handle, 'one');
    for (const value of [1, 2]) await environment.client.events.publish('one', handle.id, value);
    await environment.checkpoint();
    for (const value of [3, 4]) await environment.client.events.publish('one', handle.id, value);
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toMatchObject({ seen: [1, 2, 3, 4] });
  },

  'is not needed after the timeout of a wait': async (environment) => {
    const handle = await run(environment, [
      {
        Id: 'late',
        StepType: 'WaitFor',
        Inputs: { EventName: '"late"', EventKey: 'context.Workflow.Id', Timeout: 1 },
        Outputs: { late: 'step.EventData', timedOut: 'step.TimedOut' },
      },
    ]);
    await reached(handle, 'late');
    await environment.checkpoint();
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({ late: null, timedOut: true });
  },
});
