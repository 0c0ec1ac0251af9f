import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react';
import { ErrorBoundary } from '../app/error-boundary.js';
import { Loading } from '../components/loading.js';
import { ViewChoice } from '../components/view-choice.js';
import { graphModel } from './graph-model.js';
import type { StepLiveStates } from './live-states.js';
import { readDefinition } from './read-definition.js';
import { StepOutline } from './step-outline.js';
import './graph.css';

export interface WorkflowGraphProps {
  /**
   * The definition: a response of `GET /api/definition/{id}`, or a draft in any casing. Keep the same object while the
   * definition stays the same: each new object is read again and, if its structure differs, laid out again.
   */
  readonly definition: unknown;
  /** The states of the steps in a run, from `liveStatesOf(executions)`. */
  readonly states?: StepLiveStates;
  /** The step to highlight. */
  readonly selectedStepId?: string | null;
  /** Called when the user selects a step. Without it, steps cannot be selected. */
  readonly onSelectStep?: (stepId: string) => void;
  /** The accessible name of the graph. */
  readonly label?: string;
}

// The graph and its layout are more than half of the code of the page, so they are loaded on demand.
const GraphCanvas = lazy(() => import('./graph-canvas.js'));

/**
 * A definition as a graph that can be moved and zoomed, or as a list of its steps, optionally with the states of a run.
 * If the graph cannot be drawn, the list is shown.
 */
export function WorkflowGraph(props: WorkflowGraphProps): ReactNode {
  const { definition: document, label = 'Steps of the definition' } = props;
  const [view, setView] = useState<'graph' | 'list'>('graph');
  const [isBroken, setBroken] = useState(false);
  const definition = useMemo(() => readDefinition(document), [document]);
  const model = useMemo(() => graphModel(definition), [definition]);
  if (definition.stepCount === 0) return <p className="hint">This definition has no steps yet.</p>;
  const shown = isBroken ? 'list' : view;
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
          onChoose={setView}
          refusal={(name) => (isBroken && name === 'graph' ? 'The graph cannot be drawn.' : null)}
        />
      </div>
      {shown === 'list' ? (
        <StepOutline {...props} definition={definition} />
      ) : (
        <ErrorBoundary>
          <Suspense fallback={<Loading />}>
            <GraphCanvas {...props} model={model} onFailure={() => setBroken(true)} />
          </Suspense>
        </ErrorBoundary>
      )}
    </div>
  );
}
