/** Modifications: everything that a person may do to put an instance right. */
import { describe, expect, it } from 'vitest';
import { define, inOrder } from '../support/define.js';
import { EngineDriver } from '../support/engine-driver.js';
import { scenarios } from '../support/scenario.js';
import {
  activity,
  box,
  delay,
  failing,
  foreach,
  noOp,
  saga,
  subWorkflow,
  trace,
  undoable,
  waitFor,
  work,
} from '../support/steps.js';

const noTrail = { data: { trail: [] } };

scenarios('a modification', (start) => {
  it('starts a step instead of the one that waits', () => {
    const driver = start(inOrder(trace('a'), waitFor('b'), trace('c')), noTrail);
    const { id } = driver.pointer('b');
    const result = driver.modify({ cancel: 'all', start: [{ stepId: 'c', inside: null }] });
    expect(result).toEqual({
      outcome: 'applied',
      cancelled: [{ executionId: id, stepId: 'b' }],
      started: [{ executionId: id + 1, stepId: 'c' }],
      warnings: [],
    });
    expect(driver.data['trail']).toEqual(['a', 'c']);
    expect(driver.status).toBe('Complete');
    expect(driver.instance.outcome).toBe('Succeeded');
    expect(driver.subscriptions).toEqual([]);
  });

  it('shows its reason in the records of the canceled and started steps', () => {
    const driver = start([waitFor('a')]);
    const reason = 'the event never comes';
    driver.modify({ reason, cancel: 'all', start: [{ stepId: 'a', inside: null }] });
    driver.publish('a', 'key');
    expect(driver.records.map(({ status, reason: shown }) => [status, shown])).toEqual([
      ['Cancelled', reason],
      ['Complete', reason],
    ]);
  });

  it('merges its patch into the data', () => {
    const driver = start([waitFor('a')], { data: { keep: 1, change: { x: 1, y: 2 }, remove: 3 } });
    driver.modify({ data: { change: { x: 5 }, remove: null, add: [1] } });
    expect(driver.data).toEqual({ keep: 1, change: { x: 5, y: 2 }, add: [1] });
    expect(driver.open).toEqual(['a event']);
  });

  it('lets a cancel condition see the patched data', () => {
    const driver = start([waitFor('a', { cancelCondition: 'data.stop' })], {
      data: { stop: false },
    });
    driver.modify({ data: { stop: true } });
    expect(driver.history).toEqual(['a Cancelled']);
    expect(driver.status).toBe('Complete');
  });

  it('completes the instance if it cancels everything, also while suspended', () => {
    for (const isSuspended of [false, true]) {
      const driver = start(inOrder(waitFor('a'), trace('b')), noTrail);
      if (isSuspended) driver.suspend();
      driver.modify({ cancel: 'all' });
      expect(driver.status).toBe('Complete');
      expect(driver.data['trail']).toEqual([]);
    }
  });

  it('cancels an execution with everything inside it; its container joins as usual', () => {
    const driver = start(
      inOrder(
        box('outer', [[box('inner', [waitFor('a'), waitFor('x')])], [delay('d', 60)]]),
        trace('z'),
      ),
      noTrail,
    );
    driver.modify({ cancel: [driver.pointer('inner').id] });
    expect(driver.open).toEqual(['outer open', 'd sleeping']);
    driver.modify({ cancel: [driver.pointer('d').id] });
    expect(driver.data['trail']).toEqual(['z']);
    expect(driver.status).toBe('Complete');
  });

  it('keeps a container open for a step that starts inside it', () => {
    const driver = start(
      inOrder(box('box', inOrder(waitFor('a'), trace('b'))), trace('z')),
      noTrail,
    );
    const result = driver.modify({
      cancel: [driver.pointer('a').id],
      start: [{ stepId: 'b', inside: null }],
    });
    expect(result.outcome).toBe('applied');
    expect(driver.data['trail']).toEqual(['b', 'z']);
  });

  it('continues with the next item when the current one of a sequential Foreach is canceled', () => {
    const driver = start(
      [foreach('each', '[1, 2, 3]', [waitFor('a')], { inputs: { runParallel: false } })],
      noTrail,
    );
    driver.modify({ cancel: [driver.pointer('a').id] });
    expect(driver.pointer('a')).toMatchObject({ item: 2, index: 1 });
  });

  it('starts a step with the current item of a sequential Foreach', () => {
    const driver = start([
      foreach('each', '[1, 2, 3]', inOrder(waitFor('a'), waitFor('b')), {
        inputs: { runParallel: false },
      }),
    ]);
    driver.modify({ cancel: [driver.pointer('a').id], start: [{ stepId: 'b', inside: null }] });
    expect(driver.pointer('b')).toMatchObject({ item: 1, index: 0 });
  });

  it('needs the item for a step inside a parallel Foreach', () => {
    const driver = start([foreach('each', '[1, 2]', inOrder(waitFor('a'), waitFor('b')))]);
    const wanted = { stepId: 'b', inside: null };
    expect(driver.modify({ start: [wanted] })).toMatchObject({
      outcome: 'impossible',
      obstacles: [{ code: 'item_required', pointer: '/start/0/item' }],
    });
    driver.modify({ start: [{ ...wanted, item: 2, index: 1 }] });
    expect(driver.pointer('b')).toMatchObject({ item: 2, index: 1 });
  });

  it('names the executions that a step could be started in', () => {
    const inside = [box('box', inOrder(waitFor('a'), trace('b')))];
    const driver = start([foreach('each', '[1, 2]', inside)], noTrail);
    const boxes = driver.pointers.filter(({ stepId }) => stepId === 'box').map(({ id }) => id);
    const wanted = { stepId: 'b', inside: null };
    expect(driver.modify({ start: [wanted] })).toMatchObject({
      obstacles: [{ code: 'ambiguous_container', executionIds: boxes, pointer: '/start/0/inside' }],
    });
    driver.modify({ start: [{ ...wanted, inside: boxes[1]! }] });
    expect(driver.data['trail']).toEqual(['b']);
  });

  it('reports every obstacle and changes nothing (E11)', () => {
    const driver = start(inOrder(noOp('past'), waitFor('a'), box('later', [noOp('inner')])));
    const before = driver.text;
    const result = driver.modify({
      data: { changed: true },
      cancel: [1, 77],
      start: [
        { stepId: 'nothing', inside: null },
        { stepId: 'inner', inside: null },
        { stepId: 'a', inside: 1 },
      ],
    });
    expect(result).toMatchObject({
      outcome: 'impossible',
      obstacles: [
        { code: 'execution_ended', pointer: '/cancel/0' },
        { code: 'unknown_execution', pointer: '/cancel/1' },
        { code: 'unknown_step', pointer: '/start/0/stepId' },
        { code: 'container_not_open', pointer: '/start/1/stepId' },
        { code: 'execution_ended', pointer: '/start/2/inside' },
      ],
    });
    expect(driver.text).toBe(before);
  });

  it('opens an instance that has ended', () => {
    const driver = start(
      inOrder(trace('a'), failing('b', { errorBehavior: 'Terminate' })),
      noTrail,
    );
    expect(driver.instance.outcome).toBe('Failed');
    driver.modify({ start: [{ stepId: 'a', inside: null }], data: { noSuchField: 1 } });
    expect(driver.data['trail']).toEqual(['a', 'a']);
    expect(driver.instance).toMatchObject({
      status: 'Complete',
      outcome: 'Succeeded',
      lastError: null,
    });
  });

  it('patches the data of an instance that has ended, which stays ended', () => {
    const driver = start([noOp('a')]);
    const { endTime } = driver.instance;
    driver.modify({ data: { note: 1 } });
    expect(driver.instance).toMatchObject({ status: 'Complete', endTime, data: { note: 1 } });
  });

  it('keeps the outcome and the error of an ended instance that it does not open again', () => {
    const driver = start([failing('a', { errorBehavior: 'Terminate' })]);
    const { lastError } = driver.instance;
    driver.modify({ cancel: 'all', data: { note: 1 } });
    expect(driver.instance).toMatchObject({ outcome: 'Failed', lastError });
  });

  it('leaves a suspended instance suspended unless it resumes it', () => {
    const driver = start(inOrder(waitFor('a'), trace('b')), noTrail);
    driver.suspend();
    driver.modify({ cancel: 'all', start: [{ stepId: 'b', inside: null }] });
    expect(driver.status).toBe('Suspended');
    expect(driver.data['trail']).toEqual([]);
    driver.modify({ resume: true });
    expect(driver.data['trail']).toEqual(['b']);
    expect(driver.status).toBe('Complete');
  });

  it('withdraws the work of the canceled steps', () => {
    const driver = start([
      box('box', [[work('w')], [activity('act')], [subWorkflow('sub')], [waitFor('e')]]),
    ]);
    const sub = driver.pointer('sub');
    driver.modify({ cancel: 'all' });
    expect(driver.effects).toEqual([]);
    expect(driver.activities).toEqual([]);
    expect(driver.subscriptions).toEqual([]);
    expect(sub.state.kind).not.toBe('child');
    expect(driver.status).toBe('Complete');
  });

  it('compensates nothing, and leaves completed steps to a later termination with compensation', () => {
    const driver = start(inOrder(saga(inOrder(undoable('a'), waitFor('b'))), trace('z')), noTrail);
    driver.modify({ cancel: 'all', start: [{ stepId: 'z', inside: null }] });
    expect(driver.data['trail']).toEqual(['z']);
  });

  it('skips a compensation that hangs', () => {
    const driver = start(
      [
        saga(
          inOrder(undoable('a'), noOp('b', { compensateWith: [waitFor('stuck')] }), failing('c')),
        ),
      ],
      noTrail,
    );
    driver.modify({ cancel: [driver.pointer('stuck').id] });
    expect(driver.data['trail']).toContain('-a');
    expect(driver.instance.outcome).toBe('Compensated');
  });

  it('says that it stops the last compensation of a termination', () => {
    const driver = start(
      inOrder(noOp('a', { compensateWith: [waitFor('stuck')] }), waitFor('b')),
      noTrail,
    );
    driver.cleanUp();
    const result = driver.modify({ cancel: 'all', start: [{ stepId: 'b', inside: null }] });
    const message =
      'The termination with compensation was stopped: 1 completed step is not compensated';
    expect(result).toMatchObject({ warnings: [{ code: 'clean_up_stopped', message }] });
  });

  it('stops a termination with compensation', () => {
    const driver = start(
      inOrder(undoable('a'), noOp('b', { compensateWith: [waitFor('stuck')] }), waitFor('c')),
      noTrail,
    );
    driver.cleanUp();
    const result = driver.modify({ cancel: 'all', start: [{ stepId: 'c', inside: null }] });
    expect(result).toMatchObject({ warnings: [{ code: 'clean_up_stopped' }] });
    driver.publish('c', 'key');
    expect(driver.instance.outcome).toBe('Succeeded');
  });
});

describe('a move to another version', () => {
  const first = define(inOrder(waitFor('a'), trace('b')));
  const version = (steps: Parameters<typeof define>[0]) => ({ ...define(steps), version: 2 });

  it('continues with the steps of the other version', () => {
    const driver = new EngineDriver(first, noTrail);
    const second = version(inOrder(waitFor('a'), trace('b2'), trace('c2')));
    expect(driver.modify({}, second).outcome).toBe('applied');
    driver.publish('a', 'key');
    expect(driver.data['trail']).toEqual(['b2', 'c2']);
    expect(driver.instance.version).toBe(2);
  });

  it('maps open steps to their new names', () => {
    const driver = new EngineDriver(first, noTrail);
    const second = version(inOrder(waitFor('renamed'), trace('b2')));
    expect(driver.modify({}, second)).toMatchObject({
      obstacles: [{ code: 'step_missing', pointer: '/version' }],
    });
    driver.modify({ stepMap: { a: 'renamed' } }, second);
    expect(driver.open).toEqual(['renamed event']);
    driver.publish('a', 'key');
    expect(driver.data['trail']).toEqual(['b2']);
  });

  it('is impossible for an open step of another type or in another container', () => {
    const driver = new EngineDriver(first, noTrail);
    expect(driver.modify({}, version([delay('a', 5)]))).toMatchObject({
      obstacles: [{ code: 'step_type_differs' }],
    });
    expect(driver.modify({}, version([box('box', [waitFor('a')])]))).toMatchObject({
      obstacles: [{ code: 'container_differs' }],
    });
    expect(driver.open).toEqual(['a event']);
  });

  it('needs no counterpart for canceled steps', () => {
    const driver = new EngineDriver(first, noTrail);
    const start = [{ stepId: 'x', inside: null }];
    expect(driver.modify({ cancel: 'all', start }, version([trace('x')])).outcome).toBe('applied');
    expect(driver.data['trail']).toEqual(['x']);
  });

  it('drops compensations that the other version does not have, with a warning', () => {
    const steps = inOrder(undoable('a'), undoable('b'), waitFor('c'), failing('d'));
    const driver = new EngineDriver(define([saga(steps)]), noTrail);
    const others = inOrder(noOp('a'), undoable('b'), waitFor('c'), failing('d'));
    expect(driver.modify({}, version([saga(others)]))).toMatchObject({
      warnings: [{ code: 'compensation_lost' }],
    });
    driver.publish('c', 'key');
    expect(driver.data['trail']).toEqual(['-b', '-saga']);
  });

  it('watches the cancel conditions of the other version', () => {
    const driver = new EngineDriver(first, { data: { trail: [], stop: true } });
    driver.modify({}, version([waitFor('a', { cancelCondition: 'data.stop' })]));
    expect(driver.history).toEqual(['a Cancelled']);
  });
});
