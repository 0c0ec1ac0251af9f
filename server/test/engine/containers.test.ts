/** Steps that run other steps: If, While, Parallel, Sequence. */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from './support/define.js';
import { EndlessLoopError } from './support/engine-driver.js';
import { scenarios } from './support/scenario.js';
import { delay, noOp } from './support/steps.js';

scenarios('If', (start) => {
  it.each([
    { condition: 'true', expected: ['inside', 'if', 'after'] },
    { condition: "'text'", expected: ['inside', 'if', 'after'] },
    { condition: 'false', expected: ['if', 'after'] },
    { condition: '[]', expected: ['if', 'after'] },
  ])('runs Do if $condition is true in Python', ({ condition, expected }) => {
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

  it('runs all sequences of Do in parallel and waits for the slowest', () => {
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

  it('applies its outputs and selectors after the steps inside have ended', () => {
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

  it('completes at once if Do is empty', () => {
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

  it('starts the next iteration only when every sequence of Do has ended', () => {
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

  it('lets other work run while it iterates over an empty Do', () => {
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

  it('has one record in the history, however many iterations it runs', () => {
    const driver = start([loop('data.n < 4'), noOp('after')], { data: { n: 0 } });
    expect(driver.ran.filter((stepId) => stepId === 'while')).toHaveLength(1);
  });

  it('iterates without end while its condition stays true, until the server intervenes', () => {
    const forever = () => start([loop('true'), noOp('after')], { data: { n: 0 }, stepsMax: 500 });
    expect(forever).toThrow(EndlessLoopError);
  });
});

scenarios('Parallel and Sequence', (start) => {
  it.each(['Parallel', 'Sequence'])('runs every sequence of Do in %s as a branch', (stepType) => {
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

  it.each(['Parallel', 'Sequence'])('completes %s at once if Do is empty', (stepType) => {
    const driver = start([{ id: 'box', stepType, nextStepId: 'after' }, noOp('after')]);
    expect(driver.ran).toEqual(['box', 'after']);
  });

  it('waits for every branch inside, including selected ones', () => {
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

  it('completes every level at once when the innermost branch ends', () => {
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
