import type { StepExecution, WaitReason } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { lookOfRun, lookOfStep } from './statuses.js';

interface RunBadgeProps {
  readonly run: Parameters<typeof lookOfRun>[0];
  /** From the run's explanation: whether it is running, waiting or retrying. Undefined if not known yet. */
  readonly reasons: readonly Pick<WaitReason, 'kind'>[] | undefined;
}

/** The state of a run, or how it ended. */
export function RunBadge({ run, reasons }: RunBadgeProps): ReactNode {
  const kinds = reasons?.map(({ kind }) => kind);
  const { sign, tone, word } = lookOfRun(run, kinds);
  return (
    <span className={`badge ${tone}`}>
      {sign !== undefined && (
        <>
          <span aria-hidden="true">{sign}</span>{' '}
        </>
      )}
      {word}
    </span>
  );
}

interface StepBadgeProps {
  readonly execution: Pick<StepExecution, 'status' | 'waitsFor'>;
  /** Whether its run is suspended. */
  readonly isSuspended: boolean;
}

/** The status of one execution of a step. */
export function StepBadge({ execution, isSuspended }: StepBadgeProps): ReactNode {
  const { tone, word } = lookOfStep(execution, isSuspended);
  return <span className={`badge ${tone}`}>{word}</span>;
}
