/**
 * Positions the nodes and edges of a model with ELK's layered layout: from top to bottom, with containers around their
 * inner steps. Pure, except for the layout engine that it is given.
 */
import type { ELK, ElkExtendedEdge, ElkNode, LayoutOptions } from 'elkjs/lib/elk-api.js';
import { absoluteBoxes, Family, NOWHERE, type Box } from './graph-family.js';
import type { GraphEdge, GraphModel, GraphNode } from './graph-model.js';
import { placeLabels, type Label } from './place-labels.js';
import { estimatedWidth, nameLines, type MeasureText } from './step-name.js';

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
  /** The title, shortened if necessary. */
  readonly lines: readonly string[];
}

export interface PlacedEdge {
  readonly edge: GraphEdge;
  /** From the border of the source over corners to the border of the target; relative to the whole graph. */
  readonly points: readonly Point[];
  /** The position of the label, relative to the whole graph. It doesn't cover nodes or other labels. */
  readonly labelBox: Box | null;
}

export interface PlacedGraph {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

export type LayoutEngine = Pick<ELK, 'layout'>;

const STEP_WIDTH = 216;
const STEP_HEIGHT = 58;
/** The width of a step without border, padding and icon. */
const NAME_WIDTH = 170;
const NAME_LINE_HEIGHT = 17;
const START_SIZE = 18;
/** The height of the heading of a container, and of the title of a branch. */
const HEADING_HEIGHT = 50;
const BRANCH_TITLE_HEIGHT = 24;
const BRANCH_PADDING = '[top=32,left=12,bottom=12,right=12]';
/** Above this number, the layout uses a faster algorithm that leaves a few more crossings. */
const MANY_NODES = 150;
const LABEL_HEIGHT = 18;
const LABEL_CHARACTERS_MAX = 34;
/** For a monospaced font of 11 pixels. */
const LABEL_CHARACTER_WIDTH = 6.8;

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
 * The engine lays out each container separately. Laying out everything at once takes many times as long, and for some graphs
 * never ends. Therefore, the few edges that cross the border of a container are straight lines.
 */
export async function layoutGraph(
  model: GraphModel,
  engine: LayoutEngine,
  measureName: MeasureText = estimatedWidth,
): Promise<PlacedGraph> {
  if (model.nodes.length === 0) return { nodes: [], edges: [], width: 0, height: 0 };
  const family = new Family(model.nodes);
  const names = new Map(
    model.nodes.map(({ id, title }) => [id, nameLines(title, NAME_WIDTH, measureName)]),
  );
  const root = await engine.layout(toElk(model, family, names));
  return placedGraph(model, root, names);
}

type Names = ReadonlyMap<string, readonly string[]>;

/** The height of the heading of a container with this name. */
export function headingHeight(lines: readonly string[]): number {
  return HEADING_HEIGHT + (lines.length - 1) * NAME_LINE_HEIGHT;
}

function placedGraph(model: GraphModel, root: ElkNode, names: Names): PlacedGraph {
  const places = new Map<string, ElkNode>();
  collectPlaces(root, places);
  const nodes = model.nodes.map((node): PlacedNode => {
    const { x = 0, y = 0, width = 0, height = 0 } = places.get(node.id) ?? {};
    return { node, x, y, width, height, lines: names.get(node.id) ?? [node.title] };
  });
  const boxes = absoluteBoxes(nodes);
  const routes = new Map(routesOf(root).map((route) => [route.id, route]));
  const drafts = model.edges.map((edge, index): EdgeDraft => {
    const route = routes.get(routeId(index));
    const points = route === undefined ? straightLine(edge, boxes) : pointsOf(route);
    return { edge, points, wanted: labelPlaces(edge, points, [route, routes.get(orderId(index))]) };
  });
  const size = { width: root.width ?? 0, height: root.height ?? 0 };
  return { nodes, width: size.width, ...withLabels(drafts, nodes, size) };
}

interface EdgeDraft {
  readonly edge: GraphEdge;
  readonly points: readonly Point[];
  /** The possible positions of its label, best first; null if it has none. */
  readonly wanted: LabelPlaces | null;
}

type LabelPlaces = Label['wanted'];

function withLabels(
  drafts: readonly EdgeDraft[],
  nodes: readonly PlacedNode[],
  size: { readonly width: number; readonly height: number },
): Pick<PlacedGraph, 'edges' | 'height'> {
  const labelled = drafts.flatMap(({ wanted, ...draft }) =>
    wanted === null ? [] : [{ ...draft, wanted }],
  );
  const { boxes, height } = placeLabels(labelled, solidParts(nodes), size);
  const boxOf = new Map(labelled.map(({ edge }, index) => [edge, boxes[index]]));
  return {
    height,
    edges: drafts.map(({ edge, points }) => ({ edge, points, labelBox: boxOf.get(edge) ?? null })),
  };
}

/** The boxes that labels must not cover: steps, headings of containers and titles of branches. */
export function solidParts(nodes: readonly PlacedNode[]): Box[] {
  const boxes = absoluteBoxes(nodes);
  return nodes.map(({ node, lines }) => {
    const box = boxes.get(node.id) ?? NOWHERE;
    if (node.kind === 'container') return { ...box, height: headingHeight(lines) };
    return node.kind === 'branch' ? { ...box, height: BRANCH_TITLE_HEIGHT } : box;
  });
}

/** The text of a label, cut for the graph; the list shows the whole condition. */
export function shortLabel(label: string): string {
  return label.length > LABEL_CHARACTERS_MAX
    ? `${label.slice(0, LABEL_CHARACTERS_MAX - 1)}…`
    : label;
}

function toElk({ nodes, edges }: GraphModel, family: Family, names: Names): ElkNode {
  const common: LayoutOptions = {
    ...OPTIONS,
    'elk.layered.thoroughness': nodes.length > MANY_NODES ? '1' : '7',
  };
  const root: ElkNode = { id: 'root', layoutOptions: common, children: [] };
  const made = new Map<string | null, ElkNode>([[null, root]]);
  for (const node of nodes) {
    const elkNode = toElkNode(node, names.get(node.id) ?? [node.title], common);
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
    const id = family.isCrossing(edge) ? orderId(index) : routeId(index);
    (owner.edges ??= []).push(toElkEdge({ ...edge, ...siblings }, id));
  }
  return root;
}

function toElkNode(
  { id, kind }: GraphNode,
  lines: readonly string[],
  common: LayoutOptions,
): ElkNode {
  switch (kind) {
    case 'start':
      return { id, width: START_SIZE, height: START_SIZE };
    case 'step':
    case 'missing':
      return {
        id,
        width: STEP_WIDTH,
        height: STEP_HEIGHT + (lines.length - 1) * NAME_LINE_HEIGHT,
      };
    case 'container': {
      const padding = `[top=${headingHeight(lines) + 16},left=16,bottom=16,right=16]`;
      return { id, layoutOptions: { ...common, ...around(padding, STEP_WIDTH + 32) } };
    }
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
  return {
    id,
    sources: [sourceId],
    targets: [targetId],
    ...(label !== null && {
      // The engine ignores a label without a text.
      labels: [{ id: `label:${id}`, text: shortLabel(label), ...labelSize(label) }],
    }),
  };
}

function labelSize(label: string): { readonly width: number; readonly height: number } {
  return { width: shortLabel(label).length * LABEL_CHARACTER_WIDTH + 12, height: LABEL_HEIGHT };
}

function routeId(index: number): string {
  return `edge:${index}`;
}

/** The id of an edge that only determines the order of the containers around its ends. */
function orderId(index: number): string {
  return `order:${index}`;
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

function pointsOf(route: ElkExtendedEdge): Point[] {
  return (route.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
}

/** The positions that the layout engine has reserved. For a line that it has not routed, the middle comes first. */
function labelPlaces(
  { label }: GraphEdge,
  [start, end]: readonly Point[],
  [route, order]: readonly (ElkExtendedEdge | undefined)[],
): LabelPlaces | null {
  if (label === null || start === undefined || end === undefined) return null;
  const size = labelSize(label);
  const middle = {
    x: (start.x + end.x - size.width) / 2,
    y: (start.y + end.y - size.height) / 2,
    ...size,
  };
  const reserved = [route, order].flatMap((one) =>
    (one?.labels ?? []).map(({ x = 0, y = 0 }) => ({ x, y, ...size })),
  );
  if (route === undefined) return [middle, ...reserved];
  const [best = middle, ...others] = reserved;
  return [best, ...others];
}

/** A line from the bottom of one node to the top of the other. */
function straightLine(
  { sourceId, targetId }: GraphEdge,
  boxes: ReadonlyMap<string, Box>,
): readonly Point[] {
  const source = boxes.get(sourceId) ?? NOWHERE;
  const target = boxes.get(targetId) ?? NOWHERE;
  return [
    { x: source.x + source.width / 2, y: source.y + source.height },
    { x: target.x + target.width / 2, y: target.y },
  ];
}
