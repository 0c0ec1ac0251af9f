/** Ends the wait of a step for another instance: its own child, or one that it joined. */
import { failStep, type Failure } from '../failure/fail-step.js';
import type { InstanceOutcome, InstanceStatus } from '../model/instance.js';
import type { Pointer } from '../model/pointer.js';
import type { StepError } from '../model/step-record.js';
import { acceptsOutcome } from '../primitives/effects.js';
import { finish, stopWaitingAnswered } from '../session/pointer-states.js';
import type { Session } from '../session/session.js';
import type { JsonObject } from '../values/json.js';

export interface ChildMessage {
  readonly kind: 'child';
  readonly pointerId: number;
  readonly attempt: number;
  readonly workflowId: string;
  readonly status: InstanceStatus;
  /** Earlier versions of the server omit the outcome and the error. */
  readonly outcome?: InstanceOutcome;
  readonly error?: Pick<StepError, 'stepId' | 'type' | 'message' | 'data'> | null;
  /** Null if it no longer exists. */
  readonly data: JsonObject | null;
  /** The instance has not ended: too many steps had joined it already. */
  readonly refused?: true;
}

/** Does nothing if the step no longer waits for it. */
export function applyChildEnd(session: Session, pointer: Pointer, message: ChildMessage): void {
  if (pointer.state.kind !== 'child' || pointer.attempt !== message.attempt) return;
  if (pointer.state.workflowId !== message.workflowId) return;
  const { data, status, workflowId } = message;
  const outcome = message.outcome ?? (status === 'Complete' ? 'Succeeded' : 'Terminated');
  const isRefused = message.refused === true;
  const isAccepted = !isRefused && acceptsOutcome(pointer.state.inputs, outcome);
  if (isAccepted) {
    finish(session, pointer, {
      WorkflowId: workflowId,
      Status: status,
      Outcome: outcome,
      Data: data,
    });
    return;
  }
  // The end may arrive before the response to the start. That response must not count for the next attempt.
  if (!pointer.state.started) session.changes.abortedEffects.push(pointer.id);
  stopWaitingAnswered(session, pointer);
  const error = message.error ?? null;
  failStep(
    session,
    pointer,
    isRefused ? joinRefused(workflowId, error) : childFailure(workflowId, outcome, error),
  );
}

type ChildError = NonNullable<ChildMessage['error']>;

function joinRefused(workflowId: string, error: ChildError | null): Failure {
  const because = error === null ? '' : `: ${error.message}`;
  return {
    type: 'SubWorkflowFailed',
    message: `this step cannot wait for run ${workflowId}${because}`,
  };
}

function childFailure(
  workflowId: string,
  outcome: InstanceOutcome,
  error: ChildError | null,
): Failure {
  const because = error === null ? '' : `: ${describeError(error)}`;
  const shown = error === null ? null : { ...error };
  return {
    type: 'ChildFailed',
    message: `run ${workflowId} ended with the outcome ${outcome}${because}`,
    data: { workflowId, outcome, error: shown },
  };
}

function describeError({ message, stepId }: ChildError): string {
  return stepId === '' ? message : `step ${stepId} failed: ${message}`;
}
