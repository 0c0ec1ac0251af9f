/** Goal: the highlighted path is the one that the run has taken. Method: executions in the order of their creation. */
import { describe, expect, test } from 'vitest';
import { graphModel } from '../../src/graph/graph-model.js';
import { readDefinition } from '../../src/graph/read-definition.js';
import { takenPath } from '../../src/graph/taken-path.js';
import { execution } from '../support/execution.js';

type Parts = Parameters<typeof execution>[0];

/** Executions one after the other, each ended a second later; an open one has no end. */
function run(steps: readonly object[], ...parts: readonly (string | Parts)[]) {
  const model = graphModel(readDefinition({ steps }));
  const executions = parts.map((part, index) =>
    execution({
      executionId: index + 1,
      startTime: new Date(index * 1000).toISOString(),
      endTime: new Date((index + 1) * 1000).toISOString(),
      ...(typeof part === 'string' ? { stepId: part } : part),
    }),
  );
  const { edges, nodes } = takenPath(model, executions);
  const titles = new Map(model.nodes.map(({ id, title }) => [id, title]));
  return {
    edges: model.edges.flatMap(({ id, sourceId, targetId }) =>
      edges.has(id) ? [`${titles.get(sourceId)} ${titles.get(targetId)}`] : [],
    ),
    nodes: model.nodes.flatMap(({ id, title }) => (nodes.has(id) ? [title] : [])),
  };
}

const CHOICE = [
  { id: 'a', selectNextStep: { b: 'x', c: 'y' } },
  { id: 'b', nextStepId: 'c' },
  { id: 'c', nextStepId: 'd' },
  { id: 'd', selectNextStep: { a: 'again', e: 'not again' } },
  { id: 'e' },
];

describe('the path that a run has taken', () => {
  test('contains the chosen branch, not the shortcut past it', () => {
    expect(run(CHOICE, 'a', 'b', 'c')).toEqual({
      edges: ['Start a', 'a b', 'b c'],
      nodes: ['Start', 'a', 'b', 'c'],
    });
    expect(run(CHOICE, 'a', 'c', 'd', 'e').edges).toEqual(['Start a', 'a c', 'c d', 'd e']);
  });

  test('contains both branches after a loop that took each once', () => {
    const { edges } = run(CHOICE, 'a', 'b', 'c', 'd', 'a', 'c', 'd');
    expect(edges.sort()).toEqual(['Start a', 'a b', 'a c', 'b c', 'c d', 'd a']);
  });

  test('ends at an open step, and at a canceled one', () => {
    expect(run(CHOICE, 'a', { stepId: 'b', endTime: null, status: 'Waiting' }).edges).toEqual([
      'Start a',
      'a b',
    ]);
    // A repair has started c; b does not lead there.
    expect(run(CHOICE, 'a', { stepId: 'b', status: 'Cancelled' }, 'c').edges).not.toContain('b c');
  });

  test('does not lead from a failed step, nor to a step that a repair has started', () => {
    const failed = { stepId: 'b', status: 'Failed' } as const;
    expect(run(CHOICE, 'a', failed, 'c').edges).not.toContain('b c');
    // a has completed, but only the repair leads to c.
    const repaired = { stepId: 'c', reason: 'b is not needed' };
    expect(run(CHOICE, 'a', failed, repaired, 'd').edges).toEqual(['Start a', 'a b', 'c d']);
    // A repair has canceled c, which the run had reached itself.
    const stopped = { stepId: 'c', status: 'Cancelled', reason: 'wrong' } as const;
    expect(run(CHOICE, 'a', stopped).edges).toEqual(['Start a', 'a c']);
  });

  test('contains the container and the branch of each inner step, and keeps items apart', () => {
    const steps = [
      {
        id: 'each',
        do: [
          [{ id: 'x', selectNextStep: { y: '1', z: '2' } }, { id: 'y' }, { id: 'z' }],
          [{ id: 'other' }],
        ],
      },
    ];
    const { edges, nodes } = run(
      steps,
      { stepId: 'each', endTime: null, status: 'Waiting' },
      { stepId: 'x', index: 0 },
      { stepId: 'x', index: 1, endTime: null, status: 'Waiting' },
      { stepId: 'z', index: 0 },
    );
    expect(edges).toEqual(['Start each', 'x z']);
    expect(nodes.sort()).toEqual(['Branch 1', 'Start', 'each', 'x', 'z']);
  });

  test.each([
    { stepType: 'Recur', inputs: { Interval: 60 } },
    { stepType: 'Schedule', inputs: { Interval: 60, Background: true } },
  ])('continues from $stepType in the background, which is still open', (parts) => {
    const steps = [{ id: 'poll', nextStepId: 'work', do: [{ id: 'round' }] }, { id: 'work' }];
    const poll = { stepId: 'poll', endTime: null, status: 'Waiting', ...parts } as const;
    expect(run(steps, poll, 'work', 'round').edges).toEqual(['Start poll', 'poll work']);
    // In the foreground, only its end leads on.
    const inputs = { Interval: 60, Background: false };
    expect(run(steps, { ...poll, inputs }, 'round').edges).toEqual(['Start poll']);
  });

  test('continues from a canceled step that proceeds, but not if a repair has canceled it', () => {
    const steps = [
      { id: 'wait', proceedOnCancel: true, nextStepId: 'next' },
      { id: 'next', selectNextStep: { wait: 'again' } },
    ];
    const wait = { stepId: 'wait', status: 'Cancelled' } as const;
    expect(run(steps, wait, 'next').edges).toEqual(['Start wait', 'wait next']);
    const repaired = { ...wait, reason: 'no longer needed' };
    const started = { stepId: 'next', reason: 'go on' };
    expect(run(steps, repaired, started).edges).toEqual(['Start wait']);
  });

  test('does not lead back where a loop has begun its next turn', () => {
    const inside = [
      { id: 'x', nextStepId: 'y' },
      { id: 'y', selectNextStep: { x: 'again', z: 'done' } },
      { id: 'z' },
    ];
    const steps = [{ id: 'loop', do: [{ id: 'inner', do: inside }] }];
    const [loop, inner] = ['loop', 'inner'].map(
      (stepId) => ({ stepId, endTime: null, status: 'Waiting' }) as const,
    );
    const turns = run(steps, loop!, inner!, 'x', 'y', 'z', 'x', 'y', 'z');
    expect(turns.edges.sort()).toEqual(['Start loop', 'x y', 'y z']);
    const again = run(steps, loop!, inner!, 'x', 'y', 'x', 'y', 'z');
    expect(again.edges.sort()).toEqual(['Start loop', 'x y', 'y x', 'y z']);
  });

  test('contains the compensation of a step', () => {
    const steps = [{ id: 'book', compensateWith: [{ id: 'cancel' }] }];
    expect(run(steps, { stepId: 'book', status: 'Compensated' }, 'cancel').edges).toContain(
      'book cancel',
    );
    expect(run(steps, 'book').edges).toEqual(['Start book']);
  });

  test('is only the start before the first step, and ignores steps of other versions', () => {
    expect(run(CHOICE)).toEqual({ edges: [], nodes: ['Start'] });
    expect(run(CHOICE, 'gone', 'a').nodes).toEqual(['Start', 'a']);
  });
});
