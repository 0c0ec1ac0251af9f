/**
 * Derives the path that a run has taken from its executions. Pure.
 *
 * An execution does not name the one before it, so the path is inferred: a step is started by the step that leads to it
 * and ended last.
 */
import type { StepExecution } from '@stepwright/sdk';
import { START_ID, type GraphEdge, type GraphModel } from './graph-model.js';

export interface TakenPath {
  /** The ids of the edges that the run has followed. */
  readonly edges: ReadonlySet<string>;
  /** The ids of the nodes that it has reached. */
  readonly nodes: ReadonlySet<string>;
}

export function takenPath(model: GraphModel, executions: readonly StepExecution[]): TakenPath {
  const byStep = groupedInOrder(executions);
  const stepIds = new Map(model.nodes.map(({ id, step }) => [id, step?.id ?? null]));
  const executionsOf = (nodeId: string): readonly StepExecution[] => {
    const stepId = stepIds.get(nodeId) ?? null;
    return (stepId === null ? undefined : byStep.get(stepId)) ?? [];
  };
  const edges = new Set<string>();
  for (const [targetId, incoming] of edgesByTarget(model.edges)) {
    for (const execution of executionsOf(targetId)) {
      if (wasStartedByRepair(execution)) continue;
      const edge = edgeTo(execution, incoming, executionsOf);
      if (edge !== null) edges.add(edge.id);
    }
  }
  return { edges, nodes: reachedNodes(model, (nodeId) => executionsOf(nodeId).length > 0) };
}

/** A branch, which has no executions of its own, is reached with the first step in it. */
function reachedNodes(
  { nodes }: GraphModel,
  wasExecuted: (nodeId: string) => boolean,
): ReadonlySet<string> {
  const reached = new Set<string>([START_ID]);
  for (const { id, parentId } of [...nodes].reverse()) {
    if (!wasExecuted(id) && !reached.has(id)) continue;
    reached.add(id);
    if (parentId !== null) reached.add(parentId);
  }
  return reached;
}

function edgesByTarget(edges: readonly GraphEdge[]): ReadonlyMap<string, readonly GraphEdge[]> {
  const byTarget = new Map<string, GraphEdge[]>();
  for (const edge of edges) {
    const others = byTarget.get(edge.targetId);
    if (others === undefined) byTarget.set(edge.targetId, [edge]);
    else others.push(edge);
  }
  return byTarget;
}

function groupedInOrder(
  executions: readonly StepExecution[],
): ReadonlyMap<string, readonly StepExecution[]> {
  const groups = new Map<string, StepExecution[]>();
  for (const execution of [...executions].sort((a, b) => a.executionId - b.executionId)) {
    const group = groups.get(execution.stepId);
    if (group === undefined) groups.set(execution.stepId, [execution]);
    else group.push(execution);
  }
  return groups;
}

/** Nothing leads to a step that a repair has started. The reason of a cancelled step is that of its cancellation. */
function wasStartedByRepair({ reason, status }: StepExecution): boolean {
  return reason !== null && status !== 'Cancelled';
}

/** The edge over which the execution was started, or null if it is the first of its container. */
function edgeTo(
  execution: StepExecution,
  incoming: readonly GraphEdge[],
  executionsOf: (nodeId: string) => readonly StepExecution[],
): GraphEdge | null {
  let best: { readonly edge: GraphEdge; readonly source: StepExecution } | null = null;
  let start: GraphEdge | null = null;
  for (const edge of incoming) {
    if (edge.kind === 'start') start = edge;
    const source = executionsOf(edge.sourceId).findLast((one) => mayLeadTo(one, execution, edge));
    if (source === undefined) continue;
    if (best === null || isLater(source, best.source)) best = { edge, source };
  }
  return best?.edge ?? start;
}

function mayLeadTo(source: StepExecution, target: StepExecution, { kind }: GraphEdge): boolean {
  if (source.executionId >= target.executionId) return false;
  if (kind === 'undo') return true;
  // The end of a compensated step is that of its compensation.
  if (source.status === 'Compensated') return source.index === target.index;
  return (
    source.status === 'Complete' &&
    source.endTime !== null &&
    source.endTime <= target.startTime &&
    source.index === target.index
  );
}

function isLater(one: StepExecution, other: StepExecution): boolean {
  const isUndone = one.status === 'Compensated' || other.status === 'Compensated';
  const [a, b] = [one.endTime ?? '', other.endTime ?? ''];
  return isUndone || a === b ? one.executionId > other.executionId : a > b;
}
