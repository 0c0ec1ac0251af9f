import type { StepExecution, WorkflowOutcome, WorkflowStatus } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { OUTCOME_LOOKS, STATUS_TONES } from './statuses.js';

interface StatusBadgeProps {
  readonly status: WorkflowStatus | StepExecution['status'];
  /** Without color, next to an outcome that says more. */
  readonly isQuiet?: boolean;
}

/** The status of a run or of one execution of a step. */
export function StatusBadge({ status, isQuiet = false }: StatusBadgeProps): ReactNode {
  return <span className={`badge ${isQuiet ? 'idle' : STATUS_TONES[status]}`}>{status}</span>;
}

/** How a run ended. */
export function OutcomeBadge({ outcome }: { readonly outcome: WorkflowOutcome }): ReactNode {
  const { sign, tone } = OUTCOME_LOOKS[outcome];
  return (
    <span className={`badge ${tone}`}>
      <span aria-hidden="true">{sign}</span> {outcome}
    </span>
  );
}
