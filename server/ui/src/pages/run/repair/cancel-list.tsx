import { useState, type ReactNode } from 'react';
import { Button } from '../../../components/button.js';
import { StepBadge } from '../../../components/status-badge.js';
import type { RepairableExecution, RepairPlan } from './repair-plan.js';

interface CancelListProps {
  readonly plan: RepairPlan;
  readonly open: readonly RepairableExecution[];
  /** Whether the run may have open executions besides these. */
  readonly isCut: boolean;
  /** The step that the user has selected on the graph: only its executions are listed. */
  readonly selected: string | null;
  /** Whether the run is suspended. */
  readonly isSuspended: boolean;
  readonly set: (change: Partial<RepairPlan>) => void;
}

const SHOWN = 50;

/** The open executions; the chosen ones are canceled with everything inside them. */
export function CancelList(props: CancelListProps): ReactNode {
  const { plan, open, isCut, selected, isSuspended, set } = props;
  const [shown, setShown] = useState(SHOWN);
  const listed = open
    .filter(({ stepId }) => selected === null || stepId === selected)
    .toSorted((a, b) => needOf(b) - needOf(a));
  const toggle = (executionId: number): void => {
    const others = plan.cancel.filter((id) => id !== executionId);
    set({ cancel: others.length < plan.cancel.length ? others : [...others, executionId] });
  };
  return (
    <fieldset className="repair-part">
      <legend>Cancel{selected !== null && ` executions of ${selected}`}</legend>
      {listed.length === 0 && <p className="hint">No execution is open.</p>}
      {listed.slice(0, shown).map((execution) => {
        const { executionId, stepId, index, error } = execution;
        return (
          <label key={executionId} className="repair-check">
            <input
              type="checkbox"
              checked={plan.cancel.includes(executionId)}
              onChange={() => toggle(executionId)}
            />
            <span>
              <bdi>{stepId}</bdi> <span className="quiet">execution {executionId}</span>
              {index !== null && <span className="quiet"> item {index}</span>}{' '}
              <StepBadge execution={execution} isSuspended={isSuspended} />{' '}
              {error !== null && <bdi className="quiet">{error.message.slice(0, 200)}</bdi>}
            </span>
          </label>
        );
      })}
      {listed.length > shown && (
        <Button isSmall variant="quiet" onPress={() => setShown(shown + 10 * SHOWN)}>
          Show more ({listed.length - shown})
        </Button>
      )}
      {isCut && (
        <p className="hint">The run may have more open executions; failed ones are listed first.</p>
      )}
      {plan.cancel.length > 0 && <p className="hint">{plan.cancel.length} chosen</p>}
    </fieldset>
  );
}

/** Failed executions come first. */
function needOf({ error }: RepairableExecution): number {
  return error === null ? 0 : 1;
}
