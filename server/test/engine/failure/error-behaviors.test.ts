/** What happens when a step fails: Suspend, Terminate, and what the history and lastError say about it. */
import { expect, it } from 'vitest';
import { inOrder } from '../support/define.js';
import { scenarios } from '../support/scenario.js';
import { box, delay, failing, fork, noOp, waitFor, work } from '../support/steps.js';

scenarios('a step error', (start) => {
  it.each([
    { place: 'an input that cannot be evaluated', step: { inputs: { message: 'data.none.x' } } },
    {
      place: 'an input of the wrong type',
      step: { inputs: { message: '1', level: 'data.level' } },
    },
    { place: 'an output', step: { inputs: { message: '1' }, outputs: { x: 'data.none' } } },
    {
      place: 'a selector',
      step: { inputs: { message: '1' }, selectNextStep: { after: 'data.none' } },
    },
  ])('is recorded in the history when it occurs in $place', ({ step }) => {
    const driver = start(
      [{ id: 'a', stepType: 'EmitLog', errorBehavior: 'Suspend', ...step }, noOp('after')],
      { data: { level: 'loud' } },
    );
    expect(driver.history).toEqual(['a Failed']);
    expect(driver.records[0]?.error).toMatchObject({ stepId: 'a', attempt: 1, time: driver.now });
    expect(driver.instance.lastError).toEqual(driver.records[0]?.error);
    expect(driver.status).toBe('Suspended');
  });

  it('applies none of the outputs of the step', () => {
    const driver = start(
      [noOp('a', { errorBehavior: 'Suspend', outputs: { x: '1', y: 'data.none' } })],
      { data: {} },
    );
    expect(driver.data).toEqual({});
  });

  it('reverts the outputs too when it occurs in a selector, because both are applied together', () => {
    const driver = start([
      noOp('a', {
        errorBehavior: 'Suspend',
        outputs: { x: '1' },
        selectNextStep: { b: 'data.none' },
      }),
      noOp('b'),
    ]);
    expect(driver.data).toEqual({});
  });

  it('has its message truncated to limit the size of the instance', () => {
    const driver = start([work('a', { errorBehavior: 'Suspend' })]);
    const failure = { type: 'Huge', message: 'm'.repeat(9999), traceback: 't'.repeat(9999) };
    driver.failEffect(driver.effect('a'), failure);
    expect(driver.instance.lastError?.message).toHaveLength(4096);
    expect(driver.instance.lastError?.traceback).toHaveLength(4096);
  });

  it('is lastError only until the step succeeds', () => {
    const driver = start(inOrder(work('a', { retryInterval: 5 }), waitFor('end')));
    driver.failEffect(driver.effect('a'));
    expect(driver.instance.lastError).toMatchObject({ stepId: 'a', message: 'it failed' });
    driver.advance(5);
    expect(driver.instance.lastError).not.toBeNull();
    driver.endEffect(driver.effect('a'));
    expect(driver.instance.lastError).toBeNull();
  });

  it('is followed by an immediate attempt when a client requests a retry now', () => {
    const driver = start([
      fork('f', 'a', 'b', 'c'),
      work('a', { retryInterval: 500 }),
      work('b'),
      delay('c', 500),
    ]);
    driver.failEffect(driver.effect('a'));
    driver.deliver({ kind: 'retry-now' });
    expect(driver.pointer('a')).toMatchObject({ attempt: 2, state: { kind: 'effect' } });
    expect(driver.pointer('b').attempt).toBe(1);
    expect(driver.pointer('c').state.kind).toBe('sleeping');
    driver.failEffect(driver.effect('a'));
    driver.suspend();
    driver.deliver({ kind: 'retry-now' });
    expect(driver.pointer('a').state).toMatchObject({ until: driver.now + 500_000 });
  });

  it('is lastError only until the step is canceled', () => {
    const driver = start([
      fork('f', 'a', 'b'),
      work('a', { cancelCondition: 'data.stop' }),
      work('b', { outputs: { stop: 'true' }, nextStepId: 'end' }),
      waitFor('end'),
    ]);
    driver.failEffect(driver.effect('a'));
    expect(driver.instance.lastError?.stepId).toBe('a');
    driver.endEffect(driver.effect('b'));
    expect(driver.open).toEqual(['end event']);
    expect(driver.instance.lastError).toBeNull();
  });

  it('becomes lastError again once the newer error of another step is resolved', () => {
    const driver = start([
      fork('f', 'a', 'b', 'c'),
      work('a', { retryInterval: 100 }),
      work('b', { retryInterval: 100 }),
      work('c', { retryInterval: 5 }),
    ]);
    for (const stepId of ['b', 'a', 'c']) {
      driver.failEffect(driver.effect(stepId));
      expect(driver.instance.lastError?.stepId).toBe(stepId);
      driver.advance(1);
    }
    driver.advance(4);
    driver.endEffect(driver.effect('c'));
    expect(driver.instance.lastError?.stepId).toBe('a');
    driver.advance(100);
    driver.endEffect(driver.effect('a'));
    expect(driver.instance.lastError?.stepId).toBe('b');
    driver.endEffect(driver.effect('b'));
    expect(driver.instance.lastError).toBeNull();
    expect(driver.status).toBe('Complete');
  });
});

scenarios('Suspend', (start) => {
  const steps = inOrder(work('a', { errorBehavior: 'Suspend' }), noOp('after'));

  it('stops the instance until it is resumed, then runs the step again', () => {
    const driver = start(steps);
    driver.failEffect(driver.effect('a'));
    expect(driver.status).toBe('Suspended');
    expect(driver.instance.endTime).toBeNull();
    driver.advance(1000);
    expect(driver.effects).toEqual([]);
    driver.resume();
    expect(driver.status).toBe('Runnable');
    driver.endEffect(driver.effect('a'));
    expect(driver.history).toEqual(['a Failed', 'a Complete #2', 'after Complete']);
  });

  it('keeps lastError while it is suspended and while the step runs again', () => {
    const driver = start(steps);
    driver.failEffect(driver.effect('a'));
    driver.resume();
    expect(driver.instance.lastError?.stepId).toBe('a');
    driver.endEffect(driver.effect('a'));
    expect(driver.instance.lastError).toBeNull();
  });

  it('restarts the step at the resume: its start time and Timeout are reset', () => {
    const driver = start([work('a', { errorBehavior: 'Suspend', timeout: 10 })]);
    driver.advance(10);
    expect(driver.history).toEqual(['a Failed']);
    expect(driver.status).toBe('Suspended');
    driver.advance(3600);
    driver.resume();
    expect(driver.status).toBe('Runnable');
    driver.advance(9);
    driver.endEffect(driver.effect('a'));
    expect(driver.status).toBe('Complete');
    const { startTime, endTime } = driver.records.at(-1)!;
    expect(endTime - startTime).toBe(9000);
  });

  it('stops the other branches too, which continue later where they were', () => {
    const driver = start([
      fork('f', 'a', 'b'),
      work('a', { errorBehavior: 'Suspend' }),
      delay('b', 5),
    ]);
    driver.failEffect(driver.effect('a'));
    driver.advance(60);
    expect(driver.open).toEqual(['a sleeping', 'b sleeping']);
    driver.resume();
    expect(driver.ran).toEqual(['f', 'b']);
    driver.endEffect(driver.effect('a'));
    expect(driver.status).toBe('Complete');
  });
});

scenarios('Terminate', (start) => {
  it('ends the instance with everything in it, and keeps the error as the reason', () => {
    const driver = start([
      fork('f', 'a', 'b', 'c', 'd'),
      work('a', { errorBehavior: 'Terminate' }),
      waitFor('b'),
      box('c', [delay('inside', 5)]),
      work('d'),
    ]);
    driver.advance(1);
    driver.failEffect(driver.effect('a'));
    expect(driver.status).toBe('Terminated');
    expect(driver.instance.endTime).toBe(driver.now);
    expect(driver.instance.lastError).toMatchObject({ stepId: 'a', message: 'it failed' });
    expect(driver.open).toEqual([]);
    expect(driver.subscriptions).toEqual([]);
    expect(driver.effects).toEqual([]);
    expect(driver.history).toEqual([
      'f Complete',
      'a Failed',
      'inside Cancelled',
      'd Cancelled',
      'c Cancelled',
      'b Cancelled',
    ]);
  });
});

scenarios('the error behavior of a step', (start) => {
  it.each(['Retry', 'Suspend', 'Terminate'])('is the default of the definition: %s', (name) => {
    const driver = start([failing('a')], { defaultErrorBehavior: name });
    const status = { Retry: 'Runnable', Suspend: 'Suspended', Terminate: 'Terminated' }[name];
    expect(driver.status).toBe(status);
  });

  it('is first of all its own ErrorBehavior', () => {
    const own = failing('a', { errorBehavior: 'Terminate', compensateWith: [noOp('undo')] });
    const driver = start([box('saga', [own], { saga: true })], { defaultErrorBehavior: 'Suspend' });
    expect(driver.status).toBe('Terminated');
    expect(driver.ran).toEqual([]);
  });

  it.each([
    { where: 'the step', a: { compensateWith: [noOp('undo')] }, around: {} },
    { where: 'a container around it', a: {}, around: { compensateWith: [noOp('undo')] } },
  ])('is Compensate if $where has CompensateWith', ({ a, around }) => {
    const driver = start([box('box', [failing('a', a)], around)], {
      defaultErrorBehavior: 'Terminate',
    });
    expect(driver.ran).toContain('undo');
    expect(driver.status).toBe('Complete');
  });

  it('is Compensate inside a saga, even with nothing to compensate', () => {
    const driver = start(
      inOrder(box('saga', inOrder(failing('a'), noOp('skipped')), { saga: true }), noOp('after')),
      { defaultErrorBehavior: 'Terminate' },
    );
    expect(driver.ran).toEqual(['after']);
    expect(driver.status).toBe('Complete');
  });

  it('continues with the next step and the selected steps if Compensate has nothing to compensate', () => {
    const driver = start([
      failing('a', {
        errorBehavior: 'Compensate',
        nextStepId: 'next',
        selectNextStep: { selected: 'true' },
      }),
      noOp('next'),
      noOp('selected'),
    ]);
    expect(driver.history).toEqual(['a Failed', 'next Complete', 'selected Complete']);
    expect(driver.status).toBe('Complete');
    expect(driver.instance).toMatchObject({ outcome: 'Compensated', lastError: { stepId: 'a' } });
  });
});
