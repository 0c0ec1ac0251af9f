/** Derives the state of each step in a run from its executions. Pure. */
import type { StepExecution } from '@stepwright/sdk';
import { exactTime } from '../components/zone-choice.js';

/** The state of one step in one run, as counts of executions. */
export interface StepLiveState {
  readonly running: number;
  readonly waiting: number;
  /** Failed, or waiting for a retry. */
  readonly failed: number;
  readonly complete: number;
  readonly canceled: number;
  readonly compensated: number;
  /** Number of executions: one per iteration of a loop or item of a Foreach. Retries don't count. */
  readonly turns: number;
  /** The wait of the step, in words: `event approved/42`; null if it is not waiting. */
  readonly wait: string | null;
  /** Whether the counts leave out executions of a long run. */
  readonly isPartial: boolean;
  /** The message of the most recent error, or null. */
  readonly error: string | null;
}

export type StepLiveStates = ReadonlyMap<string, StepLiveState>;

type ExecutionState = Pick<
  StepExecution,
  'attempt' | 'error' | 'executionId' | 'status' | 'stepId' | 'waitsFor'
>;

/** The overall state of the step: the one that needs the most attention. */
export type StepTone = 'none' | 'running' | 'waiting' | 'failed' | 'complete' | 'canceled';

const NOTHING: StepLiveState = {
  running: 0,
  waiting: 0,
  failed: 0,
  complete: 0,
  canceled: 0,
  compensated: 0,
  turns: 0,
  wait: null,
  isPartial: false,
  error: null,
};

/**
 * Combines executions, as listed by `GET /api/workflow/{id}/steps`, into one state per step id.
 *
 * @param isSuspended true if the run is suspended: nothing is retried before it is resumed
 * @param isPartial whether the run has more executions than these
 */
export function liveStatesOf(
  executions: Iterable<ExecutionState>,
  isSuspended = false,
  isPartial = false,
): StepLiveStates {
  const states = new Map<string, StepLiveState>();
  for (const execution of latestAttempts(executions)) {
    const before = states.get(execution.stepId) ?? NOTHING;
    const after = withExecution(before, execution);
    const isRetry = execution.waitsFor?.kind === 'retry';
    const wait = isSuspended && isRetry ? 'someone to resume the run' : after.wait;
    states.set(execution.stepId, { ...after, wait, isPartial });
  }
  return states;
}

/** A failed attempt no longer counts when there is a later one. */
function latestAttempts(executions: Iterable<ExecutionState>): Iterable<ExecutionState> {
  const latest = new Map<number, ExecutionState>();
  for (const execution of executions) {
    const known = latest.get(execution.executionId);
    if (known === undefined || known.attempt <= execution.attempt) {
      latest.set(execution.executionId, execution);
    }
  }
  return latest.values();
}

export function toneOf(state: StepLiveState | undefined): StepTone {
  if (state === undefined) return 'none';
  if (state.failed > 0) return 'failed';
  if (state.running > 0) return 'running';
  if (state.waiting > 0) return 'waiting';
  if (state.complete > 0) return 'complete';
  return state.canceled + state.compensated > 0 ? 'canceled' : 'none';
}

/** `10,000`, or `1,498+` if there may be more. */
export function countText(count: number, { isPartial }: StepLiveState): string {
  return `${count.toLocaleString('en')}${isPartial && count > 1 ? '+' : ''}`;
}

const STATE_WORDS = {
  running: 'running',
  waiting: 'waiting',
  failed: 'failed',
  complete: 'completed',
  canceled: 'canceled',
  compensated: 'compensated',
} as const;

/** The number of open runs at a step, in words. */
export function runsInWords(runs: number): string {
  return `${runs} open ${runs === 1 ? 'run' : 'runs'} here`;
}

/** The state in words, for users who cannot see the colors; empty if the step has not run. */
export function stateInWords(state: StepLiveState | undefined): string {
  if (state === undefined) return '';
  const parts = (
    ['running', 'waiting', 'failed', 'complete', 'canceled', 'compensated'] as const
  ).flatMap((name) =>
    state[name] > 0 ? [`${countText(state[name], state)} ${STATE_WORDS[name]}`] : [],
  );
  if (state.turns > 1) parts.push(`${countText(state.turns, state)} turns`);
  if (state.wait !== null) parts.push(`waiting for ${state.wait}`);
  return parts.join(', ');
}

function withExecution(state: StepLiveState, execution: ExecutionState): StepLiveState {
  const { status, waitsFor, error } = execution;
  const more = { ...state, turns: state.turns + 1, error: error?.message ?? state.error };
  switch (status) {
    case 'Pending':
    case 'Running':
      return { ...more, running: state.running + 1 };
    case 'Waiting':
      if (waitsFor?.kind === 'retry') {
        return { ...more, failed: state.failed + 1, wait: waitInWords(waitsFor) };
      }
      return { ...more, waiting: state.waiting + 1, wait: waitInWords(waitsFor) ?? state.wait };
    case 'Failed':
      return { ...more, failed: state.failed + 1 };
    case 'Complete':
      return { ...more, complete: state.complete + 1 };
    case 'Cancelled':
      return { ...more, canceled: state.canceled + 1 };
    case 'Compensated':
      return { ...more, compensated: state.compensated + 1 };
  }
}

function waitInWords(wait: StepExecution['waitsFor']): string | null {
  switch (wait?.kind) {
    case 'event':
      return `event ${wait.eventName ?? '?'}/${wait.eventKey ?? '?'}`;
    case 'activity':
      return `activity ${wait.activityName ?? '?'}`;
    case 'workflow':
      return `run ${wait.workflowId ?? '?'}`;
    case 'time':
      return `timer at ${exactTime(wait.until ?? '?')}`;
    case 'retry':
      return `retry at ${exactTime(wait.until ?? '?')}`;
    case 'queue':
      return 'other runs to end';
    case 'limit':
      return `a slot of limit ${wait.limit ?? '?'}`;
    case 'steps':
      return `${wait.open ?? 0} inner ${wait.open === 1 ? 'step' : 'steps'}`;
    case undefined:
      return null;
  }
}
