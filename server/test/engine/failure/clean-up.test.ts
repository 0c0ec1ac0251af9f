/** Termination with compensation: compensates the completed steps, newest first, then terminates the instance. */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from '../support/define.js';
import type { EngineDriver } from '../support/engine-driver.js';
import { scenarios } from '../support/scenario.js';
import {
  activity,
  box,
  delay,
  failing,
  undoable,
  foreach,
  noOp,
  subWorkflow,
  trace,
  waitFor,
  work,
  type StepMembers,
} from '../support/steps.js';

const noTrail = { data: { trail: [] } };

function ended(driver: EngineDriver): void {
  const { endTime, outcome, status } = driver.instance;
  expect({ status, outcome }).toEqual({ status: 'Terminated', outcome: 'Terminated' });
  expect(endTime).toBe(driver.now);
  expect(driver.open).toEqual([]);
}

scenarios('a clean-up', (start) => {
  it('compensates completed steps, newest first, and terminates the instance', () => {
    const steps = inOrder(undoable('a'), noOp('plain'), undoable('b'), waitFor('w'), undoable('c'));
    const driver = start(steps, noTrail);
    driver.cleanUp();
    expect(driver.data['trail']).toEqual(['-b', '-a']);
    expect(driver.history.slice(-3)).toEqual(['w Cancelled', '-b Complete', '-a Complete']);
    ended(driver);
  });

  it('ends an instance with nothing to compensate at once', () => {
    const driver = start([waitFor('w')]);
    driver.cleanUp();
    expect(driver.history).toEqual(['w Cancelled']);
    ended(driver);
  });

  it('cancels waiting steps first, and waits for running effects', () => {
    const paths = [[waitFor('e')], [activity('a')], [work('x')], [delay('d', 5)]];
    const undo = noOp('u', { compensateWith: [waitFor('undoing')] });
    const driver = start(inOrder(undo, box('all', paths)), noTrail);
    driver.cleanUp();
    expect(driver.open).toEqual(['all open', 'x effect']);
    expect(driver.activities).toEqual([]);
    expect(driver.subscriptions).toEqual([]);
    driver.endEffect(driver.effect('x'));
    expect(driver.open).toEqual(['undoing event']);
    expect(driver.effects).toEqual([]);
    expect(driver.subscriptions).toHaveLength(1);
    driver.publish('undoing', 'key');
    ended(driver);
  });

  it('compensates steps that have begun, the last one to end first', () => {
    const steps = [
      [work('running', { compensateWith: [trace('-running')] })],
      [failing('outputs', { errorBehavior: 'Retry', compensateWith: [trace('-outputs')] })],
      [work('body', { errorBehavior: 'Retry', compensateWith: [trace('-body')] })],
    ];
    const driver = start([box('all', steps)], noTrail);
    driver.failEffect(driver.effect('body'));
    driver.cleanUp();
    expect(driver.data['trail']).toEqual([]);
    driver.endEffect(driver.effect('running'));
    expect(driver.data['trail']).toEqual(['-running', '-outputs', '-body']);
    ended(driver);
  });

  it('compensates open sagas and containers after the completed steps inside them', () => {
    const inner = box('inner', inOrder(undoable('c'), waitFor('w')), {
      compensateWith: [trace('-inner')],
    });
    const saga = box('saga', inOrder(undoable('b'), inner), {
      saga: true,
      compensateWith: [trace('-saga')],
    });
    const driver = start(inOrder(undoable('a'), saga), noTrail);
    driver.cleanUp();
    expect(driver.data['trail']).toEqual(['-c', '-inner', '-b', '-saga', '-a']);
    ended(driver);
  });

  it('compensates completed sagas and the completed steps inside them', () => {
    const saga = box('saga', inOrder(undoable('b'), undoable('c')), {
      saga: true,
      compensateWith: [trace('-saga')],
    });
    const driver = start(inOrder(undoable('a'), saga, undoable('d'), waitFor('w')), noTrail);
    driver.cleanUp();
    expect(driver.data['trail']).toEqual(['-d', '-saga', '-c', '-b', '-a']);
  });

  it('compensates in reverse order of completion across branches and sagas', () => {
    const branch = (id: string, inside: readonly StepSource[]): readonly StepSource[] => [
      box(id, inside, { saga: true }),
    ];
    const driver = start(
      [
        box('all', [
          branch(
            'left',
            inOrder(delay('l0', 1), undoable('l1'), delay('l2', 2), undoable('l3'), waitFor('l4')),
          ),
          branch(
            'right',
            inOrder(delay('r0', 2), undoable('r1'), delay('r2', 2), undoable('r3'), waitFor('r4')),
          ),
        ]),
      ],
      noTrail,
    );
    driver.advance(4);
    driver.cleanUp();
    expect(driver.data['trail']).toEqual(['-r3', '-l3', '-r1', '-l1']);
  });

  it('compensates each iteration of a loop with its item', () => {
    const undo = noOp('undo', { outputs: { trail: '[...data.trail, context.Item]' } });
    const each = foreach('each', '[1, 2, 3]', [noOp('a', { compensateWith: [undo] })]);
    const driver = start(inOrder(each, waitFor('w')), noTrail);
    driver.cleanUp();
    expect(driver.data['trail']).toEqual([3, 2, 1]);
  });

  it('finishes each chain before it starts the next', () => {
    const slow = (id: string): StepSource =>
      noOp(id, {
        compensateWith: inOrder(trace(`-${id}1`), delay(`-${id}2`, 5), trace(`-${id}3`)),
      });
    const driver = start(inOrder(slow('a'), slow('b'), waitFor('w')), noTrail);
    driver.cleanUp();
    expect(driver.data['trail']).toEqual(['-b1']);
    expect(driver.status).toBe('Runnable');
    expect(driver.instance.cleanUp).toMatchObject({ next: 1, forgotten: 0 });
    driver.advance(5);
    expect(driver.data['trail']).toEqual(['-b1', '-b3', '-a1']);
    driver.advance(5);
    expect(driver.data['trail']).toEqual(['-b1', '-b3', '-a1', '-a3']);
    ended(driver);
  });

  it('does not start again while it is in progress', () => {
    const steps = inOrder(noOp('a', { compensateWith: [delay('-a', 5)] }), waitFor('w'));
    const driver = start(steps);
    driver.cleanUp();
    driver.cleanUp();
    expect(driver.open).toEqual(['-a sleeping']);
    driver.advance(5);
    expect(driver.history).toEqual(['a Complete', 'w Cancelled', '-a Complete']);
    ended(driver);
  });

  it('is ended by a termination without compensation', () => {
    const steps = inOrder(noOp('a', { compensateWith: [delay('-a', 5)] }), waitFor('w'));
    const driver = start(steps);
    driver.cleanUp();
    driver.terminate();
    expect(driver.history).toEqual(['a Complete', 'w Cancelled', '-a Cancelled']);
    ended(driver);
  });

  it('waits while the instance is suspended', () => {
    const steps = inOrder(
      undoable('a'),
      noOp('b', { compensateWith: [delay('-b', 5)] }),
      waitFor('w'),
    );
    const driver = start(steps, noTrail);
    driver.cleanUp();
    driver.suspend();
    driver.oversleep(10);
    expect(driver.data['trail']).toEqual([]);
    driver.resume();
    expect(driver.data['trail']).toEqual(['-a']);
    ended(driver);
  });

  it('resumes a suspended instance but runs nothing except the compensation', () => {
    const steps = inOrder(
      undoable('a'),
      failing('b', { errorBehavior: 'Suspend' }),
      trace('never'),
    );
    const driver = start(steps, noTrail);
    expect(driver.status).toBe('Suspended');
    driver.cleanUp();
    expect(driver.data['trail']).toEqual(['-a']);
    expect(driver.instance.lastError?.stepId).toBe('b');
    ended(driver);
  });
});

scenarios('a compensation step that fails during a clean-up', (start) => {
  const steps = (members: StepMembers): readonly StepSource[] => [
    ...inOrder(undoable('a'), noOp('b', { compensateWith: [work('-b', members)] }), waitFor('w')),
  ];

  it('is retried', () => {
    const driver = start(steps({ retryInterval: 5 }), noTrail);
    driver.cleanUp();
    driver.failEffect(driver.effect('-b'));
    driver.advance(5);
    driver.endEffect(driver.effect('-b'));
    expect(driver.data['trail']).toEqual(['-a']);
    ended(driver);
  });

  it('suspends the instance if its ErrorBehavior is Suspend, and runs again once it is resumed', () => {
    const driver = start(steps({ errorBehavior: 'Suspend' }), noTrail);
    driver.cleanUp();
    driver.failEffect(driver.effect('-b'));
    expect(driver.status).toBe('Suspended');
    driver.resume();
    driver.endEffect(driver.effect('-b'));
    expect(driver.data['trail']).toEqual(['-a']);
    ended(driver);
  });

  it('ends the instance as Failed if its ErrorBehavior is Terminate', () => {
    const driver = start(steps({ errorBehavior: 'Terminate' }), noTrail);
    driver.cleanUp();
    driver.failEffect(driver.effect('-b'));
    expect(driver.data['trail']).toEqual([]);
    const { outcome, status } = driver.instance;
    expect({ outcome, status }).toEqual({ outcome: 'Failed', status: 'Terminated' });
  });

  it('is abandoned if its ErrorBehavior is Compensate, and the next chain follows', () => {
    const driver = start(steps({ errorBehavior: 'Compensate' }), noTrail);
    driver.cleanUp();
    driver.failEffect(driver.effect('-b'));
    expect(driver.data['trail']).toEqual(['-a']);
    ended(driver);
  });
});

scenarios('a clean-up during a compensation', (start) => {
  const failedSaga = (members: StepMembers = {}): StepSource =>
    box(
      'saga',
      inOrder(noOp('b', { compensateWith: [delay('-b', 5), trace('-b2')] }), failing('c')),
      { saga: true, compensateWith: [trace('-saga')], ...members },
    );

  it('lets the compensation end first, and compensates nothing twice', () => {
    const driver = start(inOrder(undoable('a'), failedSaga(), trace('never')), noTrail);
    expect(driver.open).toEqual(['saga compensating', '-b sleeping']);
    driver.cleanUp();
    expect(driver.open).toEqual(['saga compensating', '-b sleeping']);
    driver.advance(5);
    expect(driver.data['trail']).toEqual(['-saga', '-a']);
    expect(driver.history).toContain('saga Compensated');
    ended(driver);
  });

  it('prevents a retry of the saga', () => {
    const driver = start([failedSaga({ errorBehavior: 'Retry' })], noTrail);
    driver.cleanUp();
    driver.advance(500);
    expect(driver.history.filter((line) => line.startsWith('saga'))).toEqual(['saga Compensated']);
    expect(driver.status).toBe('Terminated');
  });

  it('cancels the containers around the saga, and compensates them after it', () => {
    const outer = box('outer', [inOrder(undoable('x'), failedSaga()), [waitFor('w')]], {
      compensateWith: [trace('-outer')],
      nextStepId: 'never',
      timeout: 3,
      cancelCondition: 'data.trail.length > 0',
      proceedOnCancel: true,
    });
    const driver = start([outer, trace('never')], noTrail);
    driver.cleanUp();
    expect(driver.open).toEqual(['outer open', 'saga compensating', '-b sleeping']);
    driver.advance(5);
    expect(driver.data['trail']).toEqual(['-saga', '-x', '-outer']);
    expect(driver.history).toContain('outer Cancelled');
    ended(driver);
  });
});

scenarios('a step that was canceled or failed before a clean-up', (start) => {
  it('has its completed steps compensated', () => {
    const saga = box('saga', inOrder(undoable('b'), trace('c'), waitFor('w')), {
      saga: true,
      cancelCondition: 'data.trail.length > 0',
      nextStepId: 'hang',
      proceedOnCancel: true,
    });
    const driver = start([saga, waitFor('hang')], noTrail);
    expect(driver.open).toEqual(['hang event']);
    driver.cleanUp();
    expect(driver.data['trail']).toEqual(['c', '-b']);
  });

  it('is not compensated a second time', () => {
    const saga = box('saga', inOrder(undoable('b'), failing('c')), { saga: true });
    const driver = start(inOrder(undoable('a'), saga, waitFor('w')), noTrail);
    expect(driver.data['trail']).toEqual(['-b']);
    driver.cleanUp();
    expect(driver.data['trail']).toEqual(['-b', '-a']);
  });
});

scenarios('a clean-up of an instance with a child', (start) => {
  const steps = [
    ...inOrder(
      undoable('a'),
      subWorkflow('child', { compensateWith: [trace('-child')], timeout: 60 }),
      trace('never'),
    ),
  ];

  it('cleans up the child first, and waits until it has ended', () => {
    const driver = start(steps, noTrail);
    driver.endEffect(driver.effect('child'));
    driver.cleanUp();
    expect(driver.instance.outbox).toMatchObject([{ kind: 'terminate-child', compensate: true }]);
    driver.advance(59);
    expect(driver.data['trail']).toEqual([]);
    driver.endChildWith('child', { status: 'Terminated', outcome: 'Terminated', data: {} });
    expect(driver.data['trail']).toEqual(['-child', '-a']);
    expect(driver.history).toContain('child Failed');
    ended(driver);
  });

  it('does not wait for a child beyond the timeout of the step', () => {
    const driver = start(steps, noTrail);
    driver.endEffect(driver.effect('child'));
    driver.cleanUp();
    driver.advance(60);
    expect(driver.data['trail']).toEqual(['-child', '-a']);
    ended(driver);
  });

  it('gives the child the rest of the grace period, and continues without it', () => {
    const driver = start(steps, noTrail);
    driver.endEffect(driver.effect('child'));
    driver.cleanUp(20);
    expect(driver.instance.outbox).toMatchObject([{ graceUntil: driver.now + 20_000 }]);
    driver.advance(20);
    expect(driver.instance.outbox).toHaveLength(1);
    expect(driver.data['trail']).toEqual(['-child', '-a']);
    ended(driver);
  });

  it('compensates the SubWorkflow step if the child has completed in the meantime', () => {
    const driver = start(steps, noTrail);
    driver.endEffect(driver.effect('child'));
    driver.cleanUp();
    driver.endChildWith('child', { status: 'Complete', outcome: 'Succeeded', data: {} });
    expect(driver.data['trail']).toEqual(['-child', '-a']);
    ended(driver);
  });

  it('cleans up a child that is still being started once it has started', () => {
    const driver = start(steps, noTrail);
    driver.cleanUp();
    expect(driver.instance.outbox).toEqual([]);
    driver.endEffect(driver.effect('child'));
    expect(driver.instance.outbox).toMatchObject([{ kind: 'terminate-child', compensate: true }]);
    driver.endChildWith('child', { status: 'Terminated', outcome: 'Terminated', data: {} });
    expect(driver.data['trail']).toEqual(['-child', '-a']);
    ended(driver);
  });

  it('continues without a child that cannot be started', () => {
    const driver = start(steps, noTrail);
    driver.cleanUp();
    driver.failEffect(driver.effect('child'));
    expect(driver.data['trail']).toEqual(['-a']);
    ended(driver);
  });

  it('leaves a child alone that the parent does not wait for', () => {
    const inputs = { wait: false };
    const driver = start(inOrder(undoable('a'), subWorkflow('child', { inputs })), noTrail);
    driver.cleanUp();
    driver.endEffect(driver.effect('child'));
    expect(driver.instance.outbox).toEqual([]);
    ended(driver);
  });
});
