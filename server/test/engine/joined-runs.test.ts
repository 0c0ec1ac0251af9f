/** SubWorkflow steps that join an open run, from both sides: the step that waits, and the run that it waits for. */
import { expect, it } from 'vitest';
import { JOINED_BY_MAX } from '../../src/engine/session/end-instance.js';
import type { EngineDriver } from './support/engine-driver.js';
import { inOrder } from './support/define.js';
import { scenarios, type Start } from './support/scenario.js';
import { delay, fork, noOp, subWorkflow, waitFor, type StepMembers } from './support/steps.js';

const JOINING = { errorBehavior: 'Suspend', outputs: { how: 'step.Outcome' } };

scenarios('a step that has joined an open run', (start) => {
  function joining(members: StepMembers = {}, rest: Parameters<Start>[0] = [noOp('after')]) {
    const sub = subWorkflow('sub', { ...JOINING, ...members });
    const driver = start([fork('f', 'sub', 'stop'), sub, delay('stop', 5, STOP), ...rest]);
    driver.endEffect(driver.effect('sub'), { WorkflowId: 'other' });
    return driver;
  }
  const STOP = { outputs: { stop: 'true' } };
  const joins = { kind: 'join', workflowId: 'other', attempt: 1 };

  it('requests a notification of its end, and ends with it', () => {
    const driver = joining();
    expect(driver.instance.outbox).toMatchObject([joins]);
    driver.endChildWith('sub', { status: 'Complete', outcome: 'Succeeded', data: {} });
    expect(driver.data).toMatchObject({ how: 'Succeeded' });
    expect(driver.instance.outbox).toHaveLength(1);
  });

  it.each([
    ['is canceled', { cancelCondition: 'data.stop' }],
    ['times out', { timeout: 5 }],
  ])('leaves it open and withdraws its request if it %s', (_case, members) => {
    const driver = joining(members);
    driver.advance(5);
    expect(driver.instance.outbox).toMatchObject([joins, { ...joins, left: true }]);
  });

  it('withdraws its request if it is terminated', () => {
    const driver = joining();
    driver.terminate();
    expect(driver.instance.outbox).toMatchObject([joins, { ...joins, left: true }]);
  });

  it('fails if the run accepts no more steps, whatever outcomes it accepts', () => {
    const driver = joining({ inputs: { acceptOutcome: ['Failed'] } });
    const error = { stepId: '', type: 'TooManyJoined', message: 'too many', data: null };
    const end = { status: 'Terminated', outcome: 'Failed', error, data: null } as const;
    driver.endChildWith('sub', { ...end, refused: true });
    expect(driver.instance.lastError).toMatchObject({
      type: 'SubWorkflowFailed',
      message: 'this step cannot wait for run other: too many',
    });
    expect(driver.data).not.toHaveProperty('how');
    // It waits for nothing that could be withdrawn.
    expect(driver.instance.outbox).toMatchObject([joins]);
  });
});

scenarios('a step without Wait', (start) => {
  it('leaves its child alone when the run is terminated while the child starts', () => {
    const sub = subWorkflow('sub', { inputs: { wait: false } });
    const driver = start(inOrder(sub, waitFor('after')));
    driver.terminate();
    expect(driver.effects).toEqual([]);
    expect(driver.instance.outbox).toEqual([]);
  });
});

scenarios('a run that steps in other runs have joined', (start) => {
  const step = (n: number) => ({ workflowId: `w${n}`, pointerId: 7, attempt: 1 });

  function joinedBy(count: number): EngineDriver {
    const driver = start([delay('wait', 5)]);
    for (let n = 0; n < count; n += 1) driver.deliver({ kind: 'join', ...step(n) });
    return driver;
  }

  it('notifies each of them of its end once', () => {
    const driver = joinedBy(2);
    driver.deliver({ kind: 'join', ...step(0) });
    driver.advance(5);
    const ended = { kind: 'child-ended', joined: 'ended', pointerId: 7, attempt: 1 };
    expect(driver.instance.outbox).toMatchObject([
      { ...ended, parentId: 'w0' },
      { ...ended, parentId: 'w1' },
    ]);
  });

  it('forgets the steps that no longer wait', () => {
    const driver = joinedBy(2);
    for (const n of [0, 0, 5]) driver.deliver({ kind: 'join', ...step(n), left: true });
    expect(driver.instance.joinedBy).toEqual([step(1)]);
    driver.advance(5);
    expect(driver.instance.outbox).toMatchObject([{ parentId: 'w1' }]);
  });

  it('has room again after steps have left', () => {
    const driver = joinedBy(JOINED_BY_MAX);
    driver.deliver({ kind: 'join', ...step(JOINED_BY_MAX) });
    const refused = { kind: 'child-ended', joined: 'refused', parentId: `w${JOINED_BY_MAX}` };
    expect(driver.instance.outbox).toMatchObject([refused]);
    driver.deliver({ kind: 'join', ...step(3), left: true });
    driver.deliver({ kind: 'join', ...step(JOINED_BY_MAX + 1) });
    expect(driver.instance.joinedBy).toHaveLength(JOINED_BY_MAX);
    expect(driver.instance.outbox).toHaveLength(1);
  });
});
