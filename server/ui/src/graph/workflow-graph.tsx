import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react';
import { ErrorBoundary } from '../app/error-boundary.js';
import { Loading } from '../components/loading.js';
import { graphModel } from './graph-model.js';
import type { StepLiveStates } from './live-states.js';
import { readDefinition } from './read-definition.js';
import { StepOutline } from './step-outline.js';
import './graph.css';

export interface WorkflowGraphProps {
  /**
   * The definition: as `GET /api/definition/{id}` answers it, or a draft in any casing. Keep its identity while it stays
   * the same: a new object is read, and where its structure differs laid out, anew.
   */
  readonly definition: unknown;
  /** Of a run: what each step has done and waits for. Make it with `liveStatesOf(executions)`. */
  readonly states?: StepLiveStates;
  /** The step that is marked. */
  readonly selectedStepId?: string | null;
  /** A step was chosen, with the pointer or the keyboard. Without it steps cannot be chosen. */
  readonly onSelectStep?: (stepId: string) => void;
  /** What the drawing shows, for those who do not see it. */
  readonly label?: string;
}

// The drawing and its layout are the larger half of the page: they come when they are first needed.
const GraphCanvas = lazy(() => import('./graph-canvas.js'));

/**
 * A definition as a drawing that can be moved and zoomed, or as a list of its steps; with the state of a run, if one is
 * given. Where the drawing is not possible the list is shown.
 */
export function WorkflowGraph(props: WorkflowGraphProps): ReactNode {
  const { definition: document, label = 'Steps of the definition' } = props;
  const [view, setView] = useState<'graph' | 'list'>('graph');
  const [isBroken, setBroken] = useState(false);
  const definition = useMemo(() => readDefinition(document), [document]);
  const model = useMemo(() => graphModel(definition), [definition]);
  if (definition.stepCount === 0) return <p className="hint">There are no steps to draw yet.</p>;
  const shown = isBroken ? 'list' : view;
  return (
    <div className="graph" role="group" aria-label={label}>
      <div className="graph-bar">
        <span className="hint">
          {definition.stepCount} {definition.stepCount === 1 ? 'step' : 'steps'}
          {definition.isCut && ', more are left out'}
          {isBroken && '; this one cannot be drawn, so its steps are listed'}
        </span>
        <span className="graph-views" role="group" aria-label="View">
          {(['graph', 'list'] as const).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={shown === name}
              disabled={isBroken && name === 'graph'}
              onClick={() => setView(name)}
            >
              {name === 'graph' ? 'Graph' : 'List'}
            </button>
          ))}
        </span>
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
