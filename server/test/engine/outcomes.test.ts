/** How an instance ended, and which error it has afterwards. */
import { describe, expect, it } from 'vitest';
import { readState, writeState } from '../../src/engine/model/snapshot.js';
import type { StepMembers } from './support/steps.js';
import { inOrder } from './support/define.js';
import { scenarios } from './support/scenario.js';
import { box, delay, failing, fork, noOp, trace, waitFor, work } from './support/steps.js';

const noTrail = { data: { trail: [] } };
const undo: StepMembers = { compensateWith: [noOp('undo')] };
/** Fails until `data.ok` exists. */
const flaky = (id: string, members: StepMembers = {}) =>
  noOp(id, { outputs: { seen: 'data.ok.length' }, errorBehavior: 'Suspend', ...members });

scenarios('the outcome', (start) => {
  it('is null while the instance is open, including while it is suspended', () => {
    const driver = start(inOrder(waitFor('a'), flaky('b')));
    expect(driver.instance.outcome).toBeNull();
    driver.publish('a', 'key');
    expect(driver.instance).toMatchObject({ status: 'Suspended', outcome: null });
  });

  it('is Succeeded if a later attempt resolved every failure', () => {
    const driver = start([flaky('a')]);
    driver.data['ok'] = [];
    driver.resume();
    expect(driver.instance).toMatchObject({ outcome: 'Succeeded', lastError: null });
  });

  it('is Compensated if a failure was compensated and the run continued to its end', () => {
    const driver = start(inOrder(failing('a', undo), trace('b')), noTrail);
    expect(driver.data['trail']).toEqual(['b']);
    expect(driver.instance).toMatchObject({
      status: 'Complete',
      outcome: 'Compensated',
      lastError: { stepId: 'a', pointerId: 1 },
    });
  });

  it.each([
    ['in a container', (step: ReturnType<typeof failing>) => box('box', [step])],
    [
      'in a loop',
      (step: ReturnType<typeof failing>) => {
        const loop = { id: 'loop', stepType: 'Foreach', inputs: { collection: '[1, 2]' } };
        return { ...loop, do: [step] };
      },
    ],
  ])('is Compensated even if the failure was compensated %s', (_where, around) => {
    const driver = start(inOrder(around(failing('a', undo)), noOp('after')));
    expect(driver.instance).toMatchObject({ outcome: 'Compensated', lastError: { stepId: 'a' } });
  });

  it('is Compensated if a saga was compensated and then ended the instance', () => {
    const saga = box('saga', [failing('a', undo)], { saga: true, errorBehavior: 'Terminate' });
    const driver = start([saga]);
    expect(driver.instance).toMatchObject({
      status: 'Terminated',
      outcome: 'Compensated',
      lastError: { stepId: 'a' },
    });
  });

  it('is Succeeded if a saga was compensated, retried and succeeded', () => {
    const inside = flaky('a', { ...undo, errorBehavior: 'Compensate' });
    const again = { saga: true, errorBehavior: 'Retry', retryInterval: 5 };
    const driver = start([box('saga', [inside], again)]);
    expect(driver.instance).toMatchObject({ outcome: null, lastError: { stepId: 'a' } });
    driver.data['ok'] = [];
    driver.advance(5);
    expect(driver.ran).toContain('undo');
    expect(driver.instance).toMatchObject({ outcome: 'Succeeded', lastError: null });
  });

  it('is Failed if an error ended the instance, whatever was compensated before', () => {
    const driver = start(inOrder(failing('a', undo), failing('b', { errorBehavior: 'Terminate' })));
    expect(driver.instance).toMatchObject({
      status: 'Terminated',
      outcome: 'Failed',
      lastError: { stepId: 'b' },
    });
  });

  it('is Terminated if a client ended the instance, and the most recent error stays', () => {
    const driver = start([fork('f', 'a', 'b'), flaky('a', { errorBehavior: 'Retry' }), work('b')]);
    driver.terminate();
    expect(driver.instance).toMatchObject({ outcome: 'Terminated', lastError: { stepId: 'a' } });
  });
});

scenarios('the error of an ended instance', (start) => {
  it('is the newest unresolved one, in whatever order the steps ended', () => {
    const driver = start([
      fork('f', 'old', 'new'),
      failing('old', { ...undo, nextStepId: 'slow' }),
      delay('slow', 30),
      delay('new', 10, { nextStepId: 'fails' }),
      failing('fails', { errorBehavior: 'Compensate' }),
    ]);
    expect(driver.instance.lastError).toBeNull();
    driver.advance(30);
    expect(driver.instance).toMatchObject({
      outcome: 'Compensated',
      lastError: { stepId: 'fails' },
    });
  });

  it('does not reappear after a successful retry of its container', () => {
    const slow = { id: 'b', stepType: 'Delay', inputs: { period: "'ok' in data ? 1 : 10" } };
    const inside = inOrder(flaky('a', { errorBehavior: 'Compensate' }), slow);
    const driver = start([box('box', inside, { errorBehavior: 'Suspend', timeout: 5 })]);
    driver.advance(5);
    expect(driver.status).toBe('Suspended');
    driver.data['ok'] = [];
    driver.resume();
    driver.advance(1);
    expect(driver.instance).toMatchObject({ outcome: 'Succeeded', lastError: null });
  });

  it('is kept when its container succeeds', () => {
    const driver = start([box('box', inOrder(failing('a', undo), noOp('b'))), noOp('unused')]);
    expect(driver.instance).toMatchObject({ outcome: 'Compensated', lastError: { stepId: 'a' } });
  });
});

describe('state stored by an earlier version', () => {
  it('is read without the members that this version does not have', () => {
    const text = JSON.stringify({
      data: {},
      pointers: [],
      queue: [],
      nextPointerId: 1,
      taken: [],
      lastError: null,
      spilled: 0,
      recent: [],
      outbox: [],
      parent: null,
      stepsWithoutWait: 0,
    });
    const columns = {
      id: 'w',
      definitionId: 'd',
      version: 1,
      reference: null,
      tags: {},
      index: {},
      status: 'Runnable' as const,
      startTime: 1,
      endTime: null,
      outcome: null,
    };
    const instance = readState(columns, text);
    expect(instance).toMatchObject({ isCompensated: false, lostError: null, outcome: null });
    expect(readState(columns, writeState(instance))).toEqual(instance);
  });
});
