/** Sagas: everything completes, or everything is compensated in reverse order. */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from './support/define.js';
import { scenarios } from './support/scenario.js';
import {
  box,
  delay,
  failing,
  saga,
  undoable,
  foreach,
  noOp,
  trace,
  waitFor,
  work,
  type StepMembers,
} from './support/steps.js';

const noTrail = { data: { trail: [] } };

scenarios('a saga', (start) => {
  it('compensates nothing if it succeeds', () => {
    const driver = start(inOrder(saga([undoable('a')]), trace('after')), noTrail);
    expect(driver.data['trail']).toEqual(['after']);
    expect(driver.ran).toEqual(['a', 'saga', 'after']);
  });

  it('compensates the failed step, then the completed steps in reverse order, then itself, and continues', () => {
    const steps = inOrder(
      undoable('a'),
      undoable('b'),
      noOp('plain'),
      undoable('c'),
      failing('d', { compensateWith: [trace('-d')] }),
      undoable('never'),
    );
    const driver = start(inOrder(saga(steps), trace('after')), noTrail);
    expect(driver.data['trail']).toEqual(['-d', '-c', '-b', '-a', '-saga', 'after']);
    expect(driver.history.slice(-2)).toEqual(['saga Compensated', 'after Complete']);
    expect(driver.status).toBe('Complete');
  });

  it('runs one chain after another, each to its end', () => {
    const slow = (id: string): StepSource =>
      noOp(id, {
        compensateWith: inOrder(trace(`-${id}1`), delay(`-${id}2`, 5), trace(`-${id}3`)),
      });
    const driver = start([saga(inOrder(slow('a'), slow('b'), failing('c')), {})], noTrail);
    expect(driver.data['trail']).toEqual(['-b1']);
    driver.advance(5);
    expect(driver.data['trail']).toEqual(['-b1', '-b3', '-a1']);
    driver.advance(5);
    expect(driver.data['trail']).toEqual(['-b1', '-b3', '-a1', '-a3']);
    expect(driver.status).toBe('Complete');
  });

  it('compensates parallel branches by time of completion, and cancels waiting steps', () => {
    const driver = start(
      [
        saga([
          inOrder(undoable('a1'), delay('aWait', 1), undoable('a2')),
          inOrder(delay('bWait', 2), undoable('b1'), waitFor('bHangs', {}), noOp('bNever')),
          inOrder(delay('cWait', 3), failing('c')),
        ]),
      ],
      noTrail,
    );
    driver.advance(3);
    expect(driver.data['trail']).toEqual(['-b1', '-a2', '-a1', '-saga']);
    expect(driver.history).toContain('bHangs Cancelled');
    expect(driver.subscriptions).toEqual([]);
    expect(driver.status).toBe('Complete');
  });

  it('waits for a step that is still running, and compensates it', () => {
    const driver = start(
      [saga([[work('running', { compensateWith: [trace('-running')] })], [failing('a')]])],
      noTrail,
    );
    expect(driver.data['trail']).toEqual([]);
    driver.endEffect(driver.effect('running'));
    expect(driver.data['trail']).toEqual(['-running', '-saga']);
    expect(driver.effects).toEqual([]);
  });

  it('compensates a container that was open around the failure after the steps inside it', () => {
    const inside = box('inner', inOrder(undoable('x'), failing('y')), {
      compensateWith: [trace('-inner')],
    });
    const driver = start([saga(inOrder(undoable('a'), inside))], noTrail);
    expect(driver.data['trail']).toEqual(['-x', '-inner', '-a', '-saga']);
  });

  it('compensates a completed container before the steps inside it', () => {
    const inside = box('inner', inOrder(undoable('x'), undoable('y')), {
      compensateWith: [trace('-inner')],
    });
    const driver = start([saga(inOrder(inside, failing('b')))], noTrail);
    expect(driver.data['trail']).toEqual(['-inner', '-y', '-x', '-saga']);
  });

  it('compensates the completed steps of an open saga inside it', () => {
    const inner = box('inner', inOrder(undoable('x'), waitFor('y')), { saga: true });
    const driver = start([saga([[inner], inOrder(delay('later', 1), failing('b'))])], noTrail);
    driver.advance(1);
    expect(driver.data['trail']).toEqual(['-x', '-saga']);
  });

  it('compensates the rest of a saga inside it', () => {
    const slow = noOp('slow', { compensateWith: [delay('-slow', 5), trace('-slow2')] });
    const inner = box('inner', inOrder(undoable('w'), slow, undoable('x'), failing('y')), {
      saga: true,
      compensateWith: [trace('-inner')],
    });
    const driver = start([saga([[inner], inOrder(delay('later', 1), failing('b'))])], noTrail);
    expect(driver.data['trail']).toEqual(['-x']);
    driver.advance(1);
    driver.advance(5);
    expect(driver.data['trail']).toEqual(['-x', '-w', '-inner', '-saga']);
  });

  it('compensates every execution of a step in a loop, with its item', () => {
    const undo = noOp('undo', { outputs: { trail: '[...data.trail, context.Item]' } });
    const each = foreach('each', '[1, 2, 3]', [noOp('a', { compensateWith: [undo] })]);
    const driver = start([saga(inOrder(each, failing('b')), {})], noTrail);
    expect(driver.data['trail']).toEqual([3, 2, 1]);
  });

  it('compensates the completed steps of every attempt of a container that was retried', () => {
    const inner = box('inner', inOrder(undoable('x'), waitFor('y')), {
      timeout: 5,
      errorBehavior: 'Retry',
      retryInterval: 1,
      maxRetries: 1,
      onRetriesExhausted: 'Compensate',
    });
    const driver = start([saga([inner])], noTrail);
    driver.advance(5 + 1 + 5);
    expect(driver.data['trail']).toEqual(['-x', '-x', '-saga']);
  });

  it('continues with its next step if nothing in it can be compensated', () => {
    const driver = start(inOrder(saga([failing('a')], {}), trace('after')), noTrail);
    expect(driver.data['trail']).toEqual(['after']);
  });

  it("lets its container complete and the container's next step run", () => {
    const driver = start(
      inOrder(box('outer', inOrder(saga([failing('a')], {}), trace('next'))), trace('after')),
      noTrail,
    );
    expect(driver.data['trail']).toEqual(['next', 'after']);
  });

  it('lets a step with its own Retry exhaust its retries before it compensates', () => {
    const retry = {
      errorBehavior: 'Retry',
      retryInterval: 1,
      maxRetries: 1,
      onRetriesExhausted: 'Compensate',
    };
    const driver = start([saga(inOrder(undoable('a'), work('b', retry)))], noTrail);
    driver.failEffect(driver.effect('b'));
    expect(driver.data['trail']).toEqual([]);
    driver.advance(1);
    driver.failEffect(driver.effect('b'));
    expect(driver.data['trail']).toEqual(['-a', '-saga']);
  });

  it('compensates all of its iterations if it is a loop', () => {
    const undo = noOp('undo', { outputs: { trail: "[...data.trail, '-' + data.n]" } });
    const driver = start(
      [
        {
          id: 'saga',
          stepType: 'While',
          saga: true,
          inputs: { condition: 'data.n < 5' },
          do: inOrder(
            noOp('turn', { outputs: { n: 'data.n + 1' }, compensateWith: [undo] }),
            noOp('check', { outputs: { ok: 'data.n < 3 ? true : data.none' } }),
          ),
        },
      ],
      { data: { n: 0, trail: [] } },
    );
    expect(driver.data['trail']).toEqual(['-3', '-3', '-3']);
    expect(driver.status).toBe('Complete');
  });

  it('has its own chain compensate it if it is a step without a Do', () => {
    const driver = start(
      inOrder(
        work('a', {
          saga: true,
          compensateWith: [trace('-a')],
          errorBehavior: 'Retry',
          retryInterval: 5,
        }),
        trace('after'),
      ),
      noTrail,
    );
    driver.failEffect(driver.effect('a'));
    expect(driver.data['trail']).toEqual(['-a']);
    driver.advance(5);
    driver.endEffect(driver.effect('a'));
    expect(driver.data['trail']).toEqual(['-a', 'after']);
  });

  it('includes steps that ended in the background', () => {
    const recur: StepSource = {
      id: 'recur',
      stepType: 'Recur',
      inputs: { interval: 1, stopCondition: 'data.n >= 2' },
      compensateWith: [trace('-recur')],
      nextStepId: 'wait',
      do: [noOp('round', { outputs: { n: 'data.n + 1' } })],
    };
    const driver = start(
      [saga([recur, delay('wait', 10, { nextStepId: 'a' }), failing('a')], {})],
      { data: { n: 0, trail: [] } },
    );
    driver.advance(10);
    expect(driver.data['trail']).toEqual(['-recur']);
  });
});

scenarios('a compensated saga', (start) => {
  const steps = (members: StepMembers): StepSource[] => [
    saga(inOrder(undoable('a'), work('b', { compensateWith: [trace('-b')] })), {
      compensateWith: [trace('-saga')],
      ...members,
    }),
  ];

  it('runs again as a whole with ErrorBehavior Retry', () => {
    const driver = start(steps({ errorBehavior: 'Retry', retryInterval: 30 }), noTrail);
    driver.failEffect(driver.effect('b'));
    expect(driver.data['trail']).toEqual(['-b', '-a', '-saga']);
    expect(driver.open).toEqual(['saga sleeping']);
    driver.advance(30);
    driver.endEffect(driver.effect('b'));
    expect(
      driver.history.filter((line) => line.startsWith('saga') || line.startsWith('a')),
    ).toEqual(['a Complete', 'saga Compensated', 'a Complete', 'saga Complete #2']);
    expect(driver.data['trail']).toHaveLength(3);
    expect(driver.status).toBe('Complete');
  });

  it('compensates only the second attempt when it fails again', () => {
    const driver = start(steps({ errorBehavior: 'Retry', retryInterval: 30 }), noTrail);
    driver.failEffect(driver.effect('b'));
    driver.advance(30);
    driver.failEffect(driver.effect('b'));
    expect(driver.data['trail']).toEqual(['-b', '-a', '-saga', '-b', '-a', '-saga']);
  });

  it('retries at most MaxRetries times, then applies OnRetriesExhausted', () => {
    const driver = start(
      steps({
        errorBehavior: 'Retry',
        retryInterval: 1,
        maxRetries: 1,
        onRetriesExhausted: 'Terminate',
      }),
      noTrail,
    );
    driver.failEffect(driver.effect('b'));
    driver.advance(1);
    driver.failEffect(driver.effect('b'));
    expect(driver.data['trail']).toHaveLength(6);
    expect(driver.status).toBe('Terminated');
  });

  it('suspends with ErrorBehavior Suspend, and runs again as a whole at the resume', () => {
    const driver = start(steps({ errorBehavior: 'Suspend' }), noTrail);
    driver.failEffect(driver.effect('b'));
    expect(driver.status).toBe('Suspended');
    expect(driver.data['trail']).toEqual(['-b', '-a', '-saga']);
    expect(driver.instance.lastError?.stepId).toBe('b');
    driver.resume();
    driver.endEffect(driver.effect('b'));
    expect(driver.status).toBe('Complete');
  });

  it('terminates with ErrorBehavior Terminate and the error as the reason', () => {
    const driver = start(steps({ errorBehavior: 'Terminate' }), noTrail);
    driver.failEffect(driver.effect('b'));
    expect(driver.data['trail']).toEqual(['-b', '-a', '-saga']);
    expect(driver.status).toBe('Terminated');
    expect(driver.instance.lastError?.stepId).toBe('b');
    expect(driver.history.at(-1)).toBe('saga Compensated');
  });
});

scenarios('an inner saga', (start) => {
  const inner = (members: StepMembers, ...inside: readonly StepSource[]): StepSource =>
    box('inner', inOrder(...inside), { saga: true, ...members });

  it('is compensated alone if it fails, and its next steps run', () => {
    const driver = start(
      [
        saga(
          inOrder(
            undoable('a'),
            inner({ compensateWith: [trace('-inner')] }, undoable('x'), failing('y')),
            trace('next'),
          ),
        ),
      ],
      noTrail,
    );
    expect(driver.data['trail']).toEqual(['-x', '-inner', 'next']);
    expect(driver.status).toBe('Complete');
  });

  it('is compensated together with the outer one if it has completed', () => {
    const driver = start(
      [
        saga(
          inOrder(
            undoable('a'),
            inner({ compensateWith: [trace('-inner')] }, undoable('x'), undoable('y')),
            failing('b'),
          ),
        ),
      ],
      noTrail,
    );
    expect(driver.data['trail']).toEqual(['-inner', '-y', '-x', '-a', '-saga']);
  });

  it('is not compensated a second time together with the outer one', () => {
    const driver = start(
      [
        saga(
          inOrder(
            inner({ compensateWith: [trace('-inner')] }, undoable('x'), failing('y')),
            failing('b'),
          ),
        ),
      ],
      noTrail,
    );
    expect(driver.data['trail']).toEqual(['-x', '-inner', '-saga']);
  });
});
