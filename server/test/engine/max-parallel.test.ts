/** Foreach with MaxParallel: how many items are open at once, and when the next one opens. */
import { describe, expect, it } from 'vitest';
import { stateVersionOf } from '../../src/engine/model/snapshot.js';
import type { Json } from '../../src/engine/values/json.js';
import { define, inOrder, type StepSource } from './support/define.js';
import { EngineDriver } from './support/engine-driver.js';
import { scenarios } from './support/scenario.js';
import { activity, delay, failing, foreach, noOp, saga, work } from './support/steps.js';

const SIX = '[0, 1, 2, 3, 4, 5]';

/** Six items of which at most two are open at once. */
const each = (
  inside: NonNullable<StepSource['do']>,
  members: Parameters<typeof foreach>[3] = {},
): StepSource =>
  foreach('each', SIX, inside, { ...members, inputs: { maxParallel: 2, ...members.inputs } });

const item = (id: string, members: Partial<StepSource> = {}): StepSource =>
  activity(id, { ...members, inputs: { parameters: 'context.Item', ...members.inputs } });

/** The items of the offered work. */
const offered = (driver: EngineDriver): readonly Json[] =>
  driver.activities.map(({ parameters }) => parameters);

/** The indexes of the items that are open in a Foreach, in ascending order. */
function openIn(driver: EngineDriver, foreachId = 'each'): readonly number[] {
  const { id } = driver.pointer(foreachId);
  const inside = driver.pointers.filter(({ parentId }) => parentId === id);
  return [...new Set(inside.map(({ index = -1 }) => index))].sort((a, b) => a - b);
}

function answer(driver: EngineDriver, wanted: Json): void {
  driver.succeed(driver.activities.find(({ parameters }) => parameters === wanted)!);
}

scenarios('Foreach with MaxParallel', (start) => {
  it('opens the next item, in order, when any one has ended', () => {
    const driver = start([each([item('job')], { nextStepId: 'after' }), noOp('after')]);
    expect(offered(driver)).toEqual([0, 1]);
    answer(driver, 1);
    expect(offered(driver)).toEqual([0, 2]);
    answer(driver, 2);
    expect(offered(driver)).toEqual([0, 3]);
    answer(driver, 0);
    expect(offered(driver)).toEqual([3, 4]);
    for (const index of [3, 4, 5]) answer(driver, index);
    expect(driver.ran.slice(-2)).toEqual(['each', 'after']);
    expect(driver.status).toBe('Complete');
  });

  it('opens all items if there are no more than MaxParallel', () => {
    const driver = start([each([item('job')], { inputs: { maxParallel: 1e15 } })]);
    expect(offered(driver)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('runs one item after another with 1', () => {
    const tell = noOp('tell', { outputs: { trail: '[...data.trail, context.Index]' } });
    const steps = [each([inOrder(delay('wait', 5), tell)], { inputs: { maxParallel: 1 } })];
    const driver = start(steps, { data: { trail: [] } });
    for (let index = 0; index < 6; index += 1) {
      expect(openIn(driver)).toEqual([index]);
      driver.advance(5);
    }
    expect(driver.data['trail']).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('counts an item as open until all its sequences and branches have ended', () => {
    const driver = start([each([inOrder(item('a'), item('b')), [item('c')]])]);
    expect(offered(driver)).toEqual([0, 0, 1, 1]);
    const [a, c] = driver.activities;
    driver.succeed(c!);
    expect(openIn(driver)).toEqual([0, 1]);
    driver.succeed(a!);
    expect(openIn(driver)).toEqual([0, 1]);
    answer(driver, 0);
    expect(openIn(driver)).toEqual([1, 2]);
  });

  it('counts an item as open while a part of it runs in the background', () => {
    const later: StepSource = {
      id: 'later',
      stepType: 'Schedule',
      inputs: { interval: 5, background: true },
      do: [noOp('done')],
    };
    const driver = start([each([later])]);
    expect(openIn(driver)).toEqual([0, 1]);
    driver.advance(5);
    expect(openIn(driver)).toEqual([2, 3]);
  });

  it('opens the next item when all executions of one were canceled, and not before', () => {
    const driver = start([each([[item('a')], [item('b')]])]);
    const [first, second] = driver.pointers.filter(({ index }) => index === 0);
    driver.modify({ cancel: [first!.id] });
    expect(openIn(driver)).toEqual([0, 1]);
    driver.modify({ cancel: [second!.id] });
    expect(openIn(driver)).toEqual([1, 2]);
  });

  it('opens the next items when all open ones are canceled at once', () => {
    const driver = start([each([item('job')])]);
    const cancel = driver.pointers.filter(({ index }) => index !== undefined).map(({ id }) => id);
    driver.modify({ cancel });
    expect(openIn(driver)).toEqual([2, 3]);
  });

  it('opens the next item when a cancel condition has ended one', () => {
    const job = item('job', { cancelCondition: 'data.stop === context.Item' });
    const driver = start([each([job])], { data: { stop: null } });
    driver.modify({ data: { stop: 1 } });
    expect(openIn(driver)).toEqual([0, 2]);
  });

  it('opens items of a suspended instance, and runs them when it is resumed', () => {
    const driver = start([each([item('job')])]);
    driver.suspend();
    driver.modify({ cancel: [driver.activities[0]!].map(() => driver.pointers[1]!.id) });
    expect(openIn(driver)).toEqual([1, 2]);
    expect(offered(driver)).toEqual([1]);
    driver.resume();
    expect(offered(driver)).toEqual([1, 2]);
  });

  it('counts an item that waits for a retry as open', () => {
    const world = { healthy: false };
    const broken = noOp('job', { outputs: { ok: 'world.healthy ? true : data.none' } });
    const driver = start([each([broken])], { world, defaultErrorRetryInterval: 1 });
    expect(openIn(driver)).toEqual([0, 1]);
    driver.advance(10);
    expect(openIn(driver)).toEqual([0, 1]);
    world.healthy = true;
    driver.advance(1);
    expect(driver.status).toBe('Complete');
    expect(driver.ran.filter((id) => id === 'job')).toHaveLength(6);
  });

  it('stops opening items while a failure suspends the instance, and goes on when it is resumed', () => {
    const world = { healthy: false };
    const broken = noOp('job', {
      outputs: { ok: 'world.healthy || context.Index !== 0 ? true : data.none' },
      errorBehavior: 'Suspend',
    });
    const driver = start([each([broken])], { world });
    expect(driver.status).toBe('Suspended');
    expect(openIn(driver)).toEqual([0, 1]);
    world.healthy = true;
    driver.resume();
    expect(driver.status).toBe('Complete');
  });

  it('opens nothing more when a failure terminates the instance', () => {
    const driver = start([each([failing('job', { errorBehavior: 'Terminate' })])]);
    expect(driver.status).toBe('Terminated');
    expect(driver.records.filter(({ stepId }) => stepId === 'job')).toHaveLength(2);
  });

  it('opens the next item after one that was compensated, and not while it is', () => {
    const broken = failing('job', { errorBehavior: 'Compensate', compensateWith: [work('undo')] });
    const driver = start([each([broken])]);
    expect(driver.effects).toHaveLength(2);
    expect(openIn(driver)).toEqual([0, 1]);
    driver.endEffect(driver.effects[1]!);
    expect(openIn(driver)).toEqual([0, 2]);
    while (driver.effects.length > 0) driver.endEffect(driver.effects[0]!);
    expect(driver.status).toBe('Complete');
    expect(driver.records.filter(({ status }) => status === 'Compensated')).toHaveLength(6);
  });

  it('opens nothing more once a saga around it compensates', () => {
    const job = item('job', {
      errorBehavior: 'Compensate',
      compensateWith: [noOp('undo', { outputs: { undone: '[...data.undone, context.Item]' } })],
    });
    const driver = start([saga([each([job])], {})], { data: { undone: [] } });
    answer(driver, 0);
    answer(driver, 2);
    driver.reject(driver.activities.find(({ parameters }) => parameters === 1)!);
    // Item 3 was offered, and no worker had it.
    expect(driver.data['undone']).toEqual([1, 2, 0]);
    expect(driver.records.some(({ index }) => index === 4)).toBe(false);
    expect(driver.status).toBe('Complete');
  });

  it('starts with the first items when a saga that is the Foreach is retried', () => {
    const world = { healthy: false };
    const job = noOp('job', {
      outputs: { ok: 'world.healthy || context.Index < 3 ? true : data.none' },
      errorBehavior: 'Compensate',
    });
    const members = { saga: true, errorBehavior: 'Retry', retryInterval: 1 } as const;
    const driver = start([each([inOrder(delay('wait', 1), job)], members)], { world });
    driver.advance(2);
    expect(driver.open).toEqual(['each sleeping']);
    world.healthy = true;
    driver.advance(1);
    expect(openIn(driver)).toEqual([0, 1]);
    driver.advance(3);
    expect(driver.status).toBe('Complete');
  });

  it('starts with the first items when it is retried after its timeout, with MaxParallel evaluated again', () => {
    const members = { timeout: 10, inputs: { maxParallel: 'context.Step.Attempt' } };
    const driver = start([each([item('job')], members)], { defaultErrorRetryInterval: 1 });
    answer(driver, 0);
    expect(openIn(driver)).toEqual([1]);
    driver.advance(11);
    expect(openIn(driver)).toEqual([0, 1]);
  });

  it('limits each execution of a nested Foreach by itself', () => {
    const inner = foreach('inner', "['a', 'b', 'c']", [item('job')], {
      inputs: { maxParallel: 2 },
    });
    const driver = start([each([inner])]);
    expect(offered(driver)).toEqual(['a', 'b', 'a', 'b']);
    for (let answers = 0; answers < 5; answers += 1) driver.succeed(driver.activities[0]!);
    expect(openIn(driver)).toEqual([1, 2]);
    while (driver.activities.length > 0) {
      expect(driver.activities.length).toBeLessThanOrEqual(4);
      driver.succeed(driver.activities.at(-1)!);
    }
    expect(driver.ran.filter((id) => id === 'job')).toHaveLength(18);
    expect(driver.status).toBe('Complete');
  });

  it('counts an item that a modification starts, and opens no other one until there is room', () => {
    const driver = start([each([item('job')])]);
    const inside = driver.pointer('each').id;
    driver.modify({ start: [{ stepId: 'job', inside, item: 'extra', index: 9 }] });
    expect(openIn(driver)).toEqual([0, 1, 9]);
    answer(driver, 0);
    expect(openIn(driver)).toEqual([1, 9]);
    answer(driver, 'extra');
    expect(openIn(driver)).toEqual([1, 2]);
  });

  it('requires the item of a step that a modification starts', () => {
    const driver = start([each([item('job')])]);
    const inside = driver.pointer('each').id;
    const result = driver.modify({ start: [{ stepId: 'job', inside, index: 0 }] });
    expect(result).toMatchObject({ obstacles: [{ code: 'item_required' }] });
  });

  it('keeps its MaxParallel when it moves to a version with another one', () => {
    const driver = start([each([item('job')])]);
    const target = define([each([item('job')], { inputs: { maxParallel: 5 } })]);
    driver.modify({}, { ...target, version: 2 });
    expect(openIn(driver)).toEqual([0, 1]);
    answer(driver, 0);
    expect(openIn(driver)).toEqual([1, 2]);
  });

  it.each([2, null])('ends in a version without steps in it (MaxParallel %s)', (maxParallel) => {
    const driver = start([
      each([item('job')], { inputs: { maxParallel, runParallel: maxParallel !== null } }),
    ]);
    const cancel = driver.pointers.filter(({ index }) => index !== undefined).map(({ id }) => id);
    driver.modify({ cancel }, { ...define([each([])]), version: 2 });
    expect(driver.status).toBe('Complete');
  });

  it('runs the items one after another with RunParallel false, whatever MaxParallel is', () => {
    const inputs = { runParallel: 'data.together', maxParallel: 3 };
    const driver = start([each([item('job')], { inputs })], { data: { together: false } });
    expect(offered(driver)).toEqual([0]);
  });

  it.each([
    ['0', '0'],
    ['-1', '-1'],
    ['1.5', '1.5'],
    ['1e300', '1e+300'],
    ['9007199254740993', '9.007199254740992e+15'],
    ["'' + '3'", 'the string "3"'],
    ["'' + 'many'", 'the string "many"'],
    ['true', 'true'],
    ['[3]', 'a list of 1 item'],
    ['null', 'null'],
  ])('fails with an InputError if MaxParallel is %s', (maxParallel, shown) => {
    for (const runParallel of ['true', 'false']) {
      const members = { errorBehavior: 'Terminate', inputs: { maxParallel, runParallel } } as const;
      const driver = start([each([noOp('job')], members)]);
      expect(driver.status).toBe('Terminated');
      expect(driver.instance.lastError).toMatchObject({
        type: 'InputError',
        message: `the input MaxParallel: expected a whole number from 1, but got ${shown}`,
      });
    }
  });
});

describe('the stored form of a Foreach with MaxParallel', () => {
  it('makes a node of a version that does not know it open one item after another', () => {
    const driver = new EngineDriver(define([each([item('job')])]));
    // Without `parallel`, that node opens the item `next` when nothing is open inside.
    const items = [0, 1, 2, 3, 4, 5];
    expect(driver.pointer('each').memo).toEqual({ kind: 'items', items, next: 2, maxParallel: 2 });
    expect(stateVersionOf(driver.instance)).toBe(1);
  });

  it('is gone once all items have been opened', () => {
    const driver = new EngineDriver(define([each([item('job')])]));
    for (const index of [0, 1, 2, 3]) answer(driver, index);
    expect(driver.pointer('each').memo).toBeNull();
  });
});
