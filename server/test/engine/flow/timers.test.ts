/** Steps that wait for time: Delay, Schedule, Recur; in front and in the background. */
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
  ])('waits for $period, neither less nor more', ({ period, seconds }) => {
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

  it('of no length goes on at once', () => {
    expect(start(inOrder(delay('d', 0), noOp('after'))).ran).toEqual(['d', 'after']);
  });

  it('fires late where nobody looked in time', () => {
    const driver = start(inOrder(delay('d', 5), delay('e', 5)));
    driver.oversleep(60);
    // The second delay counts from when the first one was over for the engine.
    expect(driver.open).toEqual(['e sleeping']);
    driver.advance(4.999);
    expect(driver.status).toBe('Runnable');
    driver.advance(0.001);
    expect(driver.status).toBe('Complete');
  });

  it('several that are due together fire in the order of their times', () => {
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

  it('waits for the interval, runs Do once, then goes on', () => {
    const driver = start([schedule({}, noOp('inside')), noOp('after')]);
    expect(driver.open).toEqual(['schedule sleeping']);
    driver.advance(10);
    expect(driver.ran).toEqual(['inside', 'schedule', 'after']);
    expect(driver.status).toBe('Complete');
  });

  it('with Background goes on at once and keeps the instance Runnable until Do has run', () => {
    const driver = start([schedule({ background: true }, noOp('inside')), noOp('after')]);
    expect(driver.ran).toEqual(['after']);
    expect(driver.status).toBe('Runnable');
    driver.advance(10);
    expect(driver.ran).toEqual(['after', 'inside', 'schedule']);
    expect(driver.status).toBe('Complete');
  });

  it('with Background applies its outputs when it goes on, once', () => {
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

  it('with Background holds up the container that it is in, but not the steps behind it', () => {
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

  it('without steps ends after the interval', () => {
    const driver = start([{ ...schedule({ background: true }), do: [] }, noOp('after')]);
    driver.advance(10);
    expect(driver.ran).toEqual(['after', 'schedule']);
    expect(driver.status).toBe('Complete');
  });

  it('with Background does not run what follows again when it is tried again', () => {
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

  it('goes on at once, runs Do now and then every interval until the stop condition is true', () => {
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

  it('with Background false lets what follows wait for the end', () => {
    const driver = start([recur({ background: false }, count), noOp('after')], none);
    driver.advance(29.999);
    expect(driver.ran).toEqual(['round', 'round', 'round']);
    driver.advance(0.001);
    expect(driver.ran).toEqual(['round', 'round', 'round', 'recur', 'after']);
  });

  it.each([true, false])('runs no round where it stops at once (Background %s)', (background) => {
    const driver = start([recur({ background }, count), noOp('after')], { data: { n: 3 } });
    expect([...driver.ran].sort()).toEqual(['after', 'recur']);
    expect(driver.status).toBe('Complete');
  });

  it('stays in front where it began in front, whatever Background becomes', () => {
    const driver = start([recur({ background: 'data.n > 0' }, count), noOp('after')], none);
    driver.advance(20);
    expect(driver.data['n']).toBe(3);
    expect(driver.ran).not.toContain('after');
    driver.advance(10);
    expect(driver.ran.slice(-2)).toEqual(['recur', 'after']);
  });

  it('lets rounds not overlap: one that lasts longer is followed at once', () => {
    const driver = start([recur({}, ...inOrder(delay('work', 25), count)), noOp('after')], none);
    driver.advance(25);
    expect(driver.data['n']).toBe(1);
    expect(driver.open).toEqual(['recur open', 'work sleeping']);
    driver.advance(25);
    expect(driver.data['n']).toBe(2);
  });

  it('counts the interval from the beginning of a round', () => {
    const driver = start([recur({}, ...inOrder(delay('work', 4), count)), noOp('after')], none);
    driver.advance(13.999);
    expect(driver.data['n']).toBe(1);
    driver.advance(0.001);
    expect(driver.data['n']).toBe(2);
  });

  it('without a stop condition recurs until the instance is ended', () => {
    const driver = start(
      [{ id: 'recur', stepType: 'Recur', inputs: { interval: 10 }, do: [count] }],
      none,
    );
    driver.advance(1000);
    expect(driver.data['n']).toBe(101);
    driver.terminate();
    expect(driver.open).toEqual([]);
  });

  it('in the background of a container holds up the container', () => {
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

  it('in the background of a loop runs once for each turn, side by side', () => {
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

  it('that slept through several rounds makes up for none of them', () => {
    const driver = start([recur({}, count), noOp('after')], none);
    driver.oversleep(60);
    expect(driver.data['n']).toBe(2);
  });
});
