/**
 * Positions the nodes and edges of a model with ELK's layered layout: from top to bottom, with containers around their
 * inner steps. Pure, except for the layout engine that it is given.
 */
import type { ELK, ElkExtendedEdge, ElkNode, LayoutOptions } from 'elkjs/lib/elk-api.js';
import { Family, NOWHERE, type Box } from './graph-family.js';
import type { GraphEdge, GraphModel, GraphNode } from './graph-model.js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Positions in pixels. */
export interface PlacedNode {
  readonly node: GraphNode;
  /** Relative to the parent node. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedEdge {
  readonly edge: GraphEdge;
  /** From the border of the source over corners to the border of the target; relative to the whole graph. */
  readonly points: readonly Point[];
  /** The middle of the label. */
  readonly labelAt: Point | null;
}

export interface PlacedGraph {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

export type LayoutEngine = Pick<ELK, 'layout'>;

export const STEP_WIDTH = 216;
export const STEP_HEIGHT = 58;
const START_SIZE = 18;
/** The padding of a container, including its heading. */
const CONTAINER_PADDING = '[top=66,left=16,bottom=16,right=16]';
const BRANCH_PADDING = '[top=32,left=12,bottom=12,right=12]';
/** Above this number, the layout uses a faster algorithm that leaves a few more crossings. */
const MANY_NODES = 150;
const LABEL_HEIGHT = 18;
const LABEL_CHARACTERS_MAX = 34;
const LABEL_CHARACTER_WIDTH = 6.4;

const OPTIONS: LayoutOptions = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'SEPARATE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.padding': '[top=12,left=12,bottom=12,right=12]',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '20',
  'elk.spacing.edgeEdge': '14',
  'elk.spacing.edgeLabel': '4',
  'elk.layered.spacing.nodeNodeBetweenLayers': '36',
  'elk.layered.spacing.edgeNodeBetweenLayers': '18',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
  'elk.layered.nodePlacement.bk.fixedAlignment': 'BALANCED',
  // Branches are drawn side by side, because they run in parallel.
  'elk.separateConnectedComponents': 'false',
};

/**
 * The engine lays out each container separately. Laying out all at once takes many times as long, and for some graphs
 * never ends. Therefore, the few edges that cross the border of a container are straight lines.
 */
export async function layoutGraph(model: GraphModel, engine: LayoutEngine): Promise<PlacedGraph> {
  if (model.nodes.length === 0) return { nodes: [], edges: [], width: 0, height: 0 };
  const family = new Family(model.nodes);
  return placedGraph(model, await engine.layout(toElk(model, family)), family);
}

function placedGraph(model: GraphModel, root: ElkNode, family: Family): PlacedGraph {
  const places = new Map<string, ElkNode>();
  collectPlaces(root, places);
  const nodes = model.nodes.map((node): PlacedNode => {
    const { x = 0, y = 0, width = 0, height = 0 } = places.get(node.id) ?? {};
    return { node, x, y, width, height };
  });
  const boxes = family.boxesOf(nodes);
  const routes = new Map(routesOf(root).map((route) => [route.id, route]));
  return {
    nodes,
    edges: model.edges.map((edge, index) => {
      const route = routes.get(routeId(index));
      return route === undefined ? straightEdge(edge, boxes) : placedEdge(edge, route);
    }),
    width: root.width ?? 0,
    height: root.height ?? 0,
  };
}

/** The text of a label, cut for the graph; the list shows the whole condition. */
export function shortLabel(label: string): string {
  return label.length > LABEL_CHARACTERS_MAX
    ? `${label.slice(0, LABEL_CHARACTERS_MAX - 1)}…`
    : label;
}

function toElk({ nodes, edges }: GraphModel, family: Family): ElkNode {
  const common: LayoutOptions = {
    ...OPTIONS,
    'elk.layered.thoroughness': nodes.length > MANY_NODES ? '1' : '7',
  };
  const root: ElkNode = { id: 'root', layoutOptions: common, children: [] };
  const made = new Map<string | null, ElkNode>([[null, root]]);
  for (const node of nodes) {
    const elkNode = toElkNode(node, common);
    made.set(node.id, elkNode);
    // Parents come first, so the parent has been positioned.
    const parent = made.get(node.parentId) ?? root;
    (parent.children ??= []).push(elkNode);
  }
  for (const [index, edge] of edges.entries()) {
    const siblings = family.siblingsOf(edge);
    if (siblings === null) continue;
    const owner = made.get(family.parentOf(siblings.sourceId)) ?? root;
    // An edge that crosses a border only determines the order of the nodes.
    const id = family.isCrossing(edge) ? `order:${index}` : routeId(index);
    (owner.edges ??= []).push(toElkEdge({ ...edge, ...siblings }, id));
  }
  return root;
}

function toElkNode({ id, kind }: GraphNode, common: LayoutOptions): ElkNode {
  switch (kind) {
    case 'start':
      return { id, width: START_SIZE, height: START_SIZE };
    case 'step':
    case 'missing':
      return { id, width: STEP_WIDTH, height: STEP_HEIGHT };
    case 'container':
      return { id, layoutOptions: { ...common, ...around(CONTAINER_PADDING, STEP_WIDTH + 32) } };
    case 'branch':
      return { id, layoutOptions: { ...common, ...around(BRANCH_PADDING, STEP_WIDTH + 24) } };
  }
}

function around(padding: string, widthMin: number): LayoutOptions {
  return {
    'elk.padding': padding,
    'elk.nodeSize.constraints': 'MINIMUM_SIZE',
    'elk.nodeSize.minimum': `(${widthMin}, ${STEP_HEIGHT})`,
  };
}

function toElkEdge({ sourceId, targetId, label }: GraphEdge, id: string): ElkExtendedEdge {
  const text = label === null ? null : shortLabel(label);
  return {
    id,
    sources: [sourceId],
    targets: [targetId],
    ...(text !== null && {
      labels: [
        {
          id: `label:${id}`,
          text,
          width: text.length * LABEL_CHARACTER_WIDTH + 12,
          height: LABEL_HEIGHT,
        },
      ],
    }),
  };
}

function routeId(index: number): string {
  return `edge:${index}`;
}

function collectPlaces(node: ElkNode, places: Map<string, ElkNode>): void {
  for (const child of node.children ?? []) {
    places.set(child.id, child);
    collectPlaces(child, places);
  }
}

function routesOf(node: ElkNode): ElkExtendedEdge[] {
  return [...(node.edges ?? []), ...(node.children ?? []).flatMap(routesOf)];
}

function placedEdge(edge: GraphEdge, route: ElkExtendedEdge): PlacedEdge {
  const points = (route.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
  const [label] = route.labels ?? [];
  return { edge, points, labelAt: label === undefined ? null : middleOf(label) };
}

function middleOf({ x = 0, y = 0, width = 0, height = 0 }: Partial<PlacedNode>): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

/** A line from the bottom of one node to the top of the other. */
function straightEdge(edge: GraphEdge, boxes: ReadonlyMap<string, Box>): PlacedEdge {
  const source = boxes.get(edge.sourceId) ?? NOWHERE;
  const target = boxes.get(edge.targetId) ?? NOWHERE;
  const start = { x: source.x + source.width / 2, y: source.y + source.height };
  const end = { x: target.x + target.width / 2, y: target.y };
  return {
    edge,
    points: [start, end],
    labelAt: edge.label === null ? null : { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 },
  };
}
