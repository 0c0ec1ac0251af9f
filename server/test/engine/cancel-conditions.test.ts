/** CancelCondition: a step that is canceled because its condition is true, with everything inside it. */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from './support/define.js';
import { scenarios } from './support/scenario.js';
import {
  activity,
  box,
  delay,
  failing,
  foreach,
  fork,
  noOp,
  subWorkflow,
  waitFor,
  work,
  type StepMembers,
} from './support/steps.js';

/** A branch that sets `data.stop` when the test says so. */
const stopper: readonly StepSource[] = [work('stopper', { outputs: { stop: 'true' } })];
const whenStopped = { cancelCondition: 'data.stop' } as const;

scenarios('a cancel condition', (start) => {
  it('skips the step and its next steps if it is already true', () => {
    const driver = start(
      inOrder(
        noOp('a', { outputs: { stop: 'true' } }),
        noOp('b', { ...whenStopped, outputs: { ran: 'true' } }),
        noOp('after'),
      ),
    );
    expect(driver.history).toEqual(['a Complete', 'b Cancelled']);
    expect(driver.data).toEqual({ stop: true });
    expect(driver.status).toBe('Complete');
  });

  it('skips the step and its outputs but continues if it is already true with ProceedOnCancel', () => {
    const driver = start(
      inOrder(
        noOp('a', { outputs: { stop: 'true' } }),
        noOp('b', { ...whenStopped, proceedOnCancel: true, outputs: { ran: 'true' } }),
        noOp('after'),
      ),
    );
    expect(driver.history).toEqual(['a Complete', 'b Cancelled', 'after Complete']);
    expect(driver.data).toEqual({ stop: true });
  });

  it('follows the selected steps too with ProceedOnCancel', () => {
    const driver = start([
      noOp('a', {
        cancelCondition: 'true',
        proceedOnCancel: true,
        selectNextStep: { yes: '1 < 2', no: '1 > 2' },
      }),
      noOp('yes'),
      noOp('no'),
    ]);
    expect(driver.history).toEqual(['a Cancelled', 'yes Complete']);
  });

  it('accepts a constant', () => {
    expect(start([noOp('a', { cancelCondition: true })]).history).toEqual(['a Cancelled']);
    expect(start([noOp('a', { cancelCondition: false })]).history).toEqual(['a Complete']);
  });

  it('counts as false if its evaluation fails', () => {
    const driver = start([noOp('a', { cancelCondition: 'data.none.x' })]);
    expect(driver.history).toEqual(['a Complete']);
  });

  it('reads the item of its Foreach', () => {
    const driver = start([
      foreach(
        'each',
        '[1, 2, 3]',
        [waitFor('a', { cancelCondition: 'data.stop && context.Item !== 2' })],
        { nextStepId: 'stop' },
      ),
      noOp('stop'),
    ]);
    expect(driver.subscriptions).toHaveLength(3);
    const other = start([
      fork('f', 'each', 'stopper'),
      foreach('each', '[1, 2, 3]', [
        waitFor('a', { cancelCondition: 'data.stop && context.Item !== 2' }),
      ]),
      ...stopper,
    ]);
    other.endEffect(other.effect('stopper'));
    expect(other.open).toEqual(['each open', 'a event']);
    expect(other.pointer('a').item).toBe(2);
  });

  it.each<{ kind: string; step: (members: StepMembers) => StepSource }>([
    { kind: 'sleeping', step: (members) => delay('a', 60, members) },
    { kind: 'event', step: (members) => waitFor('a', members) },
    { kind: 'activity', step: (members) => activity('a', members) },
    { kind: 'effect', step: (members) => work('a', members) },
    { kind: 'child', step: (members) => subWorkflow('a', members) },
    { kind: 'open', step: (members) => box('a', [waitFor('x')], members) },
    {
      kind: 'compensating',
      step: (members) => failing('a', { compensateWith: [waitFor('x')], ...members }),
    },
  ])('cancels a step in any kind of wait when it becomes true: $kind', ({ kind, step }) => {
    for (const proceedOnCancel of [false, true]) {
      const driver = start([
        fork('f', 'a', 'stopper'),
        step({ ...whenStopped, proceedOnCancel, nextStepId: 'after' }),
        ...stopper,
        noOp('after'),
      ]);
      expect(driver.pointer('a').state.kind).toBe(kind);
      driver.endEffect(driver.effect('stopper'));
      expect(driver.history).toContain('a Cancelled');
      expect(driver.ran.includes('after')).toBe(proceedOnCancel);
      expect(driver.status).toBe('Complete');
      expect(driver.subscriptions).toEqual([]);
      expect(driver.activities).toEqual([]);
      expect(driver.effects).toEqual([]);
    }
  });

  it('cancels a step that is waiting for a retry', () => {
    const driver = start([
      fork('f', 'a', 'stopper'),
      failing('a', { ...whenStopped, retryInterval: 60, nextStepId: 'after' }),
      ...stopper,
      noOp('after'),
    ]);
    driver.advance(5);
    driver.endEffect(driver.effect('stopper'));
    expect(driver.history).toEqual([
      'f Complete',
      'a Failed',
      'stopper Complete',
      'a Cancelled #2',
    ]);
    // Its error was never resolved, and stays visible on the ended instance.
    expect(driver.instance).toMatchObject({ outcome: 'Succeeded', lastError: { stepId: 'a' } });
  });

  it('is not evaluated during the wait for a retry if it reads the attempt number', () => {
    const driver = start([
      failing('a', { cancelCondition: 'context.Step.Attempt > 2', retryInterval: 60 }),
    ]);
    driver.advance(60);
    expect(driver.history).toEqual(['a Failed', 'a Failed #2', 'a Cancelled #3']);
  });

  it('is evaluated again at the next attempt if it reads more than data', () => {
    const world = { late: false };
    const driver = start([failing('a', { cancelCondition: 'world.late', retryInterval: 60 })], {
      world,
    });
    world.late = true;
    driver.advance(59);
    driver.advance(1);
    expect(driver.history).toEqual(['a Failed', 'a Cancelled #2']);
  });

  it('cancels a container and the steps inside it once each', () => {
    const driver = start([
      fork('f', 'outer', 'stopper'),
      box('outer', [[waitFor('x', whenStopped)], [box('inner', [activity('y')], whenStopped)]], {
        ...whenStopped,
        nextStepId: 'after',
      }),
      ...stopper,
      noOp('after'),
    ]);
    driver.endEffect(driver.effect('stopper'));
    expect(driver.history.slice(2)).toEqual([
      'y Cancelled',
      'inner Cancelled',
      'x Cancelled',
      'outer Cancelled',
    ]);
    expect(driver.status).toBe('Complete');
  });

  it('cancels everything inside a container, innermost first', () => {
    const driver = start([
      fork('f', 'outer', 'stopper'),
      box('outer', [[box('inner', [activity('x')])], [waitFor('y')], [noOp('done')]], {
        ...whenStopped,
        nextStepId: 'after',
      }),
      ...stopper,
      noOp('after'),
    ]);
    driver.endEffect(driver.effect('stopper'));
    expect(driver.history.slice(-4)).toEqual([
      'x Cancelled',
      'y Cancelled',
      'inner Cancelled',
      'outer Cancelled',
    ]);
    expect(driver.status).toBe('Complete');
  });

  it('lets the container continue if it belongs to a step inside it', () => {
    const driver = start([
      fork('f', 'outer', 'stopper'),
      box('outer', inOrder(waitFor('x', whenStopped), noOp('skipped')), { nextStepId: 'after' }),
      ...stopper,
      noOp('after'),
    ]);
    driver.endEffect(driver.effect('stopper'));
    expect(driver.ran).toEqual(['f', 'stopper', 'outer', 'after']);
  });

  it('takes effect before the next step runs if a step inside the container makes it true', () => {
    const driver = start(
      inOrder(
        box('outer', inOrder(noOp('a', { outputs: { stop: 'true' } }), noOp('b')), whenStopped),
        noOp('after'),
      ),
    );
    expect(driver.history).toEqual(['a Complete', 'b Cancelled', 'outer Cancelled']);
  });

  it('ends a loop between two iterations', () => {
    const driver = start(
      [
        {
          id: 'while',
          stepType: 'While',
          inputs: { condition: 'true' },
          cancelCondition: 'data.n >= 3',
          proceedOnCancel: true,
          nextStepId: 'after',
          do: [noOp('turn', { outputs: { n: 'data.n + 1' } })],
        },
        noOp('after'),
      ],
      { data: { n: 0 } },
    );
    expect(driver.data).toEqual({ n: 3 });
    expect(driver.ran.at(-1)).toBe('after');
  });

  it('skips the remaining items of a sequential Foreach', () => {
    const driver = start(
      [
        foreach('each', '[1, 2, 3]', [noOp('a', { outputs: { n: 'data.n + 1' } })], {
          inputs: { runParallel: false },
          cancelCondition: 'data.n >= 2',
        }),
      ],
      { data: { n: 0 } },
    );
    expect(driver.data).toEqual({ n: 2 });
    expect(driver.status).toBe('Complete');
  });

  it('ends a background sequence, whose next steps have already run and do not run again', () => {
    for (const proceedOnCancel of [false, true]) {
      const driver = start(
        [
          {
            id: 'recur',
            stepType: 'Recur',
            inputs: { interval: 10 },
            cancelCondition: 'data.n >= 2',
            proceedOnCancel,
            nextStepId: 'after',
            do: [noOp('round', { outputs: { n: 'data.n + 1' } })],
          },
          noOp('after'),
        ],
        { data: { n: 0 } },
      );
      driver.advance(60);
      expect(driver.data).toEqual({ n: 2 });
      expect(driver.ran.filter((stepId) => stepId === 'after')).toHaveLength(1);
      expect(driver.status).toBe('Complete');
    }
  });

  it.each(['Recur', 'Schedule'])(
    'keeps a %s step in the foreground if it is already true',
    (stepType) => {
      const driver = start([
        {
          id: 'a',
          stepType,
          inputs: { interval: 10, background: true },
          cancelCondition: true,
          proceedOnCancel: true,
          nextStepId: 'after',
          do: [noOp('round')],
        },
        noOp('after'),
      ]);
      expect(driver.history).toEqual(['a Cancelled', 'after Complete']);
      expect(driver.status).toBe('Complete');
    },
  );

  it('cancels all open executions of the step, and later ones', () => {
    const driver = start([
      fork('f', 'each', 'stopper'),
      foreach('each', '[1, 2]', [waitFor('a', whenStopped)], { nextStepId: 'a' }),
      ...stopper,
    ]);
    driver.endEffect(driver.effect('stopper'));
    expect(driver.history.filter((line) => line === 'a Cancelled')).toHaveLength(3);
    expect(driver.status).toBe('Complete');
  });

  it('keeps the step from being recorded in its saga as completed', () => {
    const driver = start([
      box(
        'saga',
        inOrder(
          noOp('a', {
            cancelCondition: 'true',
            proceedOnCancel: true,
            compensateWith: [noOp('-a')],
          }),
          failing('b'),
        ),
        { saga: true },
      ),
    ]);
    expect(driver.ran).toEqual([]);
  });

  it('takes effect while the instance is suspended; the next steps wait for the resume', () => {
    const world = { fails: true };
    const driver = start(
      [
        fork('f', 'a', 'b'),
        waitFor('a', { cancelCondition: 'data.stop', proceedOnCancel: true, nextStepId: 'after' }),
        work('b', { outputs: { stop: 'true' }, nextStepId: 'c' }),
        noOp('c', { outputs: { c: 'world.fails ? data.none : 1' }, errorBehavior: 'Suspend' }),
        noOp('after'),
      ],
      { world },
    );
    driver.endEffect(driver.effect('b'));
    expect(driver.status).toBe('Suspended');
    expect(driver.subscriptions).toEqual([]);
    expect(driver.ran).not.toContain('after');
    world.fails = false;
    driver.resume();
    expect(driver.ran).toContain('after');
  });

  it('is not retried if the selectors then fail: the branch continues with the next step', () => {
    const driver = start(
      inOrder(
        noOp('a', {
          cancelCondition: 'true',
          proceedOnCancel: true,
          selectNextStep: { after: 'data.none' },
        }),
        noOp('after'),
      ),
    );
    expect(driver.history).toEqual(['a Failed', 'after Complete']);
    expect(driver.status).toBe('Complete');
  });
});
