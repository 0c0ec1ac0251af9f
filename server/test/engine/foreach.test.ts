/** Foreach: items, their order, and what its steps see of them. */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from './support/define.js';
import { scenarios } from './support/scenario.js';
import { delay, foreach, noOp, waitFor } from './support/steps.js';

/** Appends a value to `data.trail`. */
const trace = (id: string, value: string): StepSource => ({
  id,
  stepType: 'NoOp',
  outputs: { trail: `[...data.trail, ${value}]` },
});
const noTrail = { data: { trail: [] } };

scenarios('Foreach', (start) => {
  const each = (inputs: Record<string, unknown>, ...inside: StepSource[]): StepSource => ({
    id: 'foreach',
    stepType: 'Foreach',
    inputs: { collection: 'data.items', ...inputs },
    nextStepId: 'after',
    do: [inside],
  });
  const items = (list: readonly number[]) => ({ data: { items: list, trail: [] } });

  it('runs Do for all items in parallel', () => {
    const driver = start(
      [
        each({}, ...inOrder(delay('wait', 5), trace('tell', '[context.Item, context.Index]'))),
        noOp('after'),
      ],
      items([7, 8]),
    );
    expect(driver.open).toEqual(['foreach open', 'wait sleeping', 'wait sleeping']);
    driver.advance(5);
    expect(driver.data['trail']).toEqual([
      [7, 0],
      [8, 1],
    ]);
    expect(driver.ran.slice(-2)).toEqual(['foreach', 'after']);
    expect(driver.status).toBe('Complete');
  });

  it('rejects more parallel items than the document of an instance can hold', () => {
    const many = items(Array.from({ length: 20_001 }, (_, n) => n));
    const driver = start([each({}, noOp('inside')), noOp('after')], many);
    expect(driver.instance.lastError?.message).toContain('at most 20000 can run in parallel');
    expect(driver.ran).toEqual([]);
  });

  it('runs Do for one item after the other with RunParallel false', () => {
    const driver = start(
      [
        each(
          { runParallel: false },
          ...inOrder(delay('wait', 5), trace('tell', '[context.Item, context.Index]')),
        ),
        noOp('after'),
      ],
      items([7, 8]),
    );
    expect(driver.open).toEqual(['foreach open', 'wait sleeping']);
    driver.advance(5);
    expect(driver.data['trail']).toEqual([[7, 0]]);
    driver.advance(5);
    expect(driver.data['trail']).toEqual([
      [7, 0],
      [8, 1],
    ]);
    expect(driver.status).toBe('Complete');
  });

  it('keeps the items that it had when it started', () => {
    const driver = start(
      [
        each(
          { runParallel: false },
          {
            ...noOp('shrink'),
            outputs: { items: '[]', trail: '[...data.trail, context.Item]' },
          },
        ),
        noOp('after'),
      ],
      items([1, 2, 3]),
    );
    expect(driver.data['trail']).toEqual([1, 2, 3]);
  });

  it.each([true, false])('continues at once without items (RunParallel %s)', (runParallel) => {
    const driver = start([each({ runParallel }, noOp('inside')), noOp('after')], items([]));
    expect(driver.ran).toEqual(['foreach', 'after']);
  });

  it.each([true, false])('continues at once without steps (RunParallel %s)', (runParallel) => {
    const driver = start([each({ runParallel }), noOp('after')], items([1]));
    expect(driver.ran).toEqual(['foreach', 'after']);
  });

  it('runs every sequence of Do for each item', () => {
    const driver = start(
      [
        {
          ...each({ runParallel: false }),
          do: [[trace('x', '`x${context.Item}`')], [trace('y', '`y${context.Item}`')]],
        },
        noOp('after'),
      ],
      items([1, 2]),
    );
    expect(driver.data['trail']).toEqual(['x1', 'y1', 'x2', 'y2']);
  });

  it('exposes the item to the steps of an If and to everything nested in it', () => {
    const inner: StepSource = {
      id: 'if',
      stepType: 'If',
      inputs: { condition: 'context.Item > 1' },
      do: [
        {
          id: 'box',
          stepType: 'Sequence',
          do: inOrder(trace('tell', 'context.Item'), trace('again', 'context.Item')),
        },
      ],
    };
    const driver = start([each({}, inner), noOp('after')], items([1, 2, 3]));
    expect(driver.data['trail']).toEqual([2, 3, 2, 3]);
  });

  it('exposes the innermost item, and the outer one again after the inner loop', () => {
    const driver = start(
      [
        {
          id: 'outer',
          stepType: 'Foreach',
          inputs: { collection: "['a', 'b']", runParallel: false },
          do: inOrder(
            {
              id: 'inner',
              stepType: 'Foreach',
              inputs: { collection: '[context.Item + 1, context.Item + 2]', runParallel: false },
              do: [trace('tell', 'context.Item')],
            },
            trace('back', '[context.Item, context.Index]'),
          ),
        },
        trace('outside', 'context.Item'),
      ],
      noTrail,
    );
    expect(driver.data['trail']).toEqual(['a1', 'a2', ['a', 0], 'b1', 'b2', ['b', 1]]);
  });

  it('exposes no item outside a loop', () => {
    const driver = start(
      [
        {
          id: 'foreach',
          stepType: 'Foreach',
          inputs: { collection: '[1]' },
          nextStepId: 'outside',
          do: [noOp('inside')],
        },
        trace('outside', '[context.Item, context.Index]'),
      ],
      noTrail,
    );
    expect(driver.data['trail']).toEqual([[null, null]]);
  });

  it('iterates over the keys of an object, as Python does', () => {
    const driver = start(
      [
        {
          id: 'foreach',
          stepType: 'Foreach',
          inputs: { collection: '({ x: 1, y: 2 })' },
          do: [trace('tell', 'context.Item')],
        },
      ],
      noTrail,
    );
    expect(driver.data['trail']).toEqual(['x', 'y']);
  });

  it('passes null as an item', () => {
    const driver = start(
      [
        {
          id: 'foreach',
          stepType: 'Foreach',
          inputs: { collection: '[null, 0]' },
          do: [inOrder(delay('wait', 1), trace('tell', '[context.Item, context.Index]'))],
        },
      ],
      noTrail,
    );
    driver.advance(1);
    expect(driver.data['trail']).toEqual([
      [null, 0],
      [0, 1],
    ]);
  });

  it.each(['context.Step.Attempt === 1', 'context.Step.Attempt > 1'])(
    'starts with the first item when it is retried, even if RunParallel has changed (%s)',
    (runParallel) => {
      const inside = [
        noOp('tell', { outputs: { trail: '[...data.trail, context.Item]' }, nextStepId: 'wait' }),
        waitFor('wait'),
      ];
      const driver = start(
        [foreach('each', "['x', 'y']", inside, { inputs: { runParallel }, timeout: 10 })],
        { data: { trail: [] }, defaultErrorRetryInterval: 1 },
      );
      driver.advance(11);
      const { length } = driver.data['trail'] as string[];
      driver.publish('wait', 'key');
      driver.advance(1);
      driver.publish('wait', 'key');
      expect((driver.data['trail'] as string[]).slice(-2)).toEqual(['x', 'y']);
      expect(length).toBe(3);
      expect(driver.status).toBe('Complete');
    },
  );

  it('fails if the collection is not iterable', () => {
    const driver = start(
      [
        {
          id: 'foreach',
          stepType: 'Foreach',
          errorBehavior: 'Terminate',
          inputs: { collection: 'data.n' },
          do: [noOp('inside')],
        },
      ],
      { data: { n: 5 } },
    );
    expect(driver.status).toBe('Terminated');
    expect(driver.instance.lastError?.type).toBe('InputError');
    expect(driver.instance.lastError?.message).toContain('Collection');
  });

  it('records item and index in the history', () => {
    const driver = start([each({}, noOp('inside')), noOp('after')], items([5, 6]));
    const inside = driver.records.filter(({ stepId }) => stepId === 'inside');
    expect(inside.map(({ item, index }) => [item, index])).toEqual([
      [5, 0],
      [6, 1],
    ]);
  });
});
