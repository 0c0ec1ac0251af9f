/** The nesting of the nodes. Pure. */
import type { GraphEdge, GraphNode } from './graph-model.js';

/** Relative to the whole graph. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const NOWHERE: Box = { x: 0, y: 0, width: 0, height: 0 };

type Ends = Pick<GraphEdge, 'sourceId' | 'targetId'>;

export class Family {
  readonly #parents: ReadonlyMap<string, string | null>;

  constructor(nodes: readonly GraphNode[]) {
    this.#parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]));
  }

  parentOf(id: string): string | null {
    return this.#parents.get(id) ?? null;
  }

  /** Whether the ends of the edge are in different containers. */
  isCrossing({ sourceId, targetId }: Ends): boolean {
    return this.parentOf(sourceId) !== this.parentOf(targetId);
  }

  /**
   * The two siblings that an edge connects: its ends, or the containers around them. Null if one end is inside the
   * other.
   */
  siblingsOf({ sourceId, targetId }: Ends): Ends | null {
    const sources = this.#lineOf(sourceId);
    const targets = this.#lineOf(targetId);
    let level = 0;
    while (sources[level] !== undefined && sources[level] === targets[level]) level += 1;
    if (sourceId === targetId) return { sourceId, targetId };
    const [source, target] = [sources[level], targets[level]];
    return source === undefined || target === undefined
      ? null
      : { sourceId: source, targetId: target };
  }

  /** The path from the outermost container to the node. */
  #lineOf(id: string): string[] {
    const line: string[] = [];
    for (let at: string | null = id; at !== null; at = this.parentOf(at)) line.unshift(at);
    return line;
  }
}

/** Positions relative to the whole graph; takes nodes in the order of the model. */
export function absoluteBoxes(
  nodes: readonly (Box & { readonly node: GraphNode })[],
): ReadonlyMap<string, Box> {
  const boxes = new Map<string, Box>();
  for (const { node, x, y, width, height } of nodes) {
    const around = node.parentId === null ? NOWHERE : (boxes.get(node.parentId) ?? NOWHERE);
    boxes.set(node.id, { x: around.x + x, y: around.y + y, width, height });
  }
  return boxes;
}
