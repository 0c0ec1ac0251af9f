/** How branches run: next steps, selected steps, several branches, jumps. */
import { expect, it } from 'vitest';
import { inOrder } from './support/define.js';
import { EndlessLoopError } from './support/engine-driver.js';
import { scenarios } from './support/scenario.js';
import { noOp, trace } from './support/steps.js';

scenarios('a branch', (start) => {
  it('runs one step after the other and applies outputs in order', () => {
    const driver = start(
      inOrder(
        { ...noOp('a'), outputs: { x: 'data.x + 1', y: 'data.x * 10' } },
        { ...noOp('b'), outputs: { x: 'data.y + 1' } },
      ),
      { data: { x: 1 } },
    );
    expect(driver.status).toBe('Complete');
    expect(driver.ran).toEqual(['a', 'b']);
    expect(driver.data).toEqual({ x: 21, y: 20 });
    expect(driver.instance.endTime).toBe(driver.now);
  });

  it('ends at a step without a next step, whatever follows it in the document', () => {
    const driver = start([noOp('a'), noOp('b')]);
    expect(driver.ran).toEqual(['a']);
    expect(driver.status).toBe('Complete');
  });

  it.each([
    { truths: [true, false], expected: ['a', 'b'] },
    { truths: [false, true], expected: ['a', 'c'] },
    { truths: [true, true], expected: ['a', 'b', 'c'] },
    { truths: [false, false], expected: ['a'] },
  ])('follows every selected step: $truths', ({ truths, expected }) => {
    const [b, c] = truths;
    const driver = start([
      { id: 'a', stepType: 'Decide', selectNextStep: { b: String(b), c: String(c) } },
      noOp('b'),
      noOp('c'),
    ]);
    expect(driver.ran).toEqual(expected);
    expect(driver.status).toBe('Complete');
  });

  it('follows the next step as well as the selected ones', () => {
    const driver = start([
      { ...noOp('a'), nextStepId: 'b', selectNextStep: { c: 'true' } },
      noOp('b'),
      noOp('c'),
    ]);
    expect(driver.ran).toEqual(['a', 'b', 'c']);
  });

  it.each(['1', "'text'", '[0]', '({ a: 1 })'])(
    "selects by Python's truth value: %s is true",
    (truth) => {
      const driver = start([{ ...noOp('a'), selectNextStep: { b: truth } }, noOp('b')]);
      expect(driver.ran).toEqual(['a', 'b']);
    },
  );

  it.each(['0', "''", '[]', '({})', 'null'])(
    "selects by Python's truth value: %s is false",
    (truth) => {
      const driver = start([{ ...noOp('a'), selectNextStep: { b: truth } }, noOp('b')]);
      expect(driver.ran).toEqual(['a']);
    },
  );

  it('selects by data that the outputs of the same step have just written', () => {
    const driver = start([
      { ...noOp('a'), outputs: { x: '5' }, selectNextStep: { b: 'data.x === 5' } },
      noOp('b'),
    ]);
    expect(driver.ran).toEqual(['a', 'b']);
  });

  it('jumps backwards as long as a selector says so', () => {
    const driver = start(
      [
        {
          ...noOp('count'),
          outputs: { n: 'data.n + 1' },
          selectNextStep: { count: 'data.n < 5', end: 'data.n >= 5' },
        },
        noOp('end'),
      ],
      { data: { n: 0 } },
    );
    expect(driver.ran).toEqual(['count', 'count', 'count', 'count', 'count', 'end']);
    expect(driver.data).toEqual({ n: 5 });
  });

  it('does not join another branch: two that lead to one step run it twice', () => {
    const driver = start(
      [
        { ...trace('fork'), selectNextStep: { left: 'true', right: 'true' } },
        { ...trace('left'), nextStepId: 'both' },
        { ...trace('right'), nextStepId: 'both' },
        trace('both'),
      ],
      { data: { trail: [] } },
    );
    expect(driver.data['trail']).toEqual(['fork', 'left', 'right', 'both', 'both']);
    expect(driver.status).toBe('Complete');
  });

  it('runs a step twice if it is both the next step and selected', () => {
    const driver = start([
      { ...noOp('a'), nextStepId: 'b', selectNextStep: { b: 'true' } },
      noOp('b'),
    ]);
    expect(driver.ran).toEqual(['a', 'b', 'b']);
  });

  it('keeps the instance Runnable until the last branch has ended', () => {
    const driver = start([
      { ...noOp('a'), selectNextStep: { short: 'true', long: 'true' } },
      noOp('short'),
      { id: 'long', stepType: 'Delay', inputs: { period: 10 } },
    ]);
    expect(driver.ran).toEqual(['a', 'short']);
    expect(driver.status).toBe('Runnable');
    driver.advance(10);
    expect(driver.status).toBe('Complete');
  });

  it('continues inside a container with a step that is defined outside it', () => {
    const driver = start([
      {
        id: 'box',
        stepType: 'Sequence',
        nextStepId: 'after',
        do: [{ ...noOp('inside'), nextStepId: 'shared' }],
      },
      noOp('after'),
      noOp('shared'),
    ]);
    // The jump stays within the container, which completes only when the branch has ended.
    expect(driver.ran).toEqual(['inside', 'shared', 'box', 'after']);
  });

  it('runs until the server intervenes if it has no end', () => {
    const loop = () => start([{ ...noOp('a'), nextStepId: 'a' }], { stepsMax: 500 });
    expect(loop).toThrow(EndlessLoopError);
  });
});

scenarios('a log line', (start) => {
  it('contains any value', () => {
    const driver = start(
      inOrder(
        { id: 'a', stepType: 'EmitLog', inputs: { message: "'hello'" } },
        { id: 'b', stepType: 'EmitLog', inputs: { message: 'data', level: "'wArNing'" } },
      ),
      { data: { n: 1 } },
    );
    expect(driver.logMessages).toEqual(['hello', { n: 1 }]);
    expect(driver.status).toBe('Complete');
  });

  it('shows its canonical level to outputs', () => {
    const driver = start([
      {
        id: 'a',
        stepType: 'EmitLog',
        inputs: { message: "'hello'", level: "'debug'" },
        outputs: { message: 'step.Message', level: 'step.Level' },
      },
    ]);
    expect(driver.data).toEqual({ message: 'hello', level: 'Debug' });
  });
});
