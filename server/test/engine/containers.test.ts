/** Steps that run other steps: If, While, Foreach, Parallel, Sequence. */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from './support/define.js';
import { EndlessLoopError } from './support/engine-driver.js';
import { scenarios } from './support/scenario.js';
import { delay, foreach, noOp, waitFor } from './support/steps.js';

/** Writes a value to the end of `data.trail`. */
const trace = (id: string, value: string): StepSource => ({
  id,
  stepType: 'NoOp',
  outputs: { trail: `[...data.trail, ${value}]` },
});
const noTrail = { data: { trail: [] } };

scenarios('If', (start) => {
  it.each([
    { condition: 'true', expected: ['inside', 'if', 'after'] },
    { condition: "'text'", expected: ['inside', 'if', 'after'] },
    { condition: 'false', expected: ['if', 'after'] },
    { condition: '[]', expected: ['if', 'after'] },
  ])('runs Do when $condition is true by Python truth', ({ condition, expected }) => {
    const driver = start([
      {
        id: 'if',
        stepType: 'If',
        inputs: { condition },
        nextStepId: 'after',
        do: [noOp('inside')],
      },
      noOp('after'),
    ]);
    expect(driver.ran).toEqual(expected);
    expect(driver.status).toBe('Complete');
  });

  it('runs all sequences of Do side by side and waits for the slowest', () => {
    const driver = start([
      {
        id: 'if',
        stepType: 'If',
        inputs: { condition: 'true' },
        nextStepId: 'after',
        do: [inOrder(delay('slow', 10), noOp('late')), [delay('fast', 1)]],
      },
      noOp('after'),
    ]);
    expect(driver.open).toEqual(['if open', 'slow sleeping', 'fast sleeping']);
    driver.advance(1);
    expect(driver.ran).toEqual(['fast']);
    driver.advance(9);
    expect(driver.ran).toEqual(['fast', 'slow', 'late', 'if', 'after']);
  });

  it('applies its outputs and selectors after what is inside', () => {
    const driver = start(
      [
        {
          id: 'if',
          stepType: 'If',
          inputs: { condition: 'true' },
          outputs: { seen: 'data.n' },
          selectNextStep: { after: 'data.seen === 1' },
          do: [{ ...noOp('inside'), outputs: { n: '1' } }],
        },
        noOp('after'),
      ],
      { data: { n: 0 } },
    );
    expect(driver.ran).toEqual(['inside', 'if', 'after']);
    expect(driver.data).toEqual({ n: 1, seen: 1 });
  });

  it('is done at once where Do is empty', () => {
    const driver = start([{ id: 'if', stepType: 'If', inputs: { condition: 'true' } }]);
    expect(driver.ran).toEqual(['if']);
  });
});

scenarios('While', (start) => {
  const loop = (condition: string): StepSource => ({
    id: 'while',
    stepType: 'While',
    inputs: { condition },
    nextStepId: 'after',
    do: [[{ ...noOp('turn'), outputs: { n: 'data.n + 1' } }]],
  });

  it.each([
    { turns: 0, expected: ['while', 'after'] },
    { turns: 1, expected: ['turn', 'while', 'after'] },
    { turns: 3, expected: ['turn', 'turn', 'turn', 'while', 'after'] },
  ])('runs Do $turns times', ({ turns, expected }) => {
    const driver = start([loop('data.n < data.turns'), noOp('after')], { data: { n: 0, turns } });
    expect(driver.ran).toEqual(expected);
    expect(driver.status).toBe('Complete');
  });

  it('begins the next turn only when every sequence of Do has ended', () => {
    const driver = start(
      [
        {
          id: 'while',
          stepType: 'While',
          inputs: { condition: 'data.n < 2' },
          do: [[delay('slow', 5)], [{ ...noOp('count'), outputs: { n: 'data.n + 1' } }]],
        },
      ],
      { data: { n: 0 } },
    );
    expect(driver.ran).toEqual(['count']);
    driver.advance(5);
    expect(driver.ran).toEqual(['count', 'slow', 'count']);
    driver.advance(5);
    expect(driver.ran).toEqual(['count', 'slow', 'count', 'slow', 'while']);
  });

  it('does not shut out others while it turns without anything inside', () => {
    const driver = start(
      [
        { ...noOp('fork'), selectNextStep: { while: 'true', stop: 'true' } },
        { id: 'while', stepType: 'While', inputs: { condition: '!data.stopped' } },
        inOrder(noOp('stop'), noOp('later'))[0]!,
        { ...noOp('later'), outputs: { stopped: 'true' } },
      ],
      { data: { stopped: false } },
    );
    expect(driver.status).toBe('Complete');
    expect(driver.ran).toContain('while');
  });

  it('is one line of the history, however often it turns', () => {
    const driver = start([loop('data.n < 4'), noOp('after')], { data: { n: 0 } });
    expect(driver.ran.filter((stepId) => stepId === 'while')).toHaveLength(1);
  });

  it('turns for ever where its condition stays true, which the server bounds', () => {
    const forever = () => start([loop('true'), noOp('after')], { data: { n: 0 }, stepsMax: 500 });
    expect(forever).toThrow(EndlessLoopError);
  });
});

scenarios('Foreach', (start) => {
  const each = (inputs: Record<string, unknown>, ...inside: StepSource[]): StepSource => ({
    id: 'foreach',
    stepType: 'Foreach',
    inputs: { collection: 'data.items', ...inputs },
    nextStepId: 'after',
    do: [inside],
  });
  const items = (list: readonly number[]) => ({ data: { items: list, trail: [] } });

  it('runs Do for all items at once', () => {
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

  it('refuses more items side by side than the document of an instance can hold', () => {
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

  it('keeps the items of the moment in which it was reached', () => {
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

  it.each([true, false])('goes on at once without items (RunParallel %s)', (runParallel) => {
    const driver = start([each({ runParallel }, noOp('inside')), noOp('after')], items([]));
    expect(driver.ran).toEqual(['foreach', 'after']);
  });

  it.each([true, false])('goes on at once without steps (RunParallel %s)', (runParallel) => {
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

  it('shows the item to the steps of an If and of all that is nested in it', () => {
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

  it('shows the innermost item, and the outer one again after the inner loop', () => {
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

  it('shows no item outside of a loop', () => {
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

  it('takes the keys of an object, as Python does', () => {
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

  it('passes on null as an item', () => {
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
    'that is tried again begins with the first item, also when it runs otherwise then (%s)',
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

  it('fails where the collection is none', () => {
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

  it('shows item and index in the history', () => {
    const driver = start([each({}, noOp('inside')), noOp('after')], items([5, 6]));
    const inside = driver.records.filter(({ stepId }) => stepId === 'inside');
    expect(inside.map(({ item, index }) => [item, index])).toEqual([
      [5, 0],
      [6, 1],
    ]);
  });
});

scenarios('Parallel and Sequence', (start) => {
  it.each(['Parallel', 'Sequence'])('%s runs every sequence of Do as a branch', (stepType) => {
    const driver = start([
      {
        id: 'box',
        stepType,
        nextStepId: 'after',
        do: [inOrder(delay('a1', 3), noOp('a2')), [delay('b1', 2)], [noOp('c1')]],
      },
      noOp('after'),
    ]);
    expect(driver.ran).toEqual(['c1']);
    driver.advance(2);
    expect(driver.ran).toEqual(['c1', 'b1']);
    driver.advance(1);
    expect(driver.ran).toEqual(['c1', 'b1', 'a1', 'a2', 'box', 'after']);
    expect(driver.status).toBe('Complete');
  });

  it.each(['Parallel', 'Sequence'])('%s is done at once where Do is empty', (stepType) => {
    const driver = start([{ id: 'box', stepType, nextStepId: 'after' }, noOp('after')]);
    expect(driver.ran).toEqual(['box', 'after']);
  });

  it('waits for every path inside, selected ones included', () => {
    const driver = start([
      {
        id: 'box',
        stepType: 'Parallel',
        nextStepId: 'after',
        do: [
          { ...noOp('fork'), selectNextStep: { x: 'true', y: 'true' } },
          delay('x', 1),
          delay('y', 2),
        ],
      },
      noOp('after'),
    ]);
    driver.advance(1);
    expect(driver.ran).toEqual(['fork', 'x']);
    driver.advance(1);
    expect(driver.ran).toEqual(['fork', 'x', 'y', 'box', 'after']);
  });

  it('joins through every level in one go when the innermost path ends', () => {
    const box = (id: string, inside: StepSource): StepSource => ({
      id,
      stepType: 'Sequence',
      do: [inside],
    });
    const driver = start([box('a', box('b', box('c', box('d', delay('wait', 1)))))]);
    driver.advance(1);
    expect(driver.ran).toEqual(['wait', 'd', 'c', 'b', 'a']);
    expect(driver.status).toBe('Complete');
  });
});
