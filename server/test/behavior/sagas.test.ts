/** Sagas and cancellation. */
import { describe, expect, it } from 'vitest';
import { itRuns } from './support/cases.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, failing, mark, step } from './support/steps.js';

const undoable = (Id: string, rest = {}) => mark(Id, { CompensateWith: [mark(`-${Id}`)], ...rest });

const saga = (inside: ReturnType<typeof chain>, rest = {}) =>
  step(
    'saga',
    'Sequence',
    {},
    { Saga: true, CompensateWith: [mark('-saga')], Do: [inside], ...rest },
  );

everyStore('sagas', (at) => {
  describe('a saga', () => {
    itRuns(at, [
      {
        does: 'compensates the failed step, then the completed steps in reverse order, then itself, and continues',
        steps: chain(
          saga(
            chain(
              undoable('a'),
              undoable('b'),
              mark('plain'),
              failing('f', { CompensateWith: [mark('-f')] }),
              undoable('never'),
            ),
          ),
          mark('after'),
        ),
        gives: { trail: ['a', 'b', 'plain', '-f', '-b', '-a', '-saga', 'after'] },
      },
      {
        does: 'continues with every true SelectNextStep too, which reads the data that the compensation wrote',
        steps: [
          saga(chain(undoable('a'), failing('f')), {
            NextStepId: 'next',
            SelectNextStep: {
              undone: 'data.trail[-1] == "-saga"',
              done: 'data.trail[-1] != "-saga"',
              unknown: 'step is not None',
            },
          }),
          ...['next', 'undone', 'done', 'unknown'].map((id) => compute(id, { [id]: 'True' })),
        ],
        gives: { trail: ['a', '-a', '-saga'], next: true, undone: true },
      },
      {
        does: 'compensates nothing if nothing fails',
        steps: chain(saga(chain(undoable('a'), undoable('b'))), mark('after')),
        gives: { trail: ['a', 'b', 'after'] },
      },
      {
        does: 'compensates one step after another, each to its end',
        steps: [
          saga(
            chain(
              undoable('a'),
              mark('b', {
                CompensateWith: chain(
                  mark('-b1'),
                  step('slow', 'Delay', { Period: 0.1 }),
                  mark('-b2'),
                ),
              }),
              failing('f'),
            ),
          ),
        ],
        gives: { trail: ['a', 'b', '-b1', '-b2', '-a', '-saga'] },
      },
      {
        does: 'runs again as a whole with Retry',
        steps: chain(
          saga(
            chain(
              undoable('a'),
              compute('f', { v: '1 if data.trail.count("a") > 1 else data.missing' }),
            ),
            { ErrorBehavior: 'Retry', RetryInterval: 0.05 },
          ),
          mark('after'),
        ),
        gives: { trail: ['a', '-a', '-saga', 'a', 'after'], v: 1 },
      },
      {
        does: 'ends the run after the compensation with Terminate',
        steps: chain(
          saga(chain(undoable('a'), failing('f')), { ErrorBehavior: 'Terminate' }),
          mark('after'),
        ),
        gives: { trail: ['a', '-a', '-saga'] },
        status: 'Terminated',
      },
      {
        does: "lets the next step of the container run if it's inside one",
        steps: chain(
          step(
            'box',
            'If',
            { Condition: 'True' },
            { Do: [chain(saga(chain(undoable('a'), failing('f'))), mark('next'))] },
          ),
          mark('after'),
        ),
        gives: { trail: ['a', '-a', '-saga', 'next', 'after'] },
      },
      {
        does: 'compensates parallel branches in reverse order of completion, and cancels running steps',
        steps: chain(
          step(
            'saga',
            'Parallel',
            {},
            {
              Saga: true,
              Do: [
                chain(undoable('a'), step('waitA', 'Delay', { Period: 3600 }), undoable('neverA')),
                chain(step('waitB', 'Delay', { Period: 0.05 }), undoable('b')),
                chain(step('waitC', 'Delay', { Period: 0.25 }), failing('f')),
              ],
            },
          ),
          mark('after'),
        ),
        gives: { trail: ['a', 'b', '-b', '-a', 'after'] },
      },
    ]);

    it('suspends after the compensation with Suspend, and runs again once resumed', async () => {
      const { client } = at;
      const id = await client.defineAndStart(
        chain(
          saga(
            chain(
              undoable('a'),
              compute('f', { v: '1 if data.trail.count("a") > 1 else data.missing' }),
            ),
            { ErrorBehavior: 'Suspend' },
          ),
          mark('after'),
        ),
      );
      const suspended = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      expect(suspended.data['trail']).toEqual(['a', '-a', '-saga']);
      await client.control(id, 'resume');
      expect((await client.ended(id)).data['trail']).toEqual(['a', '-a', '-saga', 'a', 'after']);
    });

    it('compensates the work of workers through workers', async () => {
      const { client } = at;
      const book = fresh('book');
      const cancel = fresh('cancel');
      const pay = fresh('pay');
      const id = await client.defineAndStart(
        chain(
          saga(
            chain(
              step(
                'book',
                'Activity',
                { ActivityName: `"${book}"` },
                {
                  Outputs: { booking: 'step.Result' },
                  CompensateWith: [
                    step('cancel', 'Activity', {
                      ActivityName: `"${cancel}"`,
                      Parameters: 'data.booking',
                    }),
                  ],
                },
              ),
              step('pay', 'Activity', { ActivityName: `"${pay}"` }),
            ),
            { CompensateWith: [] },
          ),
          mark('after'),
        ),
      );
      await client.succeed((await client.work(book)).token, 'seat 7');
      await client.fail((await client.work(pay)).token, 'no money');
      const undo = await client.work(cancel);
      expect(undo.parameters).toBe('seat 7');
      // On MongoDB a worker can get the activity before the commit that adds it (rule S4).
      expect(await client.untilWorkflow(id, ({ lastError }) => lastError !== null)).toMatchObject({
        status: 'Runnable',
        lastError: { message: 'no money' },
      });
      await client.succeed(undo.token, null);
      expect((await client.ended(id)).data).toEqual({ booking: 'seat 7', trail: ['after'] });
    });
  });

  describe('CancelCondition', () => {
    const stopping = chain(
      step('wait', 'Delay', { Period: 0.1 }),
      compute('stop', { stop: 'True' }),
    );
    const cancelable = (rest = {}) =>
      step(
        'box',
        'Sequence',
        {},
        {
          CancelCondition: 'data.get("stop", False)',
          Do: [chain(mark('inside'), step('hang', 'Delay', { Period: 3600 }), mark('never'))],
          ...rest,
        },
      );

    itRuns(at, [
      {
        does: 'cancels an open step with everything inside; its next steps do not run',
        steps: chain(
          step('both', 'Parallel', {}, { Do: [chain(cancelable(), mark('next')), stopping] }),
          mark('after'),
        ),
        gives: { trail: ['inside', 'after'], stop: true },
      },
      {
        does: 'lets the next steps run with ProceedOnCancel',
        steps: chain(
          step(
            'both',
            'Parallel',
            {},
            { Do: [chain(cancelable({ ProceedOnCancel: true }), mark('next')), stopping] },
          ),
          mark('after'),
        ),
        gives: { trail: ['inside', 'next', 'after'], stop: true },
      },
      {
        does: "cancels the step before it starts if it's already true",
        steps: chain(
          step(
            'both',
            'Parallel',
            {},
            { Do: [chain(mark('s', { CancelCondition: 'True' }), mark('next'))] },
          ),
          mark('after'),
        ),
        gives: { trail: ['after'] },
      },
      {
        does: 'counts as false if it fails to evaluate',
        steps: chain(mark('s', { CancelCondition: 'data.none' }), mark('after')),
        gives: { trail: ['s', 'after'] },
      },
    ]);

    it('shows the canceled steps', async () => {
      const { client } = at;
      const id = await client.defineAndStart([
        step('both', 'Parallel', {}, { Do: [[cancelable()], stopping] }),
      ]);
      await client.ended(id);
      const trace = await client.trace(id);
      expect(trace).toContain('hang Cancelled');
      expect(trace).toContain('box Cancelled');
    });
  });
});
