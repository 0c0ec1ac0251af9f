/**
 * Goal: the graph shows what the definition says. Method: models of small documents; the layout of every example and of
 * unusual documents by the real layout engine, of which only the positions are checked.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import elk, { type ELK } from 'elkjs/lib/elk.bundled.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { atPointer, findStep } from '../../src/graph/find-step.js';
import { graphModel, type GraphModel } from '../../src/graph/graph-model.js';
import { layoutGraph, type PlacedGraph } from '../../src/graph/layout-graph.js';
import { readDefinition } from '../../src/graph/read-definition.js';

// The types of the package and Node.js disagree about its default export.
const engine = new (elk as unknown as new () => ELK)();

function modelOf(text: string): GraphModel {
  return graphModel(readDefinition(parse(text)));
}

/** Lines such as `a -next-> b`, with kind and label. */
function edgesOf(model: GraphModel): string[] {
  const title = (id: string): string => model.nodes.find((node) => node.id === id)?.title ?? '?';
  return model.edges.map(
    ({ sourceId, targetId, kind, label, isBackward }) =>
      `${title(sourceId)} -${kind}${label === null ? '' : `[${label}]`}-> ${title(targetId)}${isBackward ? ' back' : ''}`,
  );
}

describe('the graph of a definition', () => {
  test('has an edge for each next step, for each choice with its condition, and for each loop', () => {
    const model = modelOf(`
Id: x
Steps:
  - { Id: a, StepType: NoOp, NextStepId: b, SelectNextStep: { c: data.n > 1 } }
  - { Id: b, StepType: NoOp, NextStepId: a }
  - { Id: c, StepType: NoOp }
`);
    expect(edgesOf(model)).toEqual([
      'Start -start-> a',
      'a -next-> b',
      'a -choice[data.n > 1]-> c',
      'b -next-> a back',
    ]);
  });

  test('nests steps in containers and branches, and places compensation steps outside', () => {
    const model = modelOf(`
id: x
steps:
  - id: all
    stepType: Parallel
    saga: true
    do:
      - - { id: left, stepType: NoOp }
      - - id: right
          stepType: While
          inputs: { Condition: data.n > 0 }
          do: [{ id: inner, stepType: NoOp }]
    compensateWith: [{ id: undo, stepType: NoOp }]
`);
    const places = model.nodes.map(({ title, kind, parentId, isUndo }) =>
      [title, kind, parentId, isUndo ? 'undo' : ''].join(' '),
    );
    expect(places.sort()).toEqual([
      'Branch 1 branch step:all ',
      'Branch 2 branch step:all ',
      'Start start  ',
      'all container  ',
      'inner step step:right ',
      'left step branch:step:all/0 ',
      'right container branch:step:all/1 ',
      'undo step  undo',
    ]);
    expect(edgesOf(model)).toContain('all -undo-> undo');
    expect(model.nodes.find(({ title }) => title === 'right')?.step?.detail).toBe(
      'while data.n > 0',
    );
  });

  test('shows missing steps, and distinguishes steps with the same id', () => {
    const model = modelOf(`
Id: x
Steps:
  - { Id: a, StepType: NoOp, NextStepId: gone }
  - { Id: a, StepType: NoOp, NextStepId: a }
`);
    expect(new Set(model.nodes.map(({ id }) => id)).size).toBe(model.nodes.length);
    expect(model.nodes.filter(({ kind }) => kind === 'missing').map(({ title }) => title)).toEqual([
      'gone',
    ]);
  });

  test.each([
    ['nothing', null],
    ['a string', 'hello'],
    ['steps that are not objects', { steps: [1, null, 'x', [], { Id: { a: 1 } }] }],
    ['a list instead of a map', { Steps: [{ id: 'a', SelectNextStep: ['b'], Inputs: 5 }] }],
  ])('is created for %s', (_name, document) => {
    expect(() => graphModel(readDefinition(document))).not.toThrow();
  });

  test('is truncated at 1,000 steps and at 32 levels, and says so', () => {
    const many = { steps: Array.from({ length: 2000 }, (_, index) => ({ id: `s${index}` })) };
    expect(readDefinition(many)).toMatchObject({ stepCount: 1000, isCut: true });
    let deep: object = { id: 'end' };
    for (let level = 0; level < 100; level += 1) deep = { id: `l${level}`, do: [deep] };
    expect(readDefinition({ steps: [deep] })).toMatchObject({ stepCount: 33, isCut: true });
  });

  test('has a pointer to each step, in the spelling of the document', () => {
    const document = { STEPS: [{ id: 'a', DO: [[{ id: 'b', note: 1 }]] }] };
    const step = findStep(readDefinition(document), 'b');
    expect(step?.pointer).toBe('/STEPS/0/DO/0/0');
    expect(atPointer(document, step!.pointer)).toEqual({ id: 'b', note: 1 });
  });
});

function expectInside({ nodes, edges }: PlacedGraph): void {
  const places = new Map(nodes.map((place) => [place.node.id, place]));
  for (const { node, x, y, width, height } of nodes) {
    expect(width, node.id).toBeGreaterThan(0);
    const parent = node.parentId === null ? undefined : places.get(node.parentId);
    if (parent === undefined) continue;
    expect(x + width, node.id).toBeLessThanOrEqual(parent.width);
    expect(y + height, node.id).toBeLessThanOrEqual(parent.height);
  }
  for (const { points } of edges) expect(points.length).toBeGreaterThan(1);
}

describe('the layout of a graph', () => {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  test.each(globSync('examples/*/*.yaml', { cwd: root }))(
    'keeps steps inside their containers in %s',
    async (file) => {
      const model = modelOf(readFileSync(`${root}${file}`, 'utf8'));
      const placed = await layoutGraph(model, engine);
      expect(placed.edges.length).toBe(model.edges.length);
      expectInside(placed);
    },
  );

  test.each([
    ['a step that follows itself', [{ id: 'a', nextStepId: 'a' }]],
    [
      'a step that leads into a container',
      [
        { id: 'a', nextStepId: 'c' },
        { id: 'b', do: [{ id: 'c' }] },
      ],
    ],
    [
      'a step that leads out of its container',
      [{ id: 'a', do: [{ id: 'b', nextStepId: 'c' }] }, { id: 'c' }],
    ],
    ['a step that leads back to its container', [{ id: 'a', do: [{ id: 'b', nextStepId: 'a' }] }]],
    ['a container that leads to its inner step', [{ id: 'a', nextStepId: 'b', do: [{ id: 'b' }] }]],
    [
      'two steps with the same id',
      [{ id: 'a', nextStepId: 'a', selectNextStep: { a: 'x' } }, { id: 'a' }],
    ],
    [
      'a compensation with several steps inside a branch',
      [
        {
          id: 'a',
          do: [
            [{ id: 'b', compensateWith: [{ id: 'c', nextStepId: 'd' }, { id: 'd' }] }],
            [{ id: 'e', nextStepId: 'missing' }],
          ],
        },
      ],
    ],
  ])('supports %s', async (_name, steps) => {
    const model = graphModel(readDefinition({ steps }));
    const placed = await layoutGraph(model, engine);
    expect(placed.nodes.length).toBe(model.nodes.length);
    expectInside(placed);
  });

  test('keeps the order of branches, however many steps each has', async () => {
    const nested = [{ id: 'pack', do: [{ id: 'pack-one' }] }];
    const branches = [[{ id: 'charge' }], nested, [{ id: 'tell' }]];
    const placed = await layoutGraph(
      graphModel(
        readDefinition({
          steps: [
            { id: 'first', nextStepId: 'all' },
            { id: 'all', do: branches, nextStepId: 'last' },
            { id: 'last' },
          ],
        }),
      ),
      engine,
    );
    const lefts = placed.nodes.filter(({ node }) => node.kind === 'branch').map(({ x }) => x);
    expect(
      placed.nodes.flatMap(({ node }) => (node.kind === 'branch' ? [node.title] : [])),
    ).toEqual(['Branch 1', 'Branch 2', 'Branch 3']);
    expect(lefts).toEqual([...lefts].sort((a, b) => a - b));
  });

  test('supports 500 steps in containers', async () => {
    const steps = Array.from({ length: 50 }, (_, at) => ({
      id: `c${at}`,
      nextStepId: at < 49 ? `c${at + 1}` : null,
      do: [Array.from({ length: 9 }, (_step, inner) => ({ id: `c${at}s${inner}` }))],
    }));
    const model = graphModel(readDefinition({ steps }));
    expectInside(await layoutGraph(model, engine));
  });
});
