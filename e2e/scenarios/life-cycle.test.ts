/** Suspend, resume and terminate, in every kind of wait. */
import { expect } from 'vitest';
import { activity, assign, reached, run, waitFor, type Step } from '../environment/steps.js';
import { scenarios, type TestEnvironment } from '../environment/test-environment.js';

const after = assign('after', { after: true });
const AFTER = { NextStepId: 'after' };

interface Wait {
  readonly steps: (environment: TestEnvironment) => readonly Step[];
  /** What ends the wait. */
  readonly answer: (
    environment: TestEnvironment,
    workflowId: string,
    name: string,
  ) => Promise<unknown>;
}

const WAITS: Readonly<Record<string, Wait>> = {
  'an event': {
    steps: () => [waitFor('wait', 'go', AFTER), after],
    answer: ({ client }, id) => client.events.publish('go', id, 1),
  },
  'an activity': {
    steps: (environment) => [activity('wait', environment.unique('held'), AFTER), after],
    answer: async ({ client }, _id, name) => {
      const work = await client.activities.pull(name, { waitSeconds: 20 });
      if (work === null) throw new Error('expected a work item');
      await client.activities.succeed(work, 1);
    },
  },
  time: {
    steps: () => [
      { Id: 'wait', StepType: 'Delay', Inputs: { Period: 'data.pause' }, ...AFTER },
      after,
    ],
    answer: () => Promise.resolve(),
  },
  'a retry': {
    steps: () => [
      assign(
        'wait',
        { x: '1 / (0 if data.get("fixed") is None else 1)' },
        { RetryInterval: 1, MaxRetries: 1, OnRetriesExhausted: 'Terminate', ...AFTER },
      ),
      after,
    ],
    answer: () => Promise.resolve(),
  },
};

scenarios('the life cycle of a run', {
  ...Object.fromEntries(
    Object.entries(WAITS).flatMap(([kind, wait]) => [
      [
        `is suspended and resumed while it is waiting for ${kind}`,
        async (environment: TestEnvironment) => {
          const steps = wait.steps(environment);
          const handle = await run(environment, steps, { data: { pause: 1 } });
          const step = await reached(handle, 'wait');
          expect((await handle.suspend()).status).toBe('Suspended');
          await environment.checkpoint();
          expect((await handle.get()).status).toBe('Suspended');
          await expect(handle.suspend()).rejects.toMatchObject({
            status: 400,
            code: 'status_conflict',
          });
          expect((await handle.resume()).status).toBe('Runnable');
          await wait.answer(environment, handle.id, step.waitsFor?.activityName ?? '');
          const { status } = await handle.wait({ timeoutMs: 30_000 });
          expect(status).toBe(kind === 'a retry' ? 'Terminated' : 'Complete');
        },
      ],
      [
        `is terminated while it is waiting for ${kind}`,
        async (environment: TestEnvironment) => {
          const handle = await run(environment, wait.steps(environment), { data: { pause: 60 } });
          await reached(handle, 'wait');
          await environment.checkpoint();
          const ended = await handle.terminate();
          expect(ended.status).toBe('Terminated');
          expect(ended.endTime).not.toBeNull();
          expect(await handle.terminate()).toMatchObject({
            status: 'Terminated',
            endTime: ended.endTime,
          });
          await reached(handle, 'wait', 'Cancelled', 'Failed');
        },
      ],
    ]),
  ),

  'keeps events that arrive while it is suspended': async (environment) => {
    const handle = await run(environment, [waitFor('wait', 'go', AFTER), after]);
    await reached(handle, 'wait');
    await handle.suspend();
    await environment.client.events.publish('go', handle.id, 'kept');
    await environment.checkpoint();
    expect((await handle.get()).status).toBe('Suspended');
    await handle.resume();
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({ wait: 'kept', after: true });
  },

  'is terminated with compensation of its completed steps, newest first': async (environment) => {
    const undo = (id: string) => [
      assign(`undo-${id}`, { undone: `data.get("undone", []) + ["${id}"]` }),
    ];
    const handle = await run(environment, [
      assign('first', { a: 1 }, { CompensateWith: undo('first'), NextStepId: 'second' }),
      assign('second', { b: 2 }, { CompensateWith: undo('second'), NextStepId: 'wait' }),
      waitFor('wait', 'never'),
    ]);
    await reached(handle, 'wait');
    await environment.checkpoint();
    await handle.terminate({ compensate: true });
    const ended = await handle.wait({ timeoutMs: 30_000 });
    expect(ended).toMatchObject({ status: 'Terminated', data: { undone: ['second', 'first'] } });
  },

  'hands out no work while it is suspended or after it was terminated': async (environment) => {
    const { activities } = environment.client;
    const name = environment.unique('never');
    const handle = await run(environment, [activity('wait', name)]);
    await reached(handle, 'wait');
    await handle.suspend();
    await environment.checkpoint();
    expect(await activities.pull(name)).toBeNull();
    await handle.resume();
    await handle.terminate();
    expect(await activities.pull(name, { waitSeconds: 1 })).toBeNull();
  },
});
