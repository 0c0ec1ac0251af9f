/**
 * Goal: conditions and names can be read. Method: geometry of the real layout: no label covers a step or another label;
 * names that differ anywhere near their ends stay different.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import elk, { type ELK } from 'elkjs/lib/elk.bundled.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Box } from '../../src/graph/graph-family.js';
import { graphModel } from '../../src/graph/graph-model.js';
import { layoutGraph, solidParts, type PlacedGraph } from '../../src/graph/layout-graph.js';
import { overlap, placeLabels } from '../../src/graph/place-labels.js';
import { readDefinition } from '../../src/graph/read-definition.js';
import { estimatedWidth, nameLines } from '../../src/graph/step-name.js';

// The types of the package and Node.js disagree about its default export.
const engine = new (elk as unknown as new () => ELK)();
const root = fileURLToPath(new URL('../../../../', import.meta.url));

function placedGraph(document: unknown): Promise<PlacedGraph> {
  return layoutGraph(graphModel(readDefinition(document)), engine);
}

function labelsOf({ edges }: PlacedGraph): { readonly text: string; readonly box: Box }[] {
  return edges.flatMap(({ edge: { label }, labelBox }) =>
    label === null || labelBox === null ? [] : [{ text: label, box: labelBox }],
  );
}

/** Labels that cover something, or that something covers, in words. */
function collisions(placed: PlacedGraph): string[] {
  const labels = labelsOf(placed);
  const solid = solidParts(placed.nodes);
  return labels.flatMap(({ text, box }, index) => [
    ...solid.flatMap((part, at) =>
      overlap(part, box) ? [`${text} over ${placed.nodes[at]?.node.title}`] : [],
    ),
    ...labels
      .slice(index + 1)
      .flatMap((other) => (overlap(other.box, box) ? [`${text} over ${other.text}`] : [])),
    ...(box.x < 0 || box.y < 0 || box.y + box.height > placed.height ? [`${text} outside`] : []),
  ]);
}

const LONG = 'data.country in ["DE", "FR", "IT"] and data.total > 1000';
const choice = (...ids: readonly string[]): Record<string, string> =>
  Object.fromEntries(ids.map((id) => [id, `${LONG} or data.wanted == "${id}"`]));

/** Conditions in each kind of container, on lines back, and on lines that cross the border of a container. */
const NESTED = {
  steps: [
    { id: 'first', selectNextStep: choice('all', 'last', 'in-loop') },
    {
      id: 'all',
      do: [
        [
          { id: 'check', selectNextStep: choice('a', 'b', 'check') },
          { id: 'a', nextStepId: 'b' },
          { id: 'b', selectNextStep: choice('last', 'all') },
        ],
        [
          {
            id: 'loop',
            do: [
              { id: 'in-loop', selectNextStep: choice('x', 'y', 'z') },
              { id: 'x', compensateWith: [{ id: 'undo-x' }], selectNextStep: choice('y') },
              {
                id: 'y',
                do: [[{ id: 'deep', selectNextStep: choice('deeper', 'first') }, { id: 'deeper' }]],
              },
              { id: 'z' },
            ],
          },
        ],
      ],
      selectNextStep: choice('last', 'first', 'b'),
    },
    { id: 'last' },
  ],
};

describe('a label of a graph', () => {
  test.each(globSync('examples/*/*.yaml', { cwd: root }))(
    'covers no step and no other label in %s',
    async (file) => {
      const placed = await placedGraph(parse(readFileSync(`${root}${file}`, 'utf8')));
      expect(collisions(placed)).toEqual([]);
    },
  );

  test('covers no step and no other label inside containers and across their borders', async () => {
    const placed = await placedGraph(NESTED);
    expect(labelsOf(placed)).toHaveLength(placed.edges.filter(({ edge }) => edge.label).length);
    expect(labelsOf(placed).length).toBeGreaterThan(15);
    expect(collisions(placed)).toEqual([]);
  });

  test('is beside the line that it belongs to when the engine has routed it', async () => {
    const placed = await placedGraph({
      steps: [
        {
          id: 'box',
          do: [
            [
              { id: 'ask', selectNextStep: { yes: 'data.ok', no: 'not data.ok' } },
              { id: 'yes' },
              { id: 'no' },
            ],
          ],
        },
      ],
    });
    for (const { edge, points, labelBox } of placed.edges) {
      if (edge.label === null) continue;
      const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
      const route = {
        x: Math.min(...xs) - 20,
        y: Math.min(...ys),
        width: Math.max(...xs) - Math.min(...xs) + 40,
        height: Math.max(...ys) - Math.min(...ys),
      };
      expect(overlap(route, labelBox!), edge.label).toBe(true);
    }
  });

  test('is below the graph if there is no room in it', () => {
    const full = { x: 0, y: 0, width: 300, height: 200 };
    const wanted = [{ x: 10, y: 10, width: 80, height: 18 }] as const;
    const points = [
      { x: 10, y: 10 },
      { x: 10, y: 100 },
    ];
    const { boxes, height } = placeLabels(
      [
        { points, wanted },
        { points, wanted },
      ],
      [full],
      full,
    );
    for (const box of boxes) expect(overlap(box, full)).toBe(false);
    expect(overlap(boxes[0]!, boxes[1]!)).toBe(false);
    expect(height).toBeGreaterThanOrEqual(boxes[1]!.y + boxes[1]!.height);
  });

  test('is apart from the others of a thousand lines to the same step', () => {
    const wanted = [{ x: 2000, y: 2000, width: 200, height: 18 }] as const;
    const points = [
      { x: 0, y: 0 },
      { x: 4000, y: 4000 },
    ];
    const labels = Array.from({ length: 1000 }, () => ({ points, wanted }));
    const { boxes } = placeLabels(labels, [], { width: 4000, height: 4000 });
    expect(new Set(boxes.map(({ x, y }) => `${x} ${y}`)).size).toBe(1000);
  });
});

describe('the name of a step', () => {
  const lines = (name: string): readonly string[] => nameLines(name, 170, estimatedWidth);

  test.each([
    ['reserve-the-hotel-in-the-city-of-arrival-', 'one', 'two'],
    ['ReserveTheHotelInTheCityOfArrivalForGuests', 'One', 'Two'],
    ['予約予約予約予約予約予約予約予約予約予約予約予約', '一', '二'],
    ['x'.repeat(5000), 'a', 'b'],
  ])('keeps its end: %s', (start, one, two) => {
    expect(lines(start + one)).not.toEqual(lines(start + two));
    expect(
      lines(start + one)
        .at(-1)
        ?.endsWith(one),
    ).toBe(true);
  });

  test('is complete if it fits into two lines, and breaks between words', () => {
    expect(lines('charge')).toEqual(['charge']);
    expect(lines('charge-the-credit-card')).toEqual(['charge-the-credit-', 'card']);
    expect(lines('Charge the credit card').join('')).toBe('Charge the credit card');
  });

  test('fits into its lines, and is never cut inside a character', () => {
    for (const name of ['w'.repeat(300), '👩‍👩‍👧'.repeat(60), `a ${'b'.repeat(90)}`, '  ', '']) {
      for (const line of lines(name))
        expect(estimatedWidth(line.trimEnd())).toBeLessThanOrEqual(170);
    }
    expect(lines('👩‍👩‍👧'.repeat(60)).join('').replace('…', '').replaceAll('👩‍👩‍👧', '')).toBe('');
  });
});
