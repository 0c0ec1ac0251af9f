/** The error behavior Retry: intervals, back-off, jitter, and the maximum number of retries. */
import { expect, it } from 'vitest';
import { inOrder } from '../support/define.js';
import { scenarios } from '../support/scenario.js';
import { box, delay, fork, noOp, waitFor, work } from '../support/steps.js';

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
    { name: 'the interval of the step', step: { retryInterval: 5 }, seconds: 5 },
    {
      name: 'the interval of the step given as a string',
      step: { retryInterval: '00:02:00' },
      seconds: 120,
    },
    { name: 'the interval of the definition if the step has none', step: {}, seconds: 7 },
    { name: 'an interval of days', step: { retryInterval: '3.00:00:00' }, seconds: 259_200 },
  ])('waits for $name', ({ step, seconds }) => {
    const driver = start([work('a', step)], { defaultErrorRetryInterval: 7 });
    driver.failEffect(driver.effect('a'));
    driver.advance(seconds - 0.001);
    expect(driver.effects).toEqual([]);
    driver.advance(0.001);
    expect(driver.effects).toHaveLength(1);
  });

  it('evaluates the inputs again and exposes the attempt number', () => {
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

  it('continues forever without MaxRetries', () => {
    const driver = start([work('a', { retryInterval: 1 })]);
    for (let attempt = 1; attempt <= 100; attempt += 1) {
      driver.failEffect(driver.effect('a'));
      driver.advance(1);
    }
    driver.endEffect(driver.effect('a'));
    expect(driver.history.at(-1)).toBe('a Complete #101');
  });

  it('multiplies the pause by RetryBackoff each time, up to one day', () => {
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

  it('adds up to RetryJitter to the pause, differently for each step and attempt but repeatably', () => {
    const count = 100;
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

  it('runs ten times at once with an interval of 0, then every 100 ms, whatever RetryBackoff says', () => {
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
  ])('applies OnRetriesExhausted after MaxRetries: $onRetriesExhausted', (expected) => {
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

  it('suspends by default after MaxRetries, and a resume restores all retries', () => {
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

  it('does not run again with MaxRetries 0', () => {
    const driver = start([work('a', { maxRetries: 0 })]);
    driver.failEffect(driver.effect('a'));
    expect(driver.status).toBe('Suspended');
  });

  it('leaves other branches alone', () => {
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

  it('cancels everything inside a container, then runs the container again', () => {
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
