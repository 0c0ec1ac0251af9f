/** Failures: their causes, what is recorded, and what follows. */
import { describe, expect, it } from 'vitest';
import { itRuns } from './support/cases.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, failing, mark, step } from './support/steps.js';

/** Fails until its n-th attempt. */
const flaky = (Id: string, attempts: number, rest = {}) =>
  compute(
    Id,
    { v: `context.Step.Attempt if context.Step.Attempt >= ${attempts} else data.missing` },
    rest,
  );

everyStore('step errors', (at) => {
  describe('the message of a failure', () => {
    it.concurrent.for([
      ['an input', step('s', 'EmitLog', { Message: 'data.nothing' }), 'AttributeError', /nothing/],
      ['the body', step('s', 'Delay', { Period: '"so" + "on"' }), 'InputError', /Period/],
      ['an output', failing('s'), 'AttributeError', /missing_field/],
      [
        'a selector',
        mark('s', { SelectNextStep: { t: '1 / 0' } }),
        'ZeroDivisionError',
        /division/,
      ],
    ] as const)('names the cause in %s', async ([where, failed, type, message]) => {
      const { client } = at;
      const id = await client.defineAndStart({
        DefaultErrorBehavior: 'Suspend',
        Steps: [failed, mark('t')],
      });
      const suspended = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      expect(suspended.data, 'a failing step writes nothing').toEqual({});
      expect(suspended.lastError).toMatchObject({ stepId: 's', type, attempt: 1 });
      expect(suspended.lastError!.message).toMatch(message);
      expect(Date.parse(suspended.lastError!.time)).toBeGreaterThan(Date.now() - 60_000);
      if (where !== 'the body') expect(suspended.lastError!.traceback).toMatch(new RegExp(type));
      const record = (await client.steps(id)).find(({ status }) => status === 'Failed');
      expect(record).toMatchObject({ stepId: 's', attempt: 1, error: suspended.lastError });
    });

    it('names the failing output, and reverts the outputs before it', async () => {
      const { client } = at;
      const id = await client.defineAndStart({
        DefaultErrorBehavior: 'Suspend',
        Steps: [compute('s', { a: '1', b: 'data.a + data.none' })],
      });
      const { data, lastError } = await client.untilWorkflow(
        id,
        ({ status }) => status === 'Suspended',
      );
      expect(data).toEqual({});
      expect(lastError!.message).toMatch(/none/);
      expect(lastError!.message).toMatch(/data\.a \+ data\.none/);
    });
  });

  describe('Retry', () => {
    itRuns(at, [
      {
        does: 'runs the step again after the interval until it succeeds',
        steps: chain(flaky('s', 3, { ErrorBehavior: 'Retry', RetryInterval: 0.05 }), mark('after')),
        gives: { v: 3, trail: ['after'] },
        trace: ['s Failed', 's Failed', 's Complete', 'after Complete'],
      },
      {
        does: 'is the default, with the interval of the definition',
        steps: { DefaultErrorRetryInterval: '00:00:00.050', Steps: [flaky('s', 2)] },
        gives: { v: 2 },
      },
      {
        does: 'counts the attempts and waits longer each time with RetryBackoff',
        steps: [flaky('s', 3, { RetryInterval: 'PT0.05S', RetryBackoff: 3 })],
        gives: { v: 3 },
      },
      {
        does: 'terminates the run with OnRetriesExhausted Terminate',
        steps: [
          failing('s', { RetryInterval: 0.02, MaxRetries: 2, OnRetriesExhausted: 'Terminate' }),
        ],
        status: 'Terminated',
        trace: ['s Failed', 's Failed', 's Failed'],
      },
      {
        does: 'compensates with OnRetriesExhausted Compensate',
        steps: chain(
          failing('s', {
            ErrorBehavior: 'Retry',
            RetryInterval: 0.02,
            MaxRetries: 1,
            OnRetriesExhausted: 'Compensate',
            CompensateWith: [mark('undo')],
          }),
          mark('after'),
        ),
        gives: { trail: ['undo', 'after'] },
      },
    ]);

    it('waits for 60 seconds by default', async () => {
      const { client } = at;
      const id = await client.defineAndStart([failing('s')]);
      const retrying = await client.untilWaiting(id, 's');
      expect(retrying).toMatchObject({ attempt: 2, waitsFor: { kind: 'retry' } });
      const failed = (await client.steps(id))[0]!;
      expect(Date.parse(retrying.waitsFor!.until!) - Date.parse(failed.endTime!)).toBe(60_000);
      expect(await client.workflow(id)).toMatchObject({
        status: 'Runnable',
        lastError: { stepId: 's' },
      });
      await client.terminate(id);
    });

    it('suspends after MaxRetries, and a resume runs the step again', async () => {
      const { client } = at;
      const id = await client.defineAndStart([
        flaky('s', 4, { RetryInterval: 0.02, MaxRetries: 2 }),
      ]);
      const { lastError } = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      expect(lastError).toMatchObject({ attempt: 3 });
      expect((await client.control(id, 'resume')).status).toBe(200);
      expect(await client.ended(id)).toMatchObject({ data: { v: 4 }, lastError: null });
    });

    it('starts no attempt before the interval has passed', async () => {
      const { client } = at;
      const id = await client.defineAndStart([
        flaky('s', 3, { RetryInterval: 0.1, RetryBackoff: 2 }),
      ]);
      await client.ended(id);
      const [first, second, third] = await client.steps(id);
      expect(Date.parse(second!.startTime) - Date.parse(first!.endTime!)).toBeGreaterThanOrEqual(
        100,
      );
      expect(Date.parse(third!.startTime) - Date.parse(second!.endTime!)).toBeGreaterThanOrEqual(
        200,
      );
    });
  });

  describe('Suspend and Terminate', () => {
    it('suspends the run with Suspend, and runs the step again on resume', async () => {
      const { client } = at;
      const id = await client.defineAndStart(
        chain(flaky('s', 3, { ErrorBehavior: 'Suspend' }), mark('after')),
      );
      for (const attempt of [1, 2]) {
        const { lastError } = await client.untilWorkflow(
          id,
          ({ status }) => status === 'Suspended',
        );
        expect(lastError).toMatchObject({ attempt });
        await client.control(id, 'resume');
      }
      expect(await client.ended(id)).toMatchObject({
        data: { v: 3, trail: ['after'] },
        lastError: null,
      });
    });

    it('ends the run and everything in it with Terminate', async () => {
      const { client } = at;
      const startedAt = Date.now();
      const id = await client.defineAndStart([
        step(
          'both',
          'Parallel',
          {},
          {
            Do: [
              [step('wait', 'Delay', { Period: 3600 })],
              [failing('s', { ErrorBehavior: 'Terminate' })],
            ],
          },
        ),
      ]);
      const ended = await client.ended(id);
      expect(ended).toMatchObject({ status: 'Terminated', lastError: { stepId: 's' } });
      expect(Date.parse(ended.endTime!)).toBeGreaterThanOrEqual(startedAt);
      const open = (await client.steps(id)).filter(({ endTime }) => endTime === null);
      expect(open).toEqual([]);
    });

    it('accepts numbers, as in Conductor', async () => {
      const { client } = at;
      const id = await client.defineAndStart([failing('s', { ErrorBehavior: 2 })]);
      expect((await client.ended(id)).status).toBe('Terminated');
    });
  });

  describe('Compensate', () => {
    itRuns(at, [
      {
        does: 'runs the chain of the step, then continues with NextStepId',
        steps: chain(
          failing('s', { CompensateWith: chain(mark('undo1'), mark('undo2')) }),
          mark('after'),
        ),
        gives: { trail: ['undo1', 'undo2', 'after'] },
        trace: ['s Failed', 'undo1 Complete', 'undo2 Complete', 's Compensated', 'after Complete'],
      },
      {
        does: "lets the next step of the container run if it's inside one",
        steps: chain(
          step(
            'box',
            'Sequence',
            {},
            { Do: [chain(failing('s', { CompensateWith: [mark('undo')] }), mark('next'))] },
          ),
          mark('after'),
        ),
        gives: { trail: ['undo', 'next', 'after'] },
      },
      {
        does: 'is left to the nearest container that has CompensateWith',
        steps: chain(
          step(
            'box',
            'Sequence',
            {},
            {
              CompensateWith: [mark('undoBox')],
              Do: [chain(mark('a'), failing('s'), mark('never'))],
            },
          ),
          mark('after'),
        ),
        gives: { trail: ['a', 'undoBox', 'after'] },
      },
      {
        does: 'records the failure and continues if there is nothing to compensate',
        steps: chain(failing('s', { ErrorBehavior: 'Compensate' }), mark('after')),
        gives: { trail: ['after'] },
        trace: ['s Failed', 'after Complete'],
      },
      {
        does: "isn't the default if the step sets another ErrorBehavior",
        steps: chain(
          failing('s', { ErrorBehavior: 'Terminate', CompensateWith: [mark('undo')] }),
          mark('after'),
        ),
        gives: {},
        status: 'Terminated',
      },
      {
        does: 'compensates an item of a Foreach with that item',
        steps: chain(
          step(
            'each',
            'Foreach',
            { Collection: '[1, 2]', RunParallel: false },
            {
              Do: [
                [
                  failing('s', {
                    CompensateWith: [
                      compute('undo', { undone: 'data.get("undone", []) + [context.Item]' }),
                    ],
                  }),
                ],
              ],
            },
          ),
          mark('after'),
        ),
        gives: { undone: [1, 2], trail: ['after'] },
      },
    ]);
  });

  describe('the Timeout of a step', () => {
    itRuns(at, [
      {
        does: 'fails the step and cancels everything inside',
        steps: chain(
          step(
            'box',
            'Sequence',
            {},
            {
              Timeout: 0.1,
              CompensateWith: [mark('undo')],
              Do: [chain(step('wait', 'Delay', { Period: 3600 }), mark('never'))],
            },
          ),
          mark('after'),
        ),
        gives: { trail: ['undo', 'after'] },
      },
      {
        does: "doesn't affect a step that ends in time",
        steps: chain(step('wait', 'Delay', { Period: 0.02 }, { Timeout: 3600 }), mark('after')),
        gives: { trail: ['after'] },
      },
    ]);

    it('is recorded as the error of the step', async () => {
      const { client } = at;
      const id = await client.defineAndStart([
        step('wait', 'Delay', { Period: 3600 }, { Timeout: 'PT0.1S', ErrorBehavior: 'Suspend' }),
      ]);
      const { lastError } = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      expect(lastError).toMatchObject({ stepId: 'wait', type: 'Timeout' });
    });
  });
});
