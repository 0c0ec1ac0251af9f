import { stringifyJson, type StepExecution } from '@stepwright/sdk';
import {
  lazy,
  Suspense,
  useCallback,
  useMemo,
  useState,
  useSyncExternalStore,
  type ReactNode,
} from 'react';
import { ErrorBoundary } from '../app/error-boundary.js';
import { Loading } from '../components/loading.js';
import { ViewChoice } from '../components/view-choice.js';
import { graphModel, type GraphModel } from './graph-model.js';
import type { RunCounts, StepMarks } from './graph-context.js';
import type { StepLiveStates } from './live-states.js';
import { readDefinition } from './read-definition.js';
import { StepOutline } from './step-outline.js';
import { nodeOfStep, nodeThatMatters } from './step-that-matters.js';
import { takenPath, type TakenPath } from './taken-path.js';
import './graph.css';

export interface WorkflowGraphProps {
  /**
   * The definition: a response of `GET /api/definition/{id}`, or a draft in any casing. Keep the same object while the
   * definition stays the same: each new object is read again and, if its structure differs, laid out again.
   */
  readonly definition: unknown;
  /** The states of the steps in a run, from `liveStatesOf(executions)`. */
  readonly states?: StepLiveStates;
  /** All executions of a run: the path that it has taken is highlighted. Keep the same array while they do not change. */
  readonly executions?: readonly StepExecution[];
  /** The number of open runs at each step. Keep the same map while it does not change. */
  readonly runCounts?: RunCounts;
  /** The planned change of each step. */
  readonly marks?: StepMarks;
  /** The step to highlight. */
  readonly selectedStepId?: string | null;
  /** Called when the user selects a step. Without it, steps cannot be selected. */
  readonly onSelectStep?: (stepId: string) => void;
  /** The accessible name of the graph. */
  readonly label?: string;
}

// The graph and its layout are more than half of the page's code, so they are loaded on demand.
const GraphCanvas = lazy(() => import('./graph-canvas.js'));

/**
 * A definition as a graph that can be moved and zoomed, or as a list of its steps, optionally with the states of a run.
 * If the graph cannot be drawn, the list is shown.
 */
export function WorkflowGraph(props: WorkflowGraphProps): ReactNode {
  const { definition: document, label = 'Steps of the definition' } = props;
  const [chosen, setChosen] = useState<'graph' | 'list' | null>(null);
  const [isBroken, setBroken] = useState(false);
  const definition = useMemo(() => readDefinition(document), [document]);
  const model = useMemo(() => graphModel(definition), [definition]);
  const [isTooWide, onTooWide] = useTooWide(model);
  const path = useTakenPath(model, props.executions);
  const focusNodeId = useMemo(() => {
    const { selectedStepId = null, states } = props;
    return (
      (selectedStepId === null ? null : nodeOfStep(model, selectedStepId)) ??
      nodeThatMatters(model, states)
    );
  }, [model, props]);
  if (definition.stepCount === 0) return <p className="hint">This definition has no steps yet.</p>;
  const shown = isBroken ? 'list' : (chosen ?? (isTooWide ? 'list' : 'graph'));
  return (
    <div className="graph" role="group" aria-label={label}>
      <div className="graph-bar">
        <span className="hint">
          {definition.stepCount} {definition.stepCount === 1 ? 'step' : 'steps'}
          {definition.isCut && '; the others are not shown'}
          {isBroken && '; the graph cannot be drawn, so the steps are listed'}
        </span>
        <ViewChoice
          label="View"
          views={{ graph: 'Graph', list: 'List' }}
          view={shown}
          onChoose={setChosen}
          refusal={(name) => (isBroken && name === 'graph' ? 'The graph cannot be drawn.' : null)}
        />
      </div>
      {shown === 'list' ? (
        <StepOutline {...props} definition={definition} path={path} />
      ) : (
        <ErrorBoundary>
          <Suspense fallback={<Loading />}>
            <GraphCanvas
              {...{ ...props, model, path, focusNodeId, onTooWide }}
              onFailure={() => setBroken(true)}
            />
          </Suspense>
        </ErrorBoundary>
      )}
    </div>
  );
}

/** Whether the graph does not fit on a narrow screen: the list is then easier to read. Tried again when either changes. */
function useTooWide(model: GraphModel): [boolean, () => void] {
  const [found, setFound] = useState<{ readonly model: GraphModel; readonly width: number }>();
  const width = useSyncExternalStore(onResize, () => window.innerWidth);
  const onTooWide = useCallback(() => setFound({ model, width: window.innerWidth }), [model]);
  return [found?.model === model && width <= found.width, onTooWide];
}

function onResize(changed: () => void): () => void {
  window.addEventListener('resize', changed);
  return () => window.removeEventListener('resize', changed);
}

/** The same object while the path is the same, so that a live run doesn't redraw its edges every second. */
function useTakenPath(
  model: GraphModel,
  executions: readonly StepExecution[] | undefined,
): TakenPath | undefined {
  const key = useMemo(() => {
    if (executions === undefined) return null;
    const { edges, nodes } = takenPath(model, executions);
    return stringifyJson([[...edges], [...nodes]]);
  }, [model, executions]);
  return useMemo(() => (key === null ? undefined : readPath(key)), [key]);
}

function readPath(key: string): TakenPath {
  const [edges, nodes] = JSON.parse(key) as [string[], string[]];
  return { edges: new Set(edges), nodes: new Set(nodes) };
}
