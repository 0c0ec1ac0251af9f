/** CompensateWith outside sagas: a chain runs, then the branch continues. */
import { expect, it } from 'vitest';
import { inOrder } from './support/define.js';
import { scenarios } from './support/scenario.js';
import { box, delay, failing, foreach, noOp, trace, waitFor, work } from './support/steps.js';

const noTrail = { data: { trail: [] } };

scenarios('compensation', (start) => {
  it('runs the chain of the step, then continues with the next step', () => {
    const undo = inOrder(trace('undo1'), trace('undo2'));
    const driver = start(inOrder(failing('a', { compensateWith: undo }), trace('after')), noTrail);
    expect(driver.data['trail']).toEqual(['undo1', 'undo2', 'after']);
    expect(driver.history).toEqual([
      'a Failed',
      'undo1 Complete',
      'undo2 Complete',
      'a Compensated',
      'after Complete',
    ]);
    expect(driver.status).toBe('Complete');
  });

  it('continues with the next step and with the steps that SelectNextStep selects', () => {
    const driver = start([
      failing('a', {
        compensateWith: [noOp('undo')],
        nextStepId: 'next',
        selectNextStep: { selected: 'true' },
      }),
      noOp('next'),
      noOp('selected'),
    ]);
    expect(driver.ran).toEqual(['undo', 'next', 'selected']);
  });

  it('waits for a chain that contains a delay', () => {
    const driver = start(
      inOrder(failing('a', { compensateWith: [delay('undo', 10)] }), trace('after')),
      noTrail,
    );
    expect(driver.open).toEqual(['a compensating', 'undo sleeping']);
    expect(driver.instance.lastError?.stepId).toBe('a');
    driver.advance(10);
    expect(driver.data['trail']).toEqual(['after']);
    expect(driver.instance).toMatchObject({ outcome: 'Compensated', lastError: { stepId: 'a' } });
  });

  it('waits for every branch of a chain that forks', () => {
    const undo = [
      noOp('undo', { selectNextStep: { x: 'true', y: 'true' } }),
      delay('x', 1),
      delay('y', 2),
    ];
    const driver = start(inOrder(failing('a', { compensateWith: undo }), noOp('after')));
    driver.advance(1);
    expect(driver.ran).toEqual(['undo', 'x']);
    driver.advance(1);
    expect(driver.ran).toEqual(['undo', 'x', 'y', 'after']);
  });

  it('reads the item of the failed step', () => {
    const undo = noOp('undo', { outputs: { trail: '[...data.trail, context.Item]' } });
    const driver = start(
      [foreach('each', '[1, 2]', [failing('a', { compensateWith: [undo] })])],
      noTrail,
    );
    expect(driver.data['trail']).toEqual([1, 2]);
    expect(driver.status).toBe('Complete');
  });

  it('lets the container around the step complete and its next step run', () => {
    const inside = inOrder(failing('a', { compensateWith: [noOp('undo')] }), noOp('next'));
    const driver = start(inOrder(box('outer', [box('box', inside)]), noOp('after')));
    expect(driver.ran).toEqual(['undo', 'next', 'box', 'outer', 'after']);
  });

  it("runs the container's chain if the failed step has none, and continues after the container", () => {
    const driver = start(
      inOrder(
        box('box', [inOrder(noOp('done'), failing('a'), noOp('skipped')), [waitFor('other')]], {
          compensateWith: [noOp('undo')],
        }),
        noOp('after'),
      ),
    );
    expect(driver.history).toEqual([
      'done Complete',
      'a Failed',
      'other Cancelled',
      'undo Complete',
      'box Compensated',
      'after Complete',
    ]);
    expect(driver.subscriptions).toEqual([]);
  });

  it('is left to the nearest container that has CompensateWith', () => {
    const driver = start([
      box(
        'outer',
        inOrder(
          box('inner', [box('plain', [failing('a')])], { compensateWith: [noOp('undoInner')] }),
          noOp('next'),
        ),
        { compensateWith: [noOp('undoOuter')] },
      ),
    ]);
    expect(driver.ran).toEqual(['undoInner', 'next', 'outer']);
  });

  it.each([
    { errorBehavior: 'Suspend', status: 'Suspended' },
    { errorBehavior: 'Terminate', status: 'Terminated' },
    { errorBehavior: 'Compensate', status: 'Complete' },
  ])("applies the container's own ErrorBehavior afterwards: $errorBehavior", (expected) => {
    const { errorBehavior, status } = expected;
    const driver = start([
      box('box', [failing('a')], { compensateWith: [noOp('undo')], errorBehavior }),
    ]);
    expect(driver.ran).toEqual(['undo']);
    expect(driver.history.slice(0, 3)).toEqual(['a Failed', 'undo Complete', 'box Compensated']);
    expect(driver.status).toBe(status);
  });

  it('runs a container with Retry again from its start', () => {
    const driver = start([
      box('box', [work('a')], {
        compensateWith: [noOp('undo')],
        errorBehavior: 'Retry',
        retryInterval: 5,
      }),
    ]);
    driver.failEffect(driver.effect('a'));
    expect(driver.open).toEqual(['box sleeping']);
    driver.advance(5);
    driver.endEffect(driver.effect('a'));
    expect(driver.history).toEqual([
      'a Failed',
      'undo Complete',
      'box Compensated',
      'a Complete',
      'box Complete #2',
    ]);
  });

  it('cancels everything inside a timed-out container, then runs its chain', () => {
    const driver = start(
      inOrder(
        box('box', [waitFor('x')], { timeout: 10, compensateWith: [noOp('undo')] }),
        noOp('after'),
      ),
    );
    driver.advance(10);
    expect(driver.history).toEqual([
      'box Failed',
      'x Cancelled',
      'undo Complete',
      'box Compensated',
      'after Complete',
    ]);
  });

  it('lets the next item of a sequential Foreach run after one item failed', () => {
    const a = noOp('a', {
      outputs: { trail: '[...data.trail, context.Item[0]]' },
      compensateWith: [trace('undo')],
    });
    const driver = start(
      [foreach('each', "[null, ['x']]", [a], { inputs: { runParallel: false } })],
      noTrail,
    );
    expect(driver.data['trail']).toEqual(['undo', 'x']);
    expect(driver.status).toBe('Complete');
  });
});

scenarios('a failure inside a compensation', (start) => {
  it('is retried by default while the compensation waits', () => {
    const driver = start(inOrder(failing('a', { compensateWith: [work('undo')] }), noOp('after')), {
      defaultErrorRetryInterval: 5,
    });
    driver.failEffect(driver.effect('undo'));
    expect(driver.open).toEqual(['a compensating', 'undo sleeping']);
    driver.advance(5);
    driver.endEffect(driver.effect('undo'));
    expect(driver.history).toEqual([
      'a Failed',
      'undo Failed',
      'undo Complete #2',
      'a Compensated',
      'after Complete',
    ]);
  });

  it('gives way to the original error as lastError once it is resolved', () => {
    const driver = start([failing('a', { compensateWith: inOrder(work('undo'), waitFor('ok')) })]);
    driver.advance(1);
    driver.failEffect(driver.effect('undo'));
    expect(driver.instance.lastError?.stepId).toBe('undo');
    driver.advance(60);
    driver.endEffect(driver.effect('undo'));
    expect(driver.open).toEqual(['a compensating', 'ok event']);
    expect(driver.instance.lastError?.stepId).toBe('a');
  });

  it('leaves the error of the step inside the container on the record of the compensated container', () => {
    const undo = inOrder(work('undo'), waitFor('ok'));
    const driver = start([box('box', [failing('a')], { compensateWith: undo })]);
    driver.advance(1);
    driver.failEffect(driver.effect('undo'));
    driver.advance(60);
    driver.endEffect(driver.effect('undo'));
    expect(driver.instance.lastError?.stepId).toBe('a');
    driver.publish('ok', 'key');
    expect(driver.records.at(-1)).toMatchObject({
      stepId: 'box',
      status: 'Compensated',
      error: { stepId: 'a' },
    });
  });

  it('does not start the compensation that it belongs to', () => {
    const driver = start(
      inOrder(
        failing('a', { compensateWith: [failing('undo', { errorBehavior: 'Compensate' })] }),
        noOp('after'),
      ),
    );
    expect(driver.history).toEqual(['a Failed', 'undo Failed', 'a Compensated', 'after Complete']);
  });

  it('is compensated by the CompensateWith of the failed step', () => {
    const undo = inOrder(failing('undo', { compensateWith: [noOp('undoUndo')] }), noOp('rest'));
    const driver = start(inOrder(failing('a', { compensateWith: undo }), noOp('after')));
    expect(driver.ran).toEqual(['undoUndo', 'rest', 'after']);
  });

  it.each([
    { errorBehavior: 'Suspend', status: 'Suspended' },
    { errorBehavior: 'Terminate', status: 'Terminated' },
  ])('applies the ErrorBehavior of the failed step to the instance: $errorBehavior', (expected) => {
    const { errorBehavior, status } = expected;
    const driver = start([failing('a', { compensateWith: [failing('undo', { errorBehavior })] })]);
    expect(driver.status).toBe(status);
    expect(driver.instance.lastError?.stepId).toBe('undo');
  });

  it('lets the compensation continue at the resume after it suspended the instance', () => {
    const driver = start(
      inOrder(
        failing('a', { compensateWith: [work('undo', { errorBehavior: 'Suspend' })] }),
        noOp('after'),
      ),
    );
    driver.failEffect(driver.effect('undo'));
    expect(driver.status).toBe('Suspended');
    driver.resume();
    driver.endEffect(driver.effect('undo'));
    expect(driver.ran).toEqual(['undo', 'after']);
  });
});

scenarios('the continuation after a permanently failed step', (start) => {
  const selects = {
    selectNextStep: {
      yes: 'data.paid === false',
      no: 'data.paid === true',
      ofStep: "typeof step === 'object'",
      broken: 'step.Result.ok',
    },
    nextStepId: 'next',
  };
  const followers = [noOp('next'), noOp('yes'), noOp('no'), noOp('ofStep'), noOp('broken')];
  const options = { data: { paid: false } };
  const chosen = ['next', 'yes'];

  it('follows NextStepId and every true SelectNextStep, which cannot read `step`', () => {
    const driver = start([failing('a', { ...undo('-a'), ...selects }), ...followers], options);
    expect(driver.ran).toEqual(['-a', ...chosen]);
    expect(driver.instance.outcome).toBe('Compensated');
  });

  it('works the same for a saga, whose selectors read the data that its compensation wrote', () => {
    const pays = { outputs: { paid: 'true' } };
    const unpays = { compensateWith: [noOp('refund', { outputs: { paid: 'false' } })] };
    const inside = inOrder(noOp('pay', { ...pays, ...unpays }), failing('ship'));
    const driver = start([box('saga', inside, { saga: true, ...selects }), ...followers], options);
    expect(driver.ran).toEqual(['pay', 'refund', ...chosen]);
  });

  it('works the same inside a container and in a loop', () => {
    const inside = [failing('a', { ...undo('-a'), ...selects }), ...followers];
    expect(start([box('box', inside)], options).ran).toEqual(['-a', ...chosen, 'box']);
    const loop = { id: 'loop', stepType: 'Foreach', inputs: { collection: '[1, 2]' }, do: inside };
    expect(start([loop], options).ran).toEqual([
      ...['-a', ...chosen, '-a', ...chosen].toSorted(
        (a, b) => Number(b === '-a') - Number(a === '-a'),
      ),
      'loop',
    ]);
  });

  it('waits while the instance is suspended, whatever the cancel condition says', () => {
    const driver = start(
      [
        failing('a', {
          compensateWith: [delay('-a', 5)],
          cancelCondition: 'data.stop',
          ...selects,
        }),
        ...followers,
      ],
      options,
    );
    driver.suspend();
    driver.advance(5);
    driver.resume();
    expect(driver.ran).toEqual(['-a', ...chosen]);
  });
});

function undo(id: string): { compensateWith: ReturnType<typeof noOp>[] } {
  return { compensateWith: [noOp(id)] };
}
