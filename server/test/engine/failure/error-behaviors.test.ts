/** What happens when a step fails: Retry, Suspend, Terminate, and what the history and lastError say about it. */
import { expect, it } from 'vitest';
import { inOrder } from '../support/define.js';
import { scenarios } from '../support/scenario.js';
import { box, delay, failing, fork, noOp, waitFor, work } from '../support/steps.js';

scenarios('a step error', (start) => {
  it.each([
    { place: 'an input that cannot be evaluated', step: { inputs: { message: 'data.none.x' } } },
    {
      place: 'an input of the wrong kind',
      step: { inputs: { message: '1', level: 'data.level' } },
    },
    { place: 'an output', step: { inputs: { message: '1' }, outputs: { x: 'data.none' } } },
    {
      place: 'a selector',
      step: { inputs: { message: '1' }, selectNextStep: { after: 'data.none' } },
    },
  ])('comes from $place and is kept in the history', ({ step }) => {
    const driver = start(
      [{ id: 'a', stepType: 'EmitLog', errorBehavior: 'Suspend', ...step }, noOp('after')],
      { data: { level: 'loud' } },
    );
    expect(driver.history).toEqual(['a Failed']);
    expect(driver.records[0]?.error).toMatchObject({ stepId: 'a', attempt: 1, time: driver.now });
    expect(driver.instance.lastError).toEqual(driver.records[0]?.error);
    expect(driver.status).toBe('Suspended');
  });

  it('writes none of the outputs of the step', () => {
    const driver = start(
      [noOp('a', { errorBehavior: 'Suspend', outputs: { x: '1', y: 'data.none' } })],
      { data: {} },
    );
    expect(driver.data).toEqual({});
  });

  it('in a selector takes back the outputs as well: they are applied together', () => {
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

  it('cuts messages that would make the instance large', () => {
    const driver = start([work('a', { errorBehavior: 'Suspend' })]);
    const failure = { type: 'Huge', message: 'm'.repeat(9999), traceback: 't'.repeat(9999) };
    driver.failEffect(driver.effect('a'), failure);
    expect(driver.instance.lastError?.message).toHaveLength(4096);
    expect(driver.instance.lastError?.traceback).toHaveLength(4096);
  });

  it('is lastError only until its step succeeds', () => {
    const driver = start(inOrder(work('a', { retryInterval: 5 }), waitFor('end')));
    driver.failEffect(driver.effect('a'));
    expect(driver.instance.lastError).toMatchObject({ stepId: 'a', message: 'it failed' });
    driver.advance(5);
    expect(driver.instance.lastError).not.toBeNull();
    driver.endEffect(driver.effect('a'));
    expect(driver.instance.lastError).toBeNull();
  });

  it('is not waited for any longer when somebody wants it tried again now', () => {
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

  it('is lastError only until its step is cancelled', () => {
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

  it('shows again as lastError once the newer one of another step is solved', () => {
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

scenarios('Retry', (start) => {
  it('is the default and runs the step again after 60 seconds', () => {
    const driver = start(inOrder(work('a'), noOp('after')));
    driver.failEffect(driver.effect('a'));
    expect(driver.open).toEqual(['a sleeping']);
    driver.advance(59.999);
    expect(driver.effects).toEqual([]);
    driver.advance(0.001);
    driver.endEffect(driver.effect('a'));
    expect(driver.history).toEqual(['a Failed', 'a Complete #2', 'after Complete']);
    expect(driver.status).toBe('Complete');
  });

  it.each([
    { name: "the step's interval", step: { retryInterval: 5 }, seconds: 5 },
    { name: "the step's as text", step: { retryInterval: '00:02:00' }, seconds: 120 },
    { name: "the definition's where the step has none", step: {}, seconds: 7 },
    { name: 'an interval of days', step: { retryInterval: '3.00:00:00' }, seconds: 259_200 },
  ])('waits $name', ({ step, seconds }) => {
    const driver = start([work('a', step)], { defaultErrorRetryInterval: 7 });
    driver.failEffect(driver.effect('a'));
    driver.advance(seconds - 0.001);
    expect(driver.effects).toEqual([]);
    driver.advance(0.001);
    expect(driver.effects).toHaveLength(1);
  });

  it('evaluates the inputs anew and tells the attempt', () => {
    const driver = start(
      [
        fork('f', 'a', 'change'),
        work('a', { inputs: { n: 'data.n', attempt: 'context.Step.Attempt' }, retryInterval: 5 }),
        noOp('change', { outputs: { n: '2' } }),
      ],
      { data: { n: 1 } },
    );
    expect(driver.effect('a').inputs).toEqual({ n: 1, attempt: 1 });
    driver.failEffect(driver.effect('a'));
    driver.advance(5);
    expect(driver.effect('a').inputs).toEqual({ n: 2, attempt: 2 });
  });

  it('goes on for ever without MaxRetries', () => {
    const driver = start([work('a', { retryInterval: 1 })]);
    for (let attempt = 1; attempt <= 100; attempt += 1) {
      driver.failEffect(driver.effect('a'));
      driver.advance(1);
    }
    driver.endEffect(driver.effect('a'));
    expect(driver.history.at(-1)).toBe('a Complete #101');
  });

  it('pauses longer each time with RetryBackoff, but not longer than a day', () => {
    const driver = start([work('a', { retryInterval: 3600, retryBackoff: 3 })]);
    const pauses: number[] = [];
    for (let retry = 0; retry < 5; retry += 1) {
      const failedAt = driver.now;
      driver.failEffect(driver.effect('a'));
      while (driver.effects.length === 0) driver.advance(3600);
      pauses.push((driver.now - failedAt) / 3_600_000);
    }
    expect(pauses).toEqual([1, 3, 9, 24, 24]);
  });

  it('pauses up to RetryJitter longer, differently for each step and attempt, and the same when it is told again', () => {
    const count = 200;
    const pausesOf = (): number[] => {
      const steps = Array.from({ length: count }, (_, at) =>
        work(`s${at}`, { retryInterval: 100, retryJitter: 0.5 }),
      );
      const inside = steps.map((step) => [step]);
      const driver = start([{ ...box('all', inside), stepType: 'Parallel' }]);
      const failedAt = driver.now;
      for (const { id } of steps) driver.failEffect(driver.effect(id));
      return [...driver.instance.pointers.values()].flatMap(({ state }) =>
        state.kind === 'sleeping' ? [(state.until - failedAt) / 1000] : [],
      );
    };
    const pauses = pausesOf();
    expect(pauses).toHaveLength(count);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(150);
    for (const from of [100, 110, 120, 130, 140]) {
      const within = pauses.filter((pause) => pause >= from && pause < from + 10).length;
      expect(within, `pauses from ${from} to ${from + 10} s`).toBeGreaterThan(count / 10);
    }
    expect(pausesOf()).toEqual(pauses);
  });

  it('without an interval has none ten times, and then 100 ms, however often and with whatever back-off', () => {
    const driver = start([work('a', { retryInterval: 0, retryBackoff: 1000 })]);
    for (let retry = 0; retry < 10; retry += 1) driver.failEffect(driver.effect('a'));
    for (let retry = 10; retry < 200; retry += 1) {
      driver.failEffect(driver.effect('a'));
      expect(driver.effects).toEqual([]);
      driver.advance(0.1);
    }
    expect(driver.effect('a').attempt).toBe(201);
  });

  it.each([
    { onRetriesExhausted: 'Suspend', status: 'Suspended', ran: [] },
    { onRetriesExhausted: 'Terminate', status: 'Terminated', ran: [] },
    { onRetriesExhausted: 'Compensate', status: 'Complete', ran: ['undo', 'after'] },
  ])('past MaxRetries does what OnRetriesExhausted says: $onRetriesExhausted', (expected) => {
    const { onRetriesExhausted } = expected;
    const retry = { errorBehavior: 'Retry', retryInterval: 1, maxRetries: 2, onRetriesExhausted };
    const driver = start(
      inOrder(work('a', { ...retry, compensateWith: [noOp('undo')] }), noOp('after')),
    );
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      driver.failEffect(driver.effect('a'));
      driver.advance(1);
    }
    expect(driver.history.slice(0, 3)).toEqual(['a Failed', 'a Failed #2', 'a Failed #3']);
    expect(driver.status).toBe(expected.status);
    expect(driver.ran).toEqual(expected.ran);
  });

  it('past MaxRetries suspends by default, and a resume brings all retries back', () => {
    const driver = start([work('a', { retryInterval: 1, maxRetries: 1 })]);
    driver.failEffect(driver.effect('a'));
    driver.advance(1);
    driver.failEffect(driver.effect('a'));
    expect(driver.status).toBe('Suspended');
    driver.resume();
    driver.failEffect(driver.effect('a'));
    expect(driver.status).toBe('Runnable');
    driver.advance(1);
    driver.failEffect(driver.effect('a'));
    expect(driver.status).toBe('Suspended');
    expect(driver.history.at(-1)).toBe('a Failed #4');
  });

  it('with MaxRetries 0 does not try again', () => {
    const driver = start([work('a', { maxRetries: 0 })]);
    driver.failEffect(driver.effect('a'));
    expect(driver.status).toBe('Suspended');
  });

  it('leaves other paths alone', () => {
    const driver = start([
      fork('f', 'a', 'b'),
      work('a', { retryInterval: 60 }),
      delay('b', 5, { nextStepId: 'c' }),
      noOp('c'),
    ]);
    driver.failEffect(driver.effect('a'));
    driver.advance(5);
    expect(driver.ran).toEqual(['f', 'b', 'c']);
    expect(driver.open).toEqual(['a sleeping']);
  });

  it('of a container begins it anew, after everything inside was cancelled', () => {
    const driver = start([
      box('box', [[waitFor('x')], [work('y')]], {
        timeout: 10,
        errorBehavior: 'Retry',
        retryInterval: 5,
      }),
    ]);
    driver.advance(10);
    expect(driver.open).toEqual(['box sleeping']);
    expect(driver.history).toEqual(['box Failed', 'y Cancelled', 'x Cancelled']);
    driver.advance(5);
    expect(driver.open).toEqual(['box open', 'x event', 'y effect']);
    driver.publish('x', 'key');
    driver.endEffect(driver.effect('y'));
    expect(driver.history.at(-1)).toBe('box Complete #2');
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

  it('lets the step begin anew at the resume: neither its Timeout nor its start is older', () => {
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

  it('stops the other paths too, which go on where they were', () => {
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
  it('ends the instance with everything in it, and keeps the reason', () => {
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

scenarios('the behaviour of an error', (start) => {
  it.each(['Retry', 'Suspend', 'Terminate'])("is the definition's without another: %s", (name) => {
    const driver = start([failing('a')], { defaultErrorBehavior: name });
    const status = { Retry: 'Runnable', Suspend: 'Suspended', Terminate: 'Terminated' }[name];
    expect(driver.status).toBe(status);
  });

  it("is the step's own before anything else", () => {
    const own = failing('a', { errorBehavior: 'Terminate', compensateWith: [noOp('undo')] });
    const driver = start([box('saga', [own], { saga: true })], { defaultErrorBehavior: 'Suspend' });
    expect(driver.status).toBe('Terminated');
    expect(driver.ran).toEqual([]);
  });

  it.each([
    { where: 'the step', a: { compensateWith: [noOp('undo')] }, around: {} },
    { where: 'a container around it', a: {}, around: { compensateWith: [noOp('undo')] } },
  ])('is Compensate where $where can be compensated', ({ a, around }) => {
    const driver = start([box('box', [failing('a', a)], around)], {
      defaultErrorBehavior: 'Terminate',
    });
    expect(driver.ran).toContain('undo');
    expect(driver.status).toBe('Complete');
  });

  it('is Compensate inside a saga, also without anything to compensate', () => {
    const driver = start(
      inOrder(box('saga', inOrder(failing('a'), noOp('skipped')), { saga: true }), noOp('after')),
      { defaultErrorBehavior: 'Terminate' },
    );
    expect(driver.ran).toEqual(['after']);
    expect(driver.status).toBe('Complete');
  });

  it('Compensate without anything to compensate goes on with the next step and what is selected', () => {
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
