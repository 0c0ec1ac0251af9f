/**
 * A definition as nodes and edges, without positions.
 *
 * Pure. Invariants: every edge connects two nodes of the model; every parent precedes its children; node ids are unique,
 * even if the step ids of a draft are not.
 */
import type { GraphDefinition, GraphStep } from './read-definition.js';

/**
 * - `start`: the start of a run.
 * - `step`: a step without inner steps.
 * - `container`: a step with inner steps.
 * - `branch`: one of several sequences inside a container.
 * - `missing`: a step that is referenced but does not exist.
 */
export type GraphNodeKind = 'start' | 'step' | 'container' | 'branch' | 'missing';

export interface GraphNode {
  readonly id: string;
  readonly kind: GraphNodeKind;
  readonly parentId: string | null;
  /** Null if the node does not represent a step. */
  readonly step: GraphStep | null;
  readonly title: string;
  /** Whether it is the entry of its sequence. */
  readonly isEntry: boolean;
  /** Whether it belongs to a compensation. */
  readonly isUndo: boolean;
}

/**
 * - `start`: to the first step.
 * - `next`: always.
 * - `choice`: when its label, a condition, is true.
 * - `undo`: when the step is compensated.
 */
export type GraphEdgeKind = 'start' | 'next' | 'choice' | 'undo';

export interface GraphEdge {
  readonly id: string;
  readonly sourceId: string;
  readonly targetId: string;
  readonly kind: GraphEdgeKind;
  readonly label: string | null;
  /** Whether it leads back to an earlier node of its path, forming a loop. */
  readonly isBackward: boolean;
}

export interface GraphModel {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export const START_ID = 'start';

interface Draft {
  readonly nodes: GraphNode[];
  /** The node of each step id; if ids are equal, the first one. */
  readonly nodeIds: Map<string, string>;
  readonly stepNodes: { readonly nodeId: string; readonly step: GraphStep }[];
  readonly takenIds: Set<string>;
  /** From a container to its branches or first node, and from a branch to its first node: for the order, not drawn. */
  readonly inwards: (readonly [string, string])[];
}

interface Surroundings {
  readonly parentId: string | null;
  readonly isUndo: boolean;
}

export function graphModel(definition: GraphDefinition): GraphModel {
  const draft: Draft = {
    nodes: [],
    nodeIds: new Map(),
    stepNodes: [],
    takenIds: new Set(),
    inwards: [],
  };
  const [entry] = addSequence(draft, definition.steps, { parentId: null, isUndo: false });
  if (entry === undefined) return { nodes: [], edges: [] };
  draft.nodes.unshift({
    id: START_ID,
    kind: 'start',
    parentId: null,
    step: null,
    title: 'Start',
    isEntry: false,
    isUndo: false,
  });
  const edges = [
    edge({ sourceId: START_ID, targetId: entry, kind: 'start', label: null }),
    ...draft.stepNodes.flatMap(({ nodeId, step }) => edgesOf(draft, nodeId, step)),
  ];
  return inReadingOrder(draft, edges);
}

/** Adds the steps of a list with all inner steps. Returns the ids of the nodes of the list itself. */
function addSequence(
  draft: Draft,
  steps: readonly GraphStep[],
  surroundings: Surroundings,
): string[] {
  return steps.map((step, index) =>
    addStep(draft, step, { ...surroundings, isEntry: index === 0 }),
  );
}

function addStep(
  draft: Draft,
  step: GraphStep,
  { parentId, isUndo, isEntry }: Surroundings & { readonly isEntry: boolean },
): string {
  const id = takeId(draft, `step:${step.id}`);
  const kind = step.sequences.length > 0 ? 'container' : 'step';
  draft.nodes.push({ id, kind, parentId, step, title: step.name ?? step.id, isEntry, isUndo });
  draft.stepNodes.push({ nodeId: id, step });
  if (!draft.nodeIds.has(step.id)) draft.nodeIds.set(step.id, id);
  for (const [index, sequence] of step.sequences.entries()) {
    const inside = step.sequences.length > 1 ? addBranch(draft, id, { index, isUndo }) : id;
    const [first] = addSequence(draft, sequence, { parentId: inside, isUndo });
    if (first !== undefined) draft.inwards.push([inside, first]);
  }
  // A compensation step is drawn next to its step, not inside it.
  addSequence(draft, step.undo, { parentId, isUndo: true });
  return id;
}

function addBranch(
  draft: Draft,
  containerId: string,
  { index, isUndo }: { readonly index: number; readonly isUndo: boolean },
): string {
  const id = takeId(draft, `branch:${containerId}/${index}`);
  draft.nodes.push({
    id,
    kind: 'branch',
    parentId: containerId,
    step: null,
    title: `Branch ${index + 1}`,
    isEntry: false,
    isUndo,
  });
  draft.inwards.push([containerId, id]);
  return id;
}

function takeId(draft: Draft, wanted: string): string {
  let id = wanted;
  for (let copy = 2; draft.takenIds.has(id); copy += 1) id = `${wanted}#${copy}`;
  draft.takenIds.add(id);
  return id;
}

function edgesOf(draft: Draft, sourceId: string, step: GraphStep): GraphEdge[] {
  const edges: GraphEdge[] = [];
  if (step.nextStepId !== null) {
    const targetId = nodeOf(draft, step.nextStepId, sourceId);
    edges.push(edge({ sourceId, targetId, kind: 'next', label: null }));
  }
  for (const { stepId, condition } of step.choices) {
    const targetId = nodeOf(draft, stepId, sourceId);
    edges.push(edge({ sourceId, targetId, kind: 'choice', label: condition }));
  }
  const [undo] = step.undo;
  if (undo !== undefined) {
    const targetId = nodeOfStep(draft, undo);
    edges.push(edge({ sourceId, targetId, kind: 'undo', label: null }));
  }
  return edges;
}

function nodeOfStep(draft: Draft, wanted: GraphStep): string {
  return draft.stepNodes.find(({ step }) => step === wanted)?.nodeId ?? START_ID;
}

/** A referenced step that does not exist gets a node next to the one that names it, so that the mistake is visible. */
function nodeOf(draft: Draft, stepId: string, namedBy: string): string {
  const known = draft.nodeIds.get(stepId);
  if (known !== undefined) return known;
  const parentId = draft.nodes.find(({ id }) => id === namedBy)?.parentId ?? null;
  const id = takeId(draft, `missing:${stepId}`);
  draft.nodes.push({
    id,
    kind: 'missing',
    parentId,
    step: null,
    title: stepId,
    isEntry: false,
    isUndo: false,
  });
  draft.nodeIds.set(stepId, id);
  return id;
}

function edge(parts: Omit<GraphEdge, 'id' | 'isBackward'>): GraphEdge {
  return {
    ...parts,
    id: `${parts.kind}:${parts.sourceId}->${parts.targetId}`,
    isBackward: false,
  };
}

/**
 * Sorts the nodes into reading order, regardless of their order in the document, and marks the edges that lead back. The
 * layout keeps this order.
 */
function inReadingOrder(draft: Draft, edges: readonly GraphEdge[]): GraphModel {
  const followers = new Map<string, string[]>();
  const lead = (from: string, to: string): void => {
    const known = followers.get(from);
    if (known === undefined) followers.set(from, [to]);
    else known.push(to);
  };
  for (const [from, to] of draft.inwards) lead(from, to);
  for (const { sourceId, targetId } of edges) lead(sourceId, targetId);
  const { finished, backward } = searchDepthFirst(
    draft.nodes.map(({ id }) => id),
    followers,
  );
  const place = new Map(finished.reverse().map((id, index) => [id, index]));
  const nodes = [...draft.nodes].sort((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0));
  return {
    nodes: parentsFirst(nodes),
    edges: edges.map((one) => ({
      ...one,
      isBackward: backward.has(pairKey(one.sourceId, one.targetId)),
    })),
  };
}

/** Not recursive, because a chain may contain all steps of a definition. */
function searchDepthFirst(
  ids: readonly string[],
  followers: ReadonlyMap<string, readonly string[]>,
): { readonly finished: string[]; readonly backward: ReadonlySet<string> } {
  const state = new Map<string, 'open' | 'done'>();
  const finished: string[] = [];
  const backward = new Set<string>();
  for (const root of ids) {
    if (state.has(root)) continue;
    const path: { readonly id: string; next: number }[] = [{ id: root, next: 0 }];
    state.set(root, 'open');
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      // In reverse: the node that is finished first comes last.
      const follower = followers.get(top.id)?.at(-1 - top.next);
      top.next += 1;
      if (follower === undefined) {
        state.set(top.id, 'done');
        finished.push(top.id);
        path.pop();
      } else if (state.get(follower) === 'open') {
        backward.add(pairKey(top.id, follower));
      } else if (!state.has(follower)) {
        state.set(follower, 'open');
        path.push({ id: follower, next: 0 });
      }
    }
  }
  return { finished, backward };
}

function pairKey(from: string, to: string): string {
  return JSON.stringify([from, to]);
}

function parentsFirst(nodes: readonly GraphNode[]): GraphNode[] {
  const children = new Map<string | null, GraphNode[]>();
  for (const node of nodes) {
    const siblings = children.get(node.parentId);
    if (siblings === undefined) children.set(node.parentId, [node]);
    else siblings.push(node);
  }
  const ordered: GraphNode[] = [];
  const waiting = [...(children.get(null) ?? [])].reverse();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    ordered.push(node);
    waiting.push(...[...(children.get(node.id) ?? [])].reverse());
  }
  return ordered;
}
