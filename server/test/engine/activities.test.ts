/** Activity: work offered to workers, their results, and when it is offered again or withdrawn. */
import { expect, it } from 'vitest';
import { inOrder } from './support/define.js';
import { scenarios } from './support/scenario.js';
import { activity, box, delay, foreach, fork, noOp } from './support/steps.js';

scenarios('an Activity step', (start) => {
  it('offers its parameters under its name and passes the result to its outputs', () => {
    const driver = start(
      inOrder(
        activity('job', {
          inputs: { activityName: "'print'", parameters: '({ pages: data.pages })' },
          outputs: { result: 'step.Result' },
        }),
        noOp('after'),
      ),
      { data: { pages: 3 } },
    );
    const offer = driver.activity('print');
    expect(offer).toMatchObject({ name: 'print', parameters: { pages: 3 } });
    driver.succeed(offer, { ok: true });
    expect(driver.data['result']).toEqual({ ok: true });
    expect(driver.ran).toEqual(['job', 'after']);
    expect(driver.activities).toEqual([]);
  });

  it.each([null, false, 0, '', []])('accepts any JSON value as the result: %j', (result) => {
    const driver = start([activity('job', { outputs: { result: 'step.Result' } })]);
    driver.succeed(driver.activity('job'), result);
    expect(driver.data['result']).toEqual(result);
  });

  it('offers null if it has no parameters', () => {
    expect(start([activity('job')]).activity('job').parameters).toBeNull();
  });

  it('offers a separate work item for each item of a Foreach', () => {
    const driver = start([
      foreach('each', '[1, 2]', [activity('job', { inputs: { parameters: 'context.Item' } })]),
    ]);
    expect(driver.activities.map(({ parameters }) => parameters)).toEqual([1, 2]);
    expect(new Set(driver.activities.map(({ id }) => id)).size).toBe(2);
    driver.succeed(driver.activities[1]!);
    expect(driver.open).toEqual(['each open', 'job activity']);
    driver.succeed(driver.activities[0]!);
    expect(driver.status).toBe('Complete');
  });

  it('waits indefinitely without a Timeout', () => {
    const driver = start([activity('job')]);
    driver.advance(10 * 365 * 86_400);
    expect(driver.activities).toHaveLength(1);
  });
});

scenarios('a failed activity', (start) => {
  it.each([
    { data: { message: 'no paper', tray: 2 }, message: 'no paper' },
    { data: 'no paper', message: 'no paper' },
    { data: null, message: 'the worker reported a failure' },
    { data: [1], message: 'the worker reported a failure' },
    { data: { message: 5 }, message: 'the worker reported a failure' },
  ])('records the error that the worker reported: $data', ({ data, message }) => {
    const driver = start([activity('job')]);
    driver.reject(driver.activity('job'), data);
    expect(driver.records[0]?.error).toMatchObject({ type: 'ActivityFailed', message, data });
    expect(driver.instance.lastError).toMatchObject({ message, data });
  });

  it('is offered again after the retry interval, with a new id and newly evaluated inputs', () => {
    const driver = start([
      activity('job', { retryInterval: 30, inputs: { parameters: 'context.Step.Attempt' } }),
    ]);
    const first = driver.activity('job');
    driver.reject(first);
    expect(driver.activities).toEqual([]);
    driver.advance(29.999);
    expect(driver.activities).toEqual([]);
    driver.advance(0.001);
    const second = driver.activity('job');
    expect(second.parameters).toBe(2);
    expect(second.id).not.toBe(first.id);
    driver.succeed(second);
    expect(driver.history).toEqual(['job Failed', 'job Complete #2']);
    expect(driver.status).toBe('Complete');
  });

  it('becomes available again when the run that it suspended is resumed', () => {
    const driver = start([activity('job', { errorBehavior: 'Suspend' })]);
    driver.reject(driver.activity('job'));
    expect(driver.status).toBe('Suspended');
    expect(driver.activities).toEqual([]);
    driver.resume();
    driver.succeed(driver.activity('job'));
    expect(driver.status).toBe('Complete');
  });
});

scenarios('the result of a work item', (start) => {
  it('is ignored if it belongs to an earlier attempt', () => {
    const driver = start([
      activity('job', { retryInterval: 5, outputs: { result: 'step.Result' } }),
    ]);
    const first = driver.activity('job');
    driver.reject(first);
    driver.succeed(first, 'late');
    expect(driver.open).toEqual(['job sleeping']);
    driver.advance(5);
    driver.succeed(first, 'later');
    driver.reject(first);
    expect(driver.open).toEqual(['job activity']);
    driver.succeed(driver.activity('job'), 'right');
    expect(driver.data['result']).toBe('right');
  });

  it('counts once if it is sent twice', () => {
    const driver = start(
      inOrder(activity('job', { outputs: { n: 'data.n + 1' } }), delay('after', 60)),
      { data: { n: 0 } },
    );
    const offer = driver.activity('job');
    driver.succeed(offer);
    driver.succeed(offer);
    driver.reject(offer);
    expect(driver.data['n']).toBe(1);
    expect(driver.open).toEqual(['after sleeping']);
  });

  it('is ignored if the step was canceled', () => {
    const driver = start([
      fork('f', 'job', 'stop'),
      activity('job', { cancelCondition: 'data.stop' }),
      delay('stop', 5, { outputs: { stop: 'true' }, nextStepId: 'end' }),
      delay('end', 60),
    ]);
    const offer = driver.activity('job');
    driver.advance(5);
    expect(driver.activities).toEqual([]);
    driver.succeed(offer);
    expect(driver.open).toEqual(['end sleeping']);
  });

  it.each(['w/99/1', 'w/1/99', 'other', '', 'w//', '/1/1'])(
    'is ignored if its id is unknown: %j',
    (activityId) => {
      const driver = start([activity('job')]);
      driver.deliver({ kind: 'activity', activityId, succeeded: true, data: null });
      expect(driver.open).toEqual(['job activity']);
    },
  );
});

scenarios('the Timeout input of an Activity step', (start) => {
  it('fails the step and withdraws the work item', () => {
    const driver = start([activity('job', { inputs: { timeout: 10 }, retryInterval: 5 })]);
    const first = driver.activity('job');
    driver.advance(10);
    expect(driver.records[0]?.error?.type).toBe('Timeout');
    expect(driver.activities).toEqual([]);
    driver.succeed(first, 'too late');
    driver.advance(5);
    driver.succeed(driver.activity('job'));
    expect(driver.history).toEqual(['job Failed', 'job Complete #2']);
  });

  it('withdraws the work item once inside a saga, and the saga compensates', () => {
    const driver = start([
      box(
        'saga',
        inOrder(
          noOp('a', { compensateWith: [noOp('-a')] }),
          activity('job', { inputs: { timeout: 10 } }),
        ),
        { saga: true },
      ),
    ]);
    driver.advance(10);
    expect(driver.ran).toEqual(['a', '-a']);
    expect(driver.activities).toEqual([]);
    expect(driver.status).toBe('Complete');
  });
});

scenarios('a work item of an instance that is not running', (start) => {
  it('is withdrawn when the instance is terminated', () => {
    const driver = start([box('box', [[activity('a')], [activity('b')]])]);
    const offer = driver.activity('a');
    driver.terminate();
    expect(driver.activities).toEqual([]);
    driver.succeed(offer);
    expect(driver.status).toBe('Terminated');
  });

  it('keeps its result while the instance is suspended', () => {
    const driver = start(inOrder(activity('job'), noOp('after')));
    const offer = driver.activity('job');
    driver.suspend();
    driver.succeed(offer);
    expect(driver.ran).toEqual([]);
    driver.resume();
    expect(driver.ran).toEqual(['job', 'after']);
  });

  it('times out at the resume if its timeout passes while the instance is suspended', () => {
    const driver = start([activity('job', { inputs: { timeout: 10 } })]);
    driver.suspend();
    driver.advance(60);
    expect(driver.history).toEqual([]);
    driver.resume();
    expect(driver.history).toEqual(['job Failed']);
  });
});
