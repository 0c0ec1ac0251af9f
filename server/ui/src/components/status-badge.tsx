import type { WorkflowOutcome } from '@stepwright/sdk';
import type { ReactNode } from 'react';

/** The color of each status. The badge always shows the word as well. */
const TONES: Readonly<Record<string, string>> = {
  Runnable: 'running',
  Running: 'running',
  Pending: 'idle',
  Waiting: 'waiting',
  Suspended: 'warning',
  Complete: 'good',
  Terminated: 'bad',
  Failed: 'bad',
  Cancelled: 'idle',
  Compensated: 'warning',
};

interface StatusBadgeProps {
  readonly status: string;
  /** Without color, next to an outcome that says more. */
  readonly isQuiet?: boolean;
}

/** The status of a run or of one execution of a step. */
export function StatusBadge({ status, isQuiet = false }: StatusBadgeProps): ReactNode {
  const hasTone = !isQuiet && Object.hasOwn(TONES, status);
  return <span className={`badge ${hasTone ? TONES[status] : 'idle'}`}>{status}</span>;
}

/** Each outcome has its own symbol and weight, so that they can be told apart without color or reading. */
const OUTCOMES: Readonly<
  Record<WorkflowOutcome, { readonly sign: string; readonly tone: string }>
> = {
  Succeeded: { sign: '✓', tone: 'good' },
  Compensated: { sign: '↩', tone: 'warning strong' },
  Failed: { sign: '✕', tone: 'bad strong' },
  Terminated: { sign: '■', tone: 'idle strong' },
};

/** How a run ended. */
export function OutcomeBadge({ outcome }: { readonly outcome: WorkflowOutcome }): ReactNode {
  const { sign, tone } = OUTCOMES[outcome];
  return (
    <span className={`badge ${tone}`}>
      <span aria-hidden="true">{sign}</span> {outcome}
    </span>
  );
}
