/** Step bodies that run outside the engine: HttpRequest, custom steps, SubWorkflow. */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from './support/define.js';
import { scenarios, type Start } from './support/scenario.js';
import {
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

scenarios('an effect', (start) => {
  const http: StepSource = {
    id: 'call',
    stepType: 'HttpRequest',
    inputs: { baseUrl: "'https://example.org'", headers: { plain: 'x', '@Tenant': 'data.tenant' } },
    outputs: { code: 'step.ResponseCode' },
  };

  it('gets the evaluated inputs and passes its values to the outputs', () => {
    const driver = start(inOrder(http, noOp('after')), { data: { tenant: 't1' } });
    expect(driver.effect('call').inputs).toEqual({
      BaseUrl: 'https://example.org',
      Headers: { plain: 'x', Tenant: 't1' },
    });
    driver.endEffect(driver.effect('call'), { ResponseCode: 404 });
    expect(driver.data['code']).toBe(404);
    expect(driver.ran).toEqual(['call', 'after']);
  });

  it('is committed before the next step runs', () => {
    const driver = start(inOrder(http, waitFor('after')), { data: { tenant: 't1' } });
    expect(driver.commitsDue).toBe(0);
    driver.endEffect(driver.effect('call'), { ResponseCode: 200 });
    expect(driver.commitsDue).toBe(1);
  });

  it('runs in several branches at the same time, which end in any order', () => {
    const driver = start([
      foreach('each', '[1, 2, 3]', [
        work('job', { inputs: { n: 'context.Item' }, outputs: { last: 'context.Item' } }),
      ]),
    ]);
    const [first, second, third] = driver.effects;
    driver.endEffect(third!);
    expect(driver.data['last']).toBe(3);
    driver.endEffect(first!);
    driver.endEffect(second!);
    expect(driver.data['last']).toBe(2);
    expect(driver.status).toBe('Complete');
  });

  it('raises a step error when it fails', () => {
    const driver = start([work('job', { errorBehavior: 'Suspend' })]);
    const failure = { type: 'ValueError', message: 'bad', traceback: 'line 3', data: null };
    driver.failEffect(driver.effect('job'), failure);
    expect(driver.instance.lastError).toMatchObject({ ...failure, stepId: 'job', attempt: 1 });
  });

  it('belongs to the same execution when it runs again after a crash', () => {
    const driver = start([work('job')]);
    const before = driver.effect('job');
    driver.reload();
    expect(driver.effect('job')).toEqual(before);
    driver.endEffect(before);
    expect(driver.status).toBe('Complete');
  });

  it('is abandoned when its step times out, and a late result is ignored', () => {
    const driver = start([
      work('job', { timeout: 10, retryInterval: 5, outputs: { x: 'step.x' } }),
    ]);
    const late = driver.effect('job');
    driver.advance(10);
    expect(driver.effects).toEqual([]);
    driver.endEffect(late, { x: 'late' });
    expect(driver.open).toEqual(['job sleeping']);
    driver.advance(5);
    driver.endEffect(late, { x: 'later' });
    expect(driver.open).toEqual(['job effect']);
    driver.endEffect(driver.effect('job'), { x: 'right' });
    expect(driver.data['x']).toBe('right');
  });

  it('is abandoned when its step is canceled, and a late result is ignored', () => {
    const driver = start([
      fork('f', 'job', 'stop'),
      work('job', { cancelCondition: 'data.stop', nextStepId: 'never' }),
      work('stop', { outputs: { stop: 'true' }, nextStepId: 'end' }),
      waitFor('end'),
      noOp('never'),
    ]);
    const late = driver.effect('job');
    driver.endEffect(driver.effect('stop'));
    expect(driver.effects).toEqual([]);
    driver.endEffect(late);
    driver.failEffect(late);
    expect(driver.open).toEqual(['end event']);
  });

  it('stores its result while the instance is suspended, and the branch waits', () => {
    const driver = start(inOrder(work('job', { outputs: { x: '1' } }), noOp('after')));
    const effect = driver.effect('job');
    driver.suspend();
    driver.endEffect(effect);
    expect(driver.data).toEqual({});
    driver.resume();
    expect(driver.data).toEqual({ x: 1 });
    expect(driver.status).toBe('Complete');
  });

  it('is abandoned when the instance is terminated', () => {
    const driver = start([box('box', [work('job')])]);
    const late = driver.effect('job');
    driver.terminate();
    expect(driver.effects).toEqual([]);
    driver.endEffect(late);
    expect(driver.history).toEqual(['job Cancelled', 'box Cancelled']);
  });
});

scenarios('a SubWorkflow step', (start) => {
  const outputs = { id: 'step.WorkflowId', status: 'step.Status', child: 'step.Data' };

  it('waits until the child has ended', () => {
    const driver = start(inOrder(subWorkflow('sub', { outputs }), noOp('after')));
    driver.endEffect(driver.effect('sub'));
    expect(driver.open).toEqual(['sub child']);
    expect(driver.effects).toEqual([]);
    driver.endChild('sub', 'Complete', { result: 5 });
    expect(driver.data).toEqual({ id: 'w.1.1', status: 'Complete', child: { result: 5 } });
    expect(driver.ran).toEqual(['sub', 'after']);
  });

  const waiting = (start: Start, accepted: unknown, members: StepMembers = {}) => {
    const inputs = { acceptOutcome: accepted };
    const sub = subWorkflow('sub', { inputs, errorBehavior: 'Suspend', ...members });
    const driver = start(inOrder(sub, noOp('after')));
    driver.endEffect(driver.effect('sub'));
    return driver;
  };

  it.each([
    ['Compensated', 'Complete'],
    ['Failed', 'Terminated'],
    ['Terminated', 'Terminated'],
  ] as const)(
    'fails if the child ended as %s, unless AcceptOutcome lists it',
    (outcome, status) => {
      const error = { stepId: 'pay', type: 'Declined', message: 'no money', data: null };
      const end = { status, outcome, error, data: {} };
      const driver = waiting(start, null);
      driver.endChildWith('sub', end);
      expect(driver.status).toBe('Suspended');
      expect(driver.instance.lastError).toMatchObject({
        stepId: 'sub',
        type: 'ChildFailed',
        message: `run w.1.1 ended with the outcome ${outcome}: step pay failed: no money`,
        data: { workflowId: 'w.1.1', outcome, error },
      });
      // A retry starts another child.
      driver.resume();
      expect(driver.effect('sub')).toMatchObject({ attempt: 2 });
      for (const accepted of [[outcome], [outcome.toUpperCase()], `'${outcome}'`]) {
        const accepting = waiting(start, accepted, { outputs: { how: 'step.Outcome' } });
        accepting.endChildWith('sub', end);
        expect(accepting.data).toEqual({ how: outcome });
        expect(accepting.ran).toEqual(['sub', 'after']);
      }
    },
  );

  it('derives the outcome from the status that an earlier version of the server reports', () => {
    const driver = waiting(start, null);
    driver.endChild('sub', 'Terminated');
    expect(driver.instance.lastError?.message).toBe('run w.1.1 ended with the outcome Terminated');
  });

  it('rejects an invalid AcceptOutcome at run time too', () => {
    const driver = start([
      subWorkflow('sub', { inputs: { acceptOutcome: "['Sunny']" }, errorBehavior: 'Suspend' }),
    ]);
    expect(driver.instance.lastError).toMatchObject({
      type: 'InputError',
      message: expect.stringContaining('AcceptOutcome') as string,
    });
    expect(() => start([subWorkflow('sub', { inputs: { acceptOutcome: ['Sunny'] } })])).toThrow(
      'AcceptOutcome: expected a list with any of Succeeded, Compensated, Failed, Terminated',
    );
  });

  it('continues once the child has started with Wait false', () => {
    const driver = start(
      inOrder(subWorkflow('sub', { inputs: { wait: false }, outputs }), noOp('after')),
    );
    expect(driver.open).toEqual(['sub child']);
    driver.endEffect(driver.effect('sub'));
    expect(driver.data).toEqual({ id: 'w.1.1', status: 'Runnable', child: null });
    expect(driver.status).toBe('Complete');
    expect(driver.instance.outbox).toEqual([]);
  });

  it('fails if the child cannot be started', () => {
    const driver = start([subWorkflow('sub', { errorBehavior: 'Suspend' })]);
    driver.failEffect(driver.effect('sub'), { type: 'NotFound', message: 'no such definition' });
    expect(driver.instance.lastError?.type).toBe('NotFound');
    // No child was started, so there is none to terminate.
    expect(driver.instance.outbox).toEqual([]);
  });

  it('accepts the end of the child before the confirmation of its start', () => {
    const driver = start(inOrder(subWorkflow('sub', { outputs }), waitFor('after')));
    const starting = driver.effect('sub');
    driver.endChild('sub', 'Complete', {});
    driver.endEffect(starting);
    expect(driver.open).toEqual(['after event']);
  });

  it('accepts the end once, and only from the child that it is waiting for', () => {
    const driver = start(inOrder(subWorkflow('sub'), waitFor('after')));
    driver.endEffect(driver.effect('sub'));
    const { id: pointerId, attempt } = driver.pointer('sub');
    const end = { kind: 'child', status: 'Complete', data: {} } as const;
    driver.deliver({ ...end, pointerId, attempt, workflowId: 'stranger' });
    driver.deliver({ ...end, pointerId, attempt: 2, workflowId: 'w.1.1' });
    driver.deliver({ ...end, pointerId: 9, attempt, workflowId: 'w.1.1' });
    expect(driver.open).toEqual(['sub child']);
    driver.deliver({ ...end, pointerId, attempt, workflowId: 'w.1.1' });
    driver.deliver({ ...end, pointerId, attempt, workflowId: 'w.1.1' });
    expect(driver.open).toEqual(['after event']);
  });

  const terminated = [{ kind: 'terminate-child', workflowId: 'w.2.1' }];

  it('terminates the child once when it is canceled', () => {
    const driver = start([
      fork('f', 'sub', 'stop'),
      subWorkflow('sub', { cancelCondition: 'data.stop' }),
      delay('stop', 5, { outputs: { stop: 'true' } }),
    ]);
    driver.endEffect(driver.effect('sub'));
    driver.advance(5);
    expect(driver.instance.outbox).toEqual(terminated);
    expect(driver.status).toBe('Complete');
  });

  it('terminates the child when it is canceled before the start is confirmed', () => {
    const driver = start([
      fork('f', 'sub', 'stop'),
      subWorkflow('sub', { cancelCondition: 'data.stop' }),
      delay('stop', 5, { outputs: { stop: 'true' } }),
    ]);
    driver.advance(5);
    expect(driver.effects).toEqual([]);
    expect(driver.instance.outbox).toEqual(terminated);
  });

  it('terminates the child once when its container or instance ends', () => {
    const driver = start([box('box', [subWorkflow('sub')])]);
    driver.endEffect(driver.effect('sub'));
    driver.terminate();
    expect(driver.instance.outbox).toEqual(terminated);
  });

  it('terminates the child once when it times out in a saga, and is compensated', () => {
    const driver = start([
      box('saga', [subWorkflow('sub', { timeout: 5, compensateWith: [noOp('-sub')] })], {
        saga: true,
      }),
    ]);
    driver.endEffect(driver.effect('sub'));
    driver.advance(5);
    expect(driver.instance.outbox).toEqual(terminated);
    expect(driver.ran).toEqual(['-sub']);
  });

  it('starts another child when it is retried', () => {
    const driver = start([subWorkflow('sub', { timeout: 5, retryInterval: 1 })]);
    driver.endEffect(driver.effect('sub'));
    driver.advance(6);
    expect(driver.pointer('sub').state).toMatchObject({ workflowId: 'w.1.2', started: false });
  });

  it('stores a confirmed start and needs no second confirmation', () => {
    const driver = start([subWorkflow('sub')]);
    driver.endEffect(driver.effect('sub'));
    driver.reload();
    expect(driver.effects).toEqual([]);
  });
});
