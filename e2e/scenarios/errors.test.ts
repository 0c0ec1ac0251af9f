/** Steps that fail: every error behavior, compensation and sagas. */
import { expect } from 'vitest';
import { activity, assign, reached, run, waitFor, type Step } from '../environment/steps.js';
import { scenarios } from '../environment/test-environment.js';

const fails = (id: string, more: object = {}): Step => assign(id, { never: 'data.missing' }, more);
const after = assign('after', { after: true });

scenarios('a step error', {
  'is retried until the step succeeds': async (environment) => {
    const handle = await run(environment, [
      assign(
        'flaky',
        { ok: '1 if context.Step.Attempt > 2 else data.missing' },
        { RetryInterval: 0.3 },
      ),
    ]);
    await reached(handle, 'flaky', 'Failed');
    await environment.checkpoint();
    expect(await handle.wait({ timeoutMs: 30_000 })).toMatchObject({
      status: 'Complete',
      lastError: null,
    });
  },

  'suspends the run, and the resume runs the step again': async (environment) => {
    const handle = await run(environment, [
      assign(
        'once',
        { ok: '1 if context.Step.Attempt > 1 else data.missing' },
        { ErrorBehavior: 'Suspend' },
      ),
    ]);
    await reached(handle, 'once', 'Failed');
    await environment.checkpoint();
    const suspended = await handle.get();
    expect(suspended.status).toBe('Suspended');
    expect(suspended.lastError?.message).toContain('missing');
    await handle.resume();
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({ ok: 1 });
  },

  'terminates the run with the error as its reason': async (environment) => {
    const handle = await run(environment, [
      waitFor('go', 'go', { NextStepId: 'bad' }),
      fails('bad', { ErrorBehavior: 'Terminate' }),
    ]);
    await reached(handle, 'go');
    await environment.checkpoint();
    await environment.client.events.publish('go', handle.id, 1);
    const ended = await handle.wait({ timeoutMs: 30_000 });
    expect(ended).toMatchObject({
      status: 'Terminated',
      lastError: { stepId: 'bad', type: 'AttributeError' },
    });
  },

  'compensates a step, then the run continues': async (environment) => {
    const undo = waitFor('undo', 'undo', { NextStepId: 'undone' });
    const handle = await run(environment, [
      fails('bad', {
        CompensateWith: [undo, assign('undone', { undone: true })],
        NextStepId: 'after',
      }),
      after,
    ]);
    await reached(handle, 'undo');
    await environment.checkpoint();
    await environment.client.events.publish('undo', handle.id, 1);
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({
      undo: 1,
      undone: true,
      after: true,
    });
  },

  'compensates a saga in reverse order, one step after another': async (environment) => {
    const name = environment.unique('undo');
    const reserve = (id: string, next: string): Step =>
      assign(
        id,
        { [id]: true },
        {
          NextStepId: next,
          CompensateWith: [
            activity(`un${id}`, name, { NextStepId: `noted-${id}` }),
            assign(`noted-${id}`, { undone: `data.undone + ["${id}"]` }),
          ],
        },
      );
    const handle = await run(
      environment,
      [
        {
          Id: 'saga',
          StepType: 'Sequence',
          Saga: true,
          Do: [[reserve('hotel', 'flight'), reserve('flight', 'pay'), fails('pay')]],
          CompensateWith: [assign('sorry', { undone: 'data.undone + ["saga"]' })],
          NextStepId: 'after',
        },
        after,
      ],
      { data: { undone: [] } },
    );
    for (const id of ['unflight', 'unhotel']) {
      await reached(handle, id);
      await environment.checkpoint();
      const work = await environment.client.activities.pull(name, { waitSeconds: 20 });
      if (work === null) throw new Error('expected a work item');
      expect(work.stepId).toBe(id);
      await environment.client.activities.succeed(work, null);
    }
    const { data } = await handle.wait({ timeoutMs: 30_000 });
    expect(data).toMatchObject({ undone: ['flight', 'hotel', 'saga'], after: true });
  },

  'cancels a waiting step when its condition becomes true': async (environment) => {
    const handle = await run(environment, [
      {
        Id: 'both',
        StepType: 'Parallel',
        Do: [
          [
            waitFor('never', 'never', {
              CancelCondition: 'data.get("stop") == True',
              ProceedOnCancel: true,
              NextStepId: 'canceled',
            }),
            assign('canceled', { canceled: true }),
          ],
          [waitFor('stop', 'stop')],
        ],
        NextStepId: 'after',
      },
      after,
    ]);
    await reached(handle, 'stop');
    await environment.checkpoint();
    await environment.client.events.publish('stop', handle.id, true);
    expect((await handle.wait({ timeoutMs: 30_000 })).data).toEqual({
      stop: true,
      canceled: true,
      after: true,
    });
  },
});
