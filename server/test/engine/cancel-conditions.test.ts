/** CancelCondition: a step that ends because its condition is true, with everything inside of it. */
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

/** A path that sets `data.stop` when the test says so. */
const stopper: readonly StepSource[] = [work('stopper', { outputs: { stop: 'true' } })];
const whenStopped = { cancelCondition: 'data.stop' } as const;

scenarios('a cancel condition', (start) => {
  it('that is true already lets the step not run at all, nor what follows it', () => {
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

  it('that is true already goes on with ProceedOnCancel, without the outputs of the step', () => {
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

  it('with ProceedOnCancel follows the selected steps too', () => {
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

  it('may be a constant', () => {
    expect(start([noOp('a', { cancelCondition: true })]).history).toEqual(['a Cancelled']);
    expect(start([noOp('a', { cancelCondition: false })]).history).toEqual(['a Complete']);
  });

  it('that fails counts as false', () => {
    const driver = start([noOp('a', { cancelCondition: 'data.none.x' })]);
    expect(driver.history).toEqual(['a Complete']);
  });

  it('sees the item of its Foreach', () => {
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
  ])('that becomes true later ends a step in whatever it waits for: $kind', ({ kind, step }) => {
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

  it('ends a step that waits for its next attempt', () => {
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
    // Its error was never made good, and stays for whoever looks at the ended instance.
    expect(driver.instance).toMatchObject({ outcome: 'Succeeded', lastError: { stepId: 'a' } });
  });

  it('that looks at the attempt does not wait for the next one', () => {
    const driver = start([
      failing('a', { cancelCondition: 'context.Step.Attempt > 2', retryInterval: 60 }),
    ]);
    driver.advance(60);
    expect(driver.history).toEqual(['a Failed', 'a Failed #2', 'a Cancelled #3']);
  });

  it('that looks at more than data is asked again when the next attempt begins', () => {
    const world = { late: false };
    const driver = start([failing('a', { cancelCondition: 'world.late', retryInterval: 60 })], {
      world,
    });
    world.late = true;
    driver.advance(59);
    driver.advance(1);
    expect(driver.history).toEqual(['a Failed', 'a Cancelled #2']);
  });

  it('that is true of a container and of steps inside of it ends each of them once', () => {
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

  it('ends everything inside of a container, innermost first', () => {
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

  it('of a step inside lets the container around it go on', () => {
    const driver = start([
      fork('f', 'outer', 'stopper'),
      box('outer', inOrder(waitFor('x', whenStopped), noOp('skipped')), { nextStepId: 'after' }),
      ...stopper,
      noOp('after'),
    ]);
    driver.endEffect(driver.effect('stopper'));
    expect(driver.ran).toEqual(['f', 'stopper', 'outer', 'after']);
  });

  it('acts before the next step runs, when a step inside the container makes it true', () => {
    const driver = start(
      inOrder(
        box('outer', inOrder(noOp('a', { outputs: { stop: 'true' } }), noOp('b')), whenStopped),
        noOp('after'),
      ),
    );
    expect(driver.history).toEqual(['a Complete', 'b Cancelled', 'outer Cancelled']);
  });

  it('ends a loop between two turns', () => {
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

  it('of a sequential Foreach takes the items that are left with it', () => {
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

  it('ends a background sequence, whose successors have run already and do not run again', () => {
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
    'that is true already lets no %s go to the background',
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

  it('ends all open executions of the step, and those that come later', () => {
    const driver = start([
      fork('f', 'each', 'stopper'),
      foreach('each', '[1, 2]', [waitFor('a', whenStopped)], { nextStepId: 'a' }),
      ...stopper,
    ]);
    driver.endEffect(driver.effect('stopper'));
    expect(driver.history.filter((line) => line === 'a Cancelled')).toHaveLength(3);
    expect(driver.status).toBe('Complete');
  });

  it('is not known to the saga around it as completed', () => {
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

  it('acts also while the instance is suspended; what follows waits for the resume', () => {
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

  it('whose selectors fail afterwards is not tried again: the path goes on with the next step', () => {
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
