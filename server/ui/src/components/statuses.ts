/** The statuses and outcomes of the API, with their labels and styles on the page. The compiler reports a missing one. */
import type {
  StepExecution,
  StepFilter,
  WaitReason,
  WorkflowOutcome,
  WorkflowStatus,
} from '@stepwright/sdk';

type StepStatusFilter = NonNullable<StepFilter['status']>;

interface Look {
  readonly word: string;
  readonly tone: string;
  /** Outcomes have a symbol, so users can distinguish them without relying on color or text. */
  readonly sign?: string;
}

const RUN_LOOKS = {
  open: { word: 'Open', tone: 'running' },
  running: { word: 'Running', tone: 'running' },
  waiting: { word: 'Waiting', tone: 'waiting' },
  queued: { word: 'Queued', tone: 'waiting' },
  retrying: { word: 'Retrying', tone: 'bad' },
  compensating: { word: 'Compensating', tone: 'warning' },
  suspended: { word: 'Suspended', tone: 'warning' },
  completed: { word: 'Completed', tone: 'good', sign: '✓' },
  compensated: { word: 'Compensated', tone: 'warning strong', sign: '↩' },
  failed: { word: 'Failed', tone: 'bad strong', sign: '✕' },
  terminated: { word: 'Terminated', tone: 'idle strong', sign: '■' },
} as const satisfies Readonly<Record<string, Look>>;

type RunState = keyof typeof RUN_LOOKS;
type ReasonKind = WaitReason['kind'];

const OUTCOME_STATES: Readonly<Record<WorkflowOutcome, RunState>> = {
  Succeeded: 'completed',
  Compensated: 'compensated',
  Failed: 'failed',
  Terminated: 'terminated',
};

/** The state of an open run that isn't suspended depends on why it doesn't advance. */
const KIND_STATES: Readonly<Record<ReasonKind, RunState>> = {
  suspended: 'suspended',
  'set-aside': 'suspended',
  compensating: 'compensating',
  retry: 'retrying',
  running: 'running',
  scheduled: 'running',
  event: 'waiting',
  activity: 'waiting',
  workflow: 'waiting',
  timer: 'waiting',
  debounce: 'waiting',
  limit: 'waiting',
  queue: 'queued',
  ended: 'completed',
};

/** The state that needs most attention decides. */
const BY_ATTENTION: readonly RunState[] = [
  'compensating',
  'retrying',
  'running',
  'waiting',
  'queued',
];

interface RunStand {
  readonly status: WorkflowStatus;
  readonly outcome: WorkflowOutcome | null;
  /** Whether its first step waits for other runs to end, as far as that is known. */
  readonly queued?: boolean;
}

/** @param kinds of the reasons in the explanation of the run; undefined while they are unknown */
export function lookOfRun(run: RunStand, kinds: readonly ReasonKind[] | undefined): Look {
  return RUN_LOOKS[stateOf(run, kinds)];
}

function stateOf(
  { status, outcome, queued }: RunStand,
  kinds: readonly ReasonKind[] | undefined,
): RunState {
  if (outcome !== null) return OUTCOME_STATES[outcome];
  if (status !== 'Runnable') return status === 'Suspended' ? 'suspended' : 'terminated';
  if (kinds === undefined && queued === true) return 'queued';
  const states = new Set(kinds?.map((kind) => KIND_STATES[kind]));
  return BY_ATTENTION.find((state) => states.has(state)) ?? 'open';
}

const STEP_LOOKS: Readonly<Record<StepExecution['status'], Look>> = {
  Pending: { word: 'Pending', tone: 'idle' },
  Running: { word: 'Running', tone: 'running' },
  Waiting: { word: 'Waiting', tone: 'waiting' },
  Complete: { word: 'Completed', tone: 'good' },
  Failed: { word: 'Failed', tone: 'bad' },
  Cancelled: { word: 'Canceled', tone: 'idle' },
  Compensated: { word: 'Compensated', tone: 'warning' },
};

/** @param isSuspended whether its run is suspended: then nothing is retried */
export function lookOfStep(
  { status, waitsFor }: Pick<StepExecution, 'status' | 'waitsFor'>,
  isSuspended: boolean,
): Look {
  if (waitsFor?.kind !== 'retry') return STEP_LOOKS[status];
  return isSuspended ? RUN_LOOKS.suspended : RUN_LOOKS.retrying;
}

/** The states by which the executions of a run can be filtered. */
export const STEP_STATE_CHOICES: readonly (readonly [StepStatusFilter, string])[] = [
  ...(Object.entries(STEP_LOOKS) as [StepExecution['status'], Look][]).map(
    ([status, { word }]): [StepStatusFilter, string] => [
      status,
      status === 'Waiting' ? 'Waiting or retrying' : word,
    ],
  ),
  ['Retrying', RUN_LOOKS.retrying.word],
];

interface StateChoice {
  readonly label: string;
  readonly status: WorkflowStatus | '';
  readonly outcome: WorkflowOutcome | '';
  /** Only runs that show an error now. */
  readonly hasError?: true;
  /** Only queued runs. */
  readonly isQueued?: true;
  /** False: shown only if the address contains it. */
  readonly isOffered: boolean;
}

/**
 * The states that lists can be filtered by. Lists don't contain the reason for a wait, so running and waiting runs can't be
 * distinguished. An open run shows an error only until another attempt or the compensation has succeeded.
 */
export const STATE_CHOICES: readonly StateChoice[] = [
  { label: 'Running, waiting or retrying', status: 'Runnable', outcome: '', isOffered: true },
  {
    label: 'Retrying, or compensating an error',
    status: 'Runnable',
    outcome: '',
    hasError: true,
    isOffered: true,
  },
  { label: RUN_LOOKS.queued.word, status: '', outcome: '', isQueued: true, isOffered: true },
  { label: 'Suspended', status: 'Suspended', outcome: '', isOffered: true },
  { label: 'Completed', status: '', outcome: 'Succeeded', isOffered: true },
  { label: 'Compensated', status: '', outcome: 'Compensated', isOffered: true },
  { label: 'Failed', status: '', outcome: 'Failed', isOffered: true },
  { label: 'Terminated', status: '', outcome: 'Terminated', isOffered: true },
  { label: 'Completed or compensated', status: 'Complete', outcome: '', isOffered: false },
  {
    label: 'Failed, compensated or terminated',
    status: 'Terminated',
    outcome: '',
    isOffered: false,
  },
];

export const RUN_STATUSES: readonly WorkflowStatus[] = [
  'Runnable',
  'Suspended',
  'Complete',
  'Terminated',
];
// Object.keys loses the type of the keys.
export const RUN_OUTCOMES = Object.keys(OUTCOME_STATES) as readonly WorkflowOutcome[];
