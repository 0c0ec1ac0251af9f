/** The statuses and outcomes of the API, and how the page shows each. The compiler reports one that is missing. */
import type { StepExecution, WorkflowOutcome, WorkflowStatus } from '@stepwright/sdk';

const RUN_TONES: Readonly<Record<WorkflowStatus, string>> = {
  Runnable: 'running',
  Suspended: 'warning',
  Complete: 'good',
  Terminated: 'bad',
};

/** The color of the status of a run or of an execution. The badge always shows the word as well. */
export const STATUS_TONES: Readonly<Record<WorkflowStatus | StepExecution['status'], string>> = {
  ...RUN_TONES,
  Running: 'running',
  Pending: 'idle',
  Waiting: 'waiting',
  Failed: 'bad',
  Cancelled: 'idle',
  Compensated: 'warning',
};

/** Each outcome has its own symbol and weight, so that they can be told apart without color or reading. */
export const OUTCOME_LOOKS: Readonly<
  Record<WorkflowOutcome, { readonly sign: string; readonly tone: string }>
> = {
  Succeeded: { sign: '✓', tone: 'good' },
  Compensated: { sign: '↩', tone: 'warning strong' },
  Failed: { sign: '✕', tone: 'bad strong' },
  Terminated: { sign: '■', tone: 'idle strong' },
};

// Object.keys loses the type of the keys.
export const RUN_STATUSES = Object.keys(RUN_TONES) as readonly WorkflowStatus[];
export const RUN_OUTCOMES = Object.keys(OUTCOME_LOOKS) as readonly WorkflowOutcome[];
