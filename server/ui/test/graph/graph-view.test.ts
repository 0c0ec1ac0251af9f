/** Goal: the graph is opened where it matters, readable. Method: views of a tall, a wide and a small graph. */
import { describe, expect, test } from 'vitest';
import { graphModel } from '../../src/graph/graph-model.js';
import {
  frameHeight,
  isInView,
  isTooWide,
  openingView,
  wholeView,
} from '../../src/graph/graph-view.js';
import type { PlacedGraph } from '../../src/graph/layout-graph.js';
import { liveStatesOf } from '../../src/graph/live-states.js';
import { readDefinition } from '../../src/graph/read-definition.js';
import { nodeOfStep, nodeThatMatters } from '../../src/graph/step-that-matters.js';
import { execution } from '../support/execution.js';

const model = graphModel(
  readDefinition({
    steps: [
      { id: 'first', nextStepId: 'box' },
      { id: 'box', do: [[{ id: 'inner' }]], nextStepId: 'last' },
      { id: 'last' },
    ],
  }),
);

/** Every node 200 wide, 60 high, and a place for each. */
function placed(width: number, height: number): PlacedGraph {
  const nodes = model.nodes.map((node, index) => ({
    node,
    x: node.parentId === null ? (width - 200) / 2 : 0,
    y: node.parentId === null ? (index * (height - 60)) / (model.nodes.length - 1) : 0,
    width: 200,
    height: 60,
    lines: [node.title],
  }));
  return { nodes, edges: [], width, height };
}

describe('the view of a graph', () => {
  const frame = { width: 1000, height: 600 };

  test('shows everything if it fits, at no more than its own size', () => {
    expect(openingView(placed(400, 300), frame, null)).toEqual({ x: 300, y: 150, zoom: 1 });
    const { zoom } = openingView(placed(1400, 500), frame, null);
    expect(zoom).toBeCloseTo(0.7);
  });

  test.each(['first', 'inner', 'last'])('shows in a tall graph the step that matters: %s', (id) => {
    const tall = placed(900, 20_000);
    const nodeId = nodeOfStep(model, id)!;
    const view = openingView(tall, frame, nodeId);
    expect(view.zoom).toBe(1);
    expect(isInView(tall, frame, { view, nodeId })).toBe(true);
  });

  test('leaves no empty space before the start and after the end', () => {
    const tall = placed(900, 20_000);
    expect(openingView(tall, frame, null).y).toBe(10);
    const view = openingView(tall, frame, nodeOfStep(model, 'last'));
    expect(view.y + tall.height * view.zoom).toBe(frame.height - 10);
  });

  test('shows everything of a huge graph', () => {
    const { x, y, zoom } = wholeView(placed(900, 94_000), frame);
    expect(y).toBeGreaterThanOrEqual(0);
    expect(94_000 * zoom).toBeLessThan(frame.height);
    expect(x).toBeGreaterThan(0);
  });

  test('is readable on a phone, or known to be too wide; the page scrolls beside it', () => {
    expect(isTooWide(placed(500, 900), 364)).toBe(false);
    expect(openingView(placed(500, 900), { width: 364, height: 500 }, null).x).toBeGreaterThan(0);
    expect(isTooWide(placed(1400, 900), 364)).toBe(true);
    expect(frameHeight(placed(500, 9000), 364, 780)).toBeLessThan(780 * 0.75);
    expect(frameHeight(placed(500, 100), 364, 780)).toBeLessThan(220);
  });
});

describe('the step that matters', () => {
  const nodeOf = (...parts: Parameters<typeof execution>[0][]): string | null =>
    nodeThatMatters(model, liveStatesOf(parts.map(execution)));

  test('is the failed one, else the waiting one, else the running one', () => {
    const running = { stepId: 'first', status: 'Running' } as const;
    const waiting = { stepId: 'last', status: 'Waiting' } as const;
    const failed = { stepId: 'inner', status: 'Failed' } as const;
    expect(nodeOf(running, waiting, failed)).toBe('step:inner');
    expect(nodeOf(running, waiting)).toBe('step:last');
    expect(nodeOf(running)).toBe('step:first');
    expect(nodeOf({ stepId: 'first', status: 'Complete' })).toBeNull();
  });

  test('is the inner step rather than its container', () => {
    expect(
      nodeOf({ stepId: 'box', status: 'Waiting' }, { stepId: 'inner', status: 'Waiting' }),
    ).toBe('step:inner');
    expect(nodeOf({ stepId: 'box', status: 'Failed' })).toBe('step:box');
  });
});
