/**
 * Derives the path that a run has taken from its executions. Pure.
 *
 * An execution doesn't name its predecessor, so the path is inferred: a step was started by the step leading to it that last
 * allowed it to start. The first step of a container may also have been started by the container, in each iteration, unless the
 * last step of its sequence to end leads back to it.
 */
import type { StepExecution } from '@stepwright/sdk';
import { START_ID, type GraphEdge, type GraphModel, type GraphNode } from './graph-model.js';
import type { GraphStep } from './read-definition.js';

export interface TakenPath {
  /** The ids of the edges that the run has followed. */
  readonly edges: ReadonlySet<string>;
  /** The ids of the nodes that it has reached. */
  readonly nodes: ReadonlySet<string>;
}

export function takenPath(model: GraphModel, executions: readonly StepExecution[]): TakenPath {
  const history = new History(model, executions);
  const nodes = new Map(model.nodes.map((node) => [node.id, node]));
  const edges = new Set<string>();
  for (const [targetId, incoming] of edgesByTarget(model.edges)) {
    const target = nodes.get(targetId);
    if (target === undefined) continue;
    for (const execution of history.of(targetId)) {
      if (wasStartedByRepair(execution)) continue;
      const edge = history.edgeTo(target, execution, incoming);
      if (edge !== null) edges.add(edge.id);
    }
  }
  return { edges, nodes: reachedNodes(model, (nodeId) => history.of(nodeId).length > 0) };
}

/** An execution that let its successors start, and when it did. */
interface Source {
  readonly execution: StepExecution;
  readonly at: string;
}

type TimeOf = (execution: StepExecution, step: GraphStep | null) => string | null;

/** The executions by node, and the ones that let successors start. */
class History {
  readonly #byStep: ReadonlyMap<string, readonly StepExecution[]>;
  readonly #steps: ReadonlyMap<string, GraphStep | null>;
  readonly #nodes: readonly GraphNode[];

  constructor({ nodes }: GraphModel, executions: readonly StepExecution[]) {
    this.#nodes = nodes;
    this.#byStep = groupedInOrder(executions);
    this.#steps = new Map(nodes.map(({ id, step }) => [id, step]));
  }

  of(nodeId: string): readonly StepExecution[] {
    const step = this.#steps.get(nodeId) ?? null;
    return (step === null ? undefined : this.#byStep.get(step.id)) ?? [];
  }

  /** The edge over which the execution was started, or null if its container has started it. */
  edgeTo(
    target: GraphNode,
    execution: StepExecution,
    incoming: readonly GraphEdge[],
  ): GraphEdge | null {
    const start = incoming.find(({ kind }) => kind === 'start') ?? null;
    // A failed step continues only after its compensation, which may be empty, so it is considered last.
    const best =
      this.#bestSource(incoming, execution, passedOnAt) ??
      (target.isEntry ? null : this.#bestSource(incoming, execution, failedAt));
    if (best === null) return start;
    const isNewTurn = target.isEntry && best.edge.kind !== 'undo';
    return isNewTurn && this.#hasLaterSibling(target, execution, best) ? start : best.edge;
  }

  #bestSource(
    incoming: readonly GraphEdge[],
    target: StepExecution,
    timeOf: TimeOf,
  ): (Source & { readonly edge: GraphEdge }) | null {
    let best: (Source & { readonly edge: GraphEdge }) | null = null;
    for (const edge of incoming) {
      const source = this.#lastSource(edge, target, timeOf);
      if (source === null) continue;
      if (best === null || isLater(source, best)) best = { ...source, edge };
    }
    return best;
  }

  #lastSource(edge: GraphEdge, target: StepExecution, timeOf: TimeOf): Source | null {
    const step = this.#steps.get(edge.sourceId) ?? null;
    let last: Source | null = null;
    for (const execution of this.of(edge.sourceId)) {
      const at = edge.kind === 'undo' ? (execution.endTime ?? '') : timeOf(execution, step);
      if (at === null || !isBefore({ execution, at }, target, edge)) continue;
      if (last === null || isLater({ execution, at }, last)) last = { execution, at };
    }
    return last;
  }

  /** Whether another step of the same sequence ended between the source and the target. */
  #hasLaterSibling(target: GraphNode, execution: StepExecution, source: Source): boolean {
    return this.#nodes
      .filter(({ isUndo, parentId }) => parentId === target.parentId && isUndo === target.isUndo)
      .flatMap(({ id }) => this.of(id))
      .filter((one) => one.endTime !== null && one.index === execution.index)
      .filter((one) => one.executionId < execution.executionId && one !== source.execution)
      .some((one) => {
        const at = one.endTime ?? '';
        return at <= execution.startTime && isLater({ execution: one, at }, source);
      });
  }
}

/** A branch doesn't have executions: it is reached with its first step. */
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

/** A step that a repair has started has no predecessor. The reason of a canceled step is the reason for its cancellation. */
function wasStartedByRepair({ reason, status }: StepExecution): boolean {
  return reason !== null && status !== 'Cancelled';
}

function isBefore({ at, execution }: Source, target: StepExecution, { kind }: GraphEdge): boolean {
  if (execution.executionId >= target.executionId) return false;
  if (kind === 'undo') return true;
  // A compensated step ends with its compensation, which may be later than the start of its successors.
  const isInTime = execution.status === 'Compensated' || at <= target.startTime;
  return isInTime && execution.index === target.index;
}

/** When the execution let its successors start; null if it has not. */
function passedOnAt(execution: StepExecution, step: GraphStep | null): string | null {
  const { endTime, reason, startTime, status } = execution;
  if (isInBackground(execution)) return startTime;
  if (status === 'Complete' || status === 'Compensated') return endTime;
  const proceeds = status === 'Cancelled' && reason === null && step?.proceedsOnCancel === true;
  return proceeds ? endTime : null;
}

function failedAt({ endTime, status }: StepExecution): string | null {
  return status === 'Failed' ? endTime : null;
}

/** The next steps of such an execution do not wait for its end. */
function isInBackground({ inputs, stepType }: StepExecution): boolean {
  if (typeof inputs !== 'object' || inputs === null || Array.isArray(inputs)) return false;
  const background = 'Background' in inputs ? String(inputs['Background']).toLowerCase() : '';
  if (stepType === 'Recur') return background !== 'false';
  return stepType === 'Schedule' && background === 'true';
}

function isLater(one: Source, other: Source): boolean {
  const [a, b] = [one.execution, other.execution];
  const isUndone = a.status === 'Compensated' || b.status === 'Compensated';
  return isUndone || one.at === other.at ? a.executionId > b.executionId : one.at > other.at;
}
