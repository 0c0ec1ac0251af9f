/** Steps that wait for time: Delay, Schedule, Recur; in the foreground and in the background. */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from '../support/define.js';
import { scenarios } from '../support/scenario.js';
import { delay, noOp } from '../support/steps.js';

scenarios('Delay', (start) => {
  it.each([
    { period: 5, seconds: 5 },
    { period: '"00:00:05"', seconds: 5 },
    { period: '"1.00:00:00"', seconds: 86_400 },
    { period: '"PT1M"', seconds: 60 },
    { period: 'data.wait / 2', seconds: 2 },
  ])('waits for exactly $period', ({ period, seconds }) => {
    const driver = start(
      inOrder({ id: 'd', stepType: 'Delay', inputs: { period } }, noOp('after')),
      {
        data: { wait: 4 },
      },
    );
    driver.advance(seconds - 0.001);
    expect(driver.ran).toEqual([]);
    driver.advance(0.001);
    expect(driver.ran).toEqual(['d', 'after']);
  });

  it('continues at once if it has zero length', () => {
    expect(start(inOrder(delay('d', 0), noOp('after'))).ran).toEqual(['d', 'after']);
  });

  it('fires late if it was not checked in time', () => {
    const driver = start(inOrder(delay('d', 5), delay('e', 5)));
    driver.oversleep(60);
    // The second delay starts when the engine processed the end of the first one.
    expect(driver.open).toEqual(['e sleeping']);
    driver.advance(4.999);
    expect(driver.status).toBe('Runnable');
    driver.advance(0.001);
    expect(driver.status).toBe('Complete');
  });

  it('fires in order of due time if several are due at the same time', () => {
    const driver = start([
      { ...noOp('fork'), selectNextStep: { late: 'true', early: 'true' } },
      delay('late', 5),
      delay('early', 3),
    ]);
    driver.oversleep(60);
    expect(driver.ran).toEqual(['fork', 'early', 'late']);
  });
});

scenarios('Schedule', (start) => {
  const schedule = (inputs: Record<string, unknown>, ...inside: StepSource[]): StepSource => ({
    id: 'schedule',
    stepType: 'Schedule',
    inputs: { interval: 10, ...inputs },
    nextStepId: 'after',
    do: [inside],
  });

  it('waits for the interval, runs Do once, then continues', () => {
    const driver = start([schedule({}, noOp('inside')), noOp('after')]);
    expect(driver.open).toEqual(['schedule sleeping']);
    driver.advance(10);
    expect(driver.ran).toEqual(['inside', 'schedule', 'after']);
    expect(driver.status).toBe('Complete');
  });

  it('continues at once with Background, and keeps the instance Runnable until Do has run', () => {
    const driver = start([schedule({ background: true }, noOp('inside')), noOp('after')]);
    expect(driver.ran).toEqual(['after']);
    expect(driver.status).toBe('Runnable');
    driver.advance(10);
    expect(driver.ran).toEqual(['after', 'inside', 'schedule']);
    expect(driver.status).toBe('Complete');
  });

  it('applies its outputs once with Background, when it continues', () => {
    const driver = start(
      [
        { ...schedule({ background: true }, noOp('inside')), outputs: { n: 'data.n + 1' } },
        noOp('after'),
      ],
      { data: { n: 0 } },
    );
    expect(driver.data).toEqual({ n: 1 });
    driver.advance(10);
    expect(driver.data).toEqual({ n: 1 });
  });

  it('delays the end of its container with Background, but not its next steps', () => {
    const driver = start([
      {
        id: 'box',
        stepType: 'Sequence',
        nextStepId: 'end',
        do: [schedule({ background: true }, noOp('inside')), noOp('after')],
      },
      noOp('end'),
    ]);
    expect(driver.ran).toEqual(['after']);
    driver.advance(10);
    expect(driver.ran).toEqual(['after', 'inside', 'schedule', 'box', 'end']);
  });

  it('ends after the interval if it has no steps', () => {
    const driver = start([{ ...schedule({ background: true }), do: [] }, noOp('after')]);
    driver.advance(10);
    expect(driver.ran).toEqual(['after', 'schedule']);
    expect(driver.status).toBe('Complete');
  });

  it('does not run its next steps again when it is retried with Background', () => {
    const driver = start([
      {
        ...schedule({ background: true }, delay('inside', 60)),
        timeout: 15,
        errorBehavior: 'Retry',
        retryInterval: 1,
        maxRetries: 1,
        onRetriesExhausted: 'Compensate',
      },
      noOp('after'),
    ]);
    driver.advance(120);
    expect(driver.history).toEqual([
      'after Complete',
      'schedule Failed',
      'inside Cancelled',
      'schedule Failed #2',
      'inside Cancelled',
    ]);
    expect(driver.status).toBe('Complete');
  });
});

scenarios('Recur', (start) => {
  const recur = (inputs: Record<string, unknown>, ...inside: StepSource[]): StepSource => ({
    id: 'recur',
    stepType: 'Recur',
    inputs: { interval: 10, stopCondition: 'data.n >= 3', ...inputs },
    nextStepId: 'after',
    do: [inside],
  });
  const count: StepSource = { ...noOp('round'), outputs: { n: 'data.n + 1' } };
  const none = { data: { n: 0 } };

  it('continues at once, runs Do immediately and then every interval until StopCondition is true', () => {
    const driver = start([recur({}, count), noOp('after')], none);
    expect([...driver.ran].sort()).toEqual(['after', 'round']);
    driver.advance(9.999);
    expect(driver.data['n']).toBe(1);
    driver.advance(0.001);
    expect(driver.data['n']).toBe(2);
    driver.advance(10);
    expect(driver.data['n']).toBe(3);
    expect(driver.status).toBe('Runnable');
    driver.advance(10);
    expect(driver.status).toBe('Complete');
    expect(driver.ran.at(-1)).toBe('recur');
    expect(driver.data['n']).toBe(3);
  });

  it('delays its next steps until its end with Background false', () => {
    const driver = start([recur({ background: false }, count), noOp('after')], none);
    driver.advance(29.999);
    expect(driver.ran).toEqual(['round', 'round', 'round']);
    driver.advance(0.001);
    expect(driver.ran).toEqual(['round', 'round', 'round', 'recur', 'after']);
  });

  it.each([true, false])(
    'runs no round if StopCondition is already true (Background %s)',
    (background) => {
      const driver = start([recur({ background }, count), noOp('after')], { data: { n: 3 } });
      expect([...driver.ran].sort()).toEqual(['after', 'recur']);
      expect(driver.status).toBe('Complete');
    },
  );

  it('stays in the foreground if it started there, whatever Background evaluates to later', () => {
    const driver = start([recur({ background: 'data.n > 0' }, count), noOp('after')], none);
    driver.advance(20);
    expect(driver.data['n']).toBe(3);
    expect(driver.ran).not.toContain('after');
    driver.advance(10);
    expect(driver.ran.slice(-2)).toEqual(['recur', 'after']);
  });

  it('starts the next round at once after one that exceeds the interval, and never overlaps rounds', () => {
    const driver = start([recur({}, ...inOrder(delay('work', 25), count)), noOp('after')], none);
    driver.advance(25);
    expect(driver.data['n']).toBe(1);
    expect(driver.open).toEqual(['recur open', 'work sleeping']);
    driver.advance(25);
    expect(driver.data['n']).toBe(2);
  });

  it('measures the interval from the start of a round', () => {
    const driver = start([recur({}, ...inOrder(delay('work', 4), count)), noOp('after')], none);
    driver.advance(13.999);
    expect(driver.data['n']).toBe(1);
    driver.advance(0.001);
    expect(driver.data['n']).toBe(2);
  });

  it('continues without StopCondition until the instance ends', () => {
    const driver = start(
      [{ id: 'recur', stepType: 'Recur', inputs: { interval: 10 }, do: [count] }],
      none,
    );
    driver.advance(1000);
    expect(driver.data['n']).toBe(101);
    driver.terminate();
    expect(driver.open).toEqual([]);
  });

  it('delays the end of its container while it is in the background', () => {
    const driver = start(
      [
        {
          id: 'box',
          stepType: 'Sequence',
          nextStepId: 'end',
          do: [recur({}, count), noOp('after')],
        },
        noOp('end'),
      ],
      none,
    );
    driver.advance(29.999);
    expect(driver.open).toEqual(['box open', 'recur sleeping']);
    driver.advance(0.001);
    expect(driver.ran.slice(-3)).toEqual(['recur', 'box', 'end']);
  });

  it('runs once per loop iteration in the background, in parallel', () => {
    const driver = start(
      [
        {
          id: 'foreach',
          stepType: 'Foreach',
          inputs: { collection: '[1, 2]' },
          do: [
            {
              id: 'recur',
              stepType: 'Recur',
              inputs: { interval: 10, stopCondition: 'data.n >= 4' },
              do: [count],
            },
          ],
        },
      ],
      none,
    );
    driver.advance(10);
    expect(driver.data['n']).toBe(4);
    driver.advance(10);
    expect(driver.status).toBe('Complete');
  });

  it('does not catch up on missed rounds', () => {
    const driver = start([recur({}, count), noOp('after')], none);
    driver.oversleep(60);
    expect(driver.data['n']).toBe(2);
  });
});
