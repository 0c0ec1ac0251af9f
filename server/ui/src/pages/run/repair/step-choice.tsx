import type { Workflow } from '@stepwright/sdk';
import { useMemo, useState, type ReactNode } from 'react';
import { ViewChoice } from '../../../components/view-choice.js';
import type { StepMarks } from '../../../graph/graph-context.js';
import { liveStatesOf } from '../../../graph/live-states.js';
import { readDefinition, type GraphDefinition } from '../../../graph/read-definition.js';
import { WorkflowGraph } from '../../../graph/workflow-graph.js';
import { useDefinition } from '../../definitions/use-definition.js';
import { CancelList } from './cancel-list.js';
import { startOf, type RepairableExecution, type RepairPlan } from './repair-plan.js';
import { StartList } from './start-list.js';

interface StepChoiceProps {
  readonly run: Workflow;
  readonly plan: RepairPlan;
  readonly open: readonly RepairableExecution[];
  /** Whether the run may have open executions besides these. */
  readonly isCut: boolean;
  /** The run's version of the definition. */
  readonly own: GraphDefinition;
  readonly set: (change: Partial<RepairPlan>) => void;
}

const MODES = { rerun: 'Rerun from a step', steps: 'Choose steps' } as const;

/** Chooses what to cancel and what to start: on the graph, or in lists. */
export function StepChoice(props: StepChoiceProps): ReactNode {
  const { run, plan, open, isCut, own, set } = props;
  const target = useDefinition(run.definitionId, plan.version);
  const document = target.data;
  const definition = useMemo(
    () => (document === undefined ? own : readDefinition(document)),
    [document, own],
  );
  const isSuspended = run.status === 'Suspended';
  const states = useMemo(() => liveStatesOf(open, isSuspended, isCut), [open, isSuspended, isCut]);
  const marks = useMemo(() => marksOf(plan, open), [plan, open]);
  const [selected, setSelected] = useState<string | null>(null);
  const isTop = (stepId: string): boolean => definition.steps.some(({ id }) => id === stepId);
  const select = (stepId: string): void => {
    if (plan.cancelsAll && isTop(stepId)) {
      set({ start: [startOf(stepId)] });
      return;
    }
    setSelected(stepId);
    // Only steps outside containers can start when everything else is canceled.
    if (plan.cancelsAll) set({ cancelsAll: false, cancel: [], start: [] });
  };
  return (
    <>
      <ViewChoice
        label="Kind of repair"
        views={MODES}
        view={plan.cancelsAll ? 'rerun' : 'steps'}
        onChoose={(mode) => set({ cancelsAll: mode === 'rerun', cancel: [], start: [] })}
      />
      {plan.cancelsAll ? (
        <RerunFrom {...{ plan, definition, set }} />
      ) : (
        <>
          <StartList {...{ plan, definition, open, set, selected }} />
          <CancelList {...{ plan, open, isCut, set, selected, isSuspended }} />
        </>
      )}
      {document !== undefined && (
        <WorkflowGraph
          definition={document}
          states={states}
          marks={marks}
          selectedStepId={plan.cancelsAll ? (plan.start[0]?.stepId ?? null) : selected}
          onSelectStep={select}
          label="Steps to choose from"
        />
      )}
    </>
  );
}

function RerunFrom({
  plan,
  definition,
  set,
}: Pick<StepChoiceProps, 'plan' | 'set'> & { readonly definition: GraphDefinition }): ReactNode {
  const stepId = plan.start[0]?.stepId ?? '';
  return (
    <label className="field">
      <span>Cancel all open steps, and start at this step (or choose it on the graph)</span>
      <select
        value={stepId}
        onChange={({ target: { value } }) => set({ start: value === '' ? [] : [startOf(value)] })}
      >
        <option value="">(choose a step)</option>
        {definition.steps.map(({ id, name }) => (
          <option key={id} value={id}>
            {name === null ? id : `${name} (${id})`}
          </option>
        ))}
        {stepId !== '' && !definition.steps.some(({ id }) => id === stepId) && (
          <option value={stepId}>{stepId} (not in this version)</option>
        )}
      </select>
    </label>
  );
}

/** The planned change of each step, for the graph. */
function marksOf(plan: RepairPlan, open: readonly RepairableExecution[]): StepMarks {
  const canceled = open.filter(
    ({ executionId }) => plan.cancelsAll || plan.cancel.includes(executionId),
  );
  const ends = new Set(canceled.map(({ stepId }) => stepId));
  const starts = new Set(plan.start.map(({ stepId }) => stepId));
  return new Map([
    ...[...ends].map((stepId) => [stepId, 'canceled'] as const),
    ...[...starts].map((id) => [id, ends.has(id) ? 'restarts' : 'starts'] as const),
  ]);
}
