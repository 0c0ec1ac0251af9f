/** Timeout of a step: how long one attempt may take, in any kind of wait. */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from './support/define.js';
import { scenarios } from './support/scenario.js';
import {
  activity,
  box,
  delay,
  foreach,
  fork,
  noOp,
  subWorkflow,
  waitFor,
  work,
  type StepMembers,
} from './support/steps.js';

scenarios('Timeout', (start) => {
  it.each<{ of: string; step: (members: StepMembers) => StepSource }>([
    { of: 'Delay', step: (members) => delay('a', 60, members) },
    { of: 'WaitFor', step: (members) => waitFor('a', members) },
    { of: 'Activity', step: (members) => activity('a', members) },
    { of: 'a custom step', step: (members) => work('a', members) },
    { of: 'SubWorkflow', step: (members) => subWorkflow('a', members) },
    { of: 'a container', step: (members) => box('a', [waitFor('x')], members) },
    { of: 'a loop', step: (members) => foreach('a', '[1, 2]', [work('x')], members) },
  ])('fails $of, and nothing of the attempt remains', ({ step }) => {
    const driver = start(
      inOrder(step({ timeout: 10, errorBehavior: 'Compensate' }), delay('after', 60)),
    );
    driver.advance(9.999);
    expect(driver.history).toEqual([]);
    driver.advance(0.001);
    expect(driver.history[0]).toBe('a Failed');
    expect(driver.records[0]?.error?.type).toBe('Timeout');
    expect(driver.open).toEqual(['after sleeping']);
    expect(driver.subscriptions).toEqual([]);
    expect(driver.activities).toEqual([]);
    expect(driver.effects).toEqual([]);
  });

  it('restarts with each attempt', () => {
    const driver = start([waitFor('a', { timeout: 10, retryInterval: 60 })]);
    driver.advance(10);
    expect(driver.open).toEqual(['a sleeping']);
    driver.advance(60);
    expect(driver.open).toEqual(['a event']);
    driver.advance(9.999);
    expect(driver.open).toEqual(['a event']);
    driver.advance(0.001);
    expect(driver.history).toEqual(['a Failed', 'a Failed #2']);
  });

  it('does not affect a step that ended in time', () => {
    const driver = start(inOrder(delay('a', 5, { timeout: 10 }), delay('b', 60)));
    driver.advance(30);
    expect(driver.history).toEqual(['a Complete']);
  });

  it.each([
    { period: 5, history: ['a Complete'] },
    { period: 10, history: ['a Complete'] },
    { period: 20, history: ['a Failed'] },
  ])('wins against a Delay of $period s if it ends first, even if both are checked late', (c) => {
    const step = delay('a', c.period, { timeout: 10, errorBehavior: 'Compensate' });
    const late = start([step]);
    late.oversleep(60);
    expect(late.history).toEqual(c.history);
    const healthy = start([step]);
    healthy.advance(60);
    expect(healthy.history).toEqual(c.history);
  });

  it('does not affect a container that completed before it, even if it is checked late', () => {
    const driver = start([
      {
        id: 'schedule',
        stepType: 'Schedule',
        inputs: { interval: 5 },
        timeout: 6,
        errorBehavior: 'Compensate',
      },
    ]);
    driver.oversleep(60);
    expect(driver.history).toEqual(['schedule Complete']);
  });

  it('waits until the resume if the timeout of another step suspends the instance at the same check', () => {
    const driver = start([
      fork('f', 'a', 'b'),
      waitFor('a', { timeout: 5, errorBehavior: 'Suspend' }),
      waitFor('b', { timeout: 6, errorBehavior: 'Terminate' }),
    ]);
    driver.oversleep(60);
    expect(driver.history).toEqual(['f Complete', 'a Failed']);
    expect(driver.status).toBe('Suspended');
    driver.resume();
    expect(driver.status).toBe('Terminated');
  });

  it('does not affect the pause before the retry of a saga, even if it is checked late', () => {
    const driver = start([
      box('saga', [waitFor('a', { timeout: 5 })], {
        saga: true,
        timeout: 6,
        errorBehavior: 'Retry',
        retryInterval: 60,
      }),
    ]);
    driver.oversleep(10);
    expect(driver.open).toEqual(['saga sleeping']);
    driver.advance(59.999);
    expect(driver.open).toEqual(['saga sleeping']);
    driver.advance(0.001);
    expect(driver.open).toEqual(['saga open', 'a event']);
  });

  it('covers all iterations of a loop', () => {
    const driver = start(
      [
        {
          id: 'while',
          stepType: 'While',
          inputs: { condition: 'true' },
          timeout: 10,
          errorBehavior: 'Terminate',
          do: inOrder(delay('wait', 3), noOp('turn', { outputs: { n: 'data.n + 1' } })),
        },
      ],
      { data: { n: 0 } },
    );
    driver.advance(60);
    expect(driver.data['n']).toBe(3);
    expect(driver.status).toBe('Terminated');
  });

  it('covers all rounds of a background sequence, whose next steps run only once', () => {
    const driver = start(
      [
        {
          id: 'recur',
          stepType: 'Recur',
          inputs: { interval: 4 },
          timeout: 10,
          errorBehavior: 'Compensate',
          nextStepId: 'after',
          do: [noOp('round', { outputs: { n: 'data.n + 1' } })],
        },
        noOp('after'),
      ],
      { data: { n: 0 } },
    );
    driver.advance(60);
    expect(driver.data['n']).toBe(3);
    expect(driver.ran.filter((stepId) => stepId === 'after')).toHaveLength(1);
    expect(driver.status).toBe('Complete');
  });

  it('fails an inner step without failing the container, which then completes', () => {
    const driver = start([
      box('box', [waitFor('a', { timeout: 5, errorBehavior: 'Compensate' })], { timeout: 10 }),
    ]);
    driver.advance(60);
    expect(driver.history).toEqual(['a Failed', 'box Complete']);
  });

  it('fails only the container if that of an inner step ends at the same time', () => {
    const timeout = { timeout: 5, errorBehavior: 'Compensate' } as const;
    const driver = start([box('box', [waitFor('a', timeout)], timeout)]);
    driver.advance(5);
    expect(driver.history).toEqual(['box Failed', 'a Cancelled']);
  });

  it('takes effect at the resume if the instance is suspended', () => {
    const driver = start([waitFor('a', { timeout: 10 })]);
    driver.suspend();
    driver.advance(60);
    expect(driver.history).toEqual([]);
    driver.resume();
    expect(driver.history).toEqual(['a Failed']);
  });

  it('does not affect a step that got its result while the instance was suspended', () => {
    const driver = start([work('a', { timeout: 10 })]);
    driver.suspend();
    driver.endEffect(driver.effect('a'));
    driver.advance(60);
    driver.resume();
    expect(driver.history).toEqual(['a Complete']);
  });
});
