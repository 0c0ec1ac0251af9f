/** The wire types of actions on runs. */
import type { ControlledWorkflow, Priority, WorkflowStatus } from './workflow.js';
import type { Time } from './time.js';

/**
 * An action that an operator can take.
 */
export type OperatorAction =
  | 'suspend'
  | 'resume'
  | 'terminate'
  | 'retry'
  | 'publish-event'
  | 'complete-activity'
  | 'fail-activity'
  | 'set-tags'
  | 'set-priority'
  | 'restart'
  | 'modify'
  | 'rerun';

/**
 * A new priority.
 *
 * @example { "priority": 1 }
 */
export interface PriorityRequest {
  priority: Priority;
}

/**
 * One action on many runs.
 *
 * @example { "action": "resume", "workflowIds": ["01hx5v3x9t6k2m4n8p0q"] }
 */
export interface ControlRequest {
  /**
   * `retry` immediately retries the steps that are waiting for their next attempt.
   */
  action: 'suspend' | 'resume' | 'terminate' | 'retry';
  /**
   * With `terminate`: whether each run compensates its completed steps before it ends. The default is false.
   */
  compensate?: boolean;
  /**
   * The reason, shown in the record of actions of each run.
   * @minLength 1 must not be empty
   * @maxLength 500 must have at most 500 characters
   */
  reason?: string;
  /**
   * @minItems 1 must name at least one run
   * @maxItems 100 must name at most 100 runs
   */
  workflowIds: string[];
}

/**
 * The result for one run.
 *
 * @example { "workflowId": "01hx5v3x9t6k2m4n8p0q", "outcome": "done", "status": "Runnable" }
 */
export interface ControlResult {
  workflowId: string;
  /**
   * `refused`: the status of the run does not allow the action. `missing`: there is no such run.
   */
  outcome: 'done' | 'refused' | 'missing';
  /**
   * The status after the action; null if there is no such run.
   */
  status: WorkflowStatus | null;
}

/**
 * The result for each run, in the order of the request.
 */
export interface ControlAnswer {
  results: ControlResult[];
}

/**
 * An action on a run.
 *
 * @example {
 *   "time": "2026-05-04T10:20:30.123Z",
 *   "actor": "ada",
 *   "action": "complete-activity",
 *   "detail": "step charge (execution 3)"
 * }
 */
export interface WorkflowAction {
  /**
   * ISO 8601, UTC.
   */
  time: Time;
  /**
   * The subject (`sub`) of the caller's token; `anonymous` if it has none, or if the server requires no token.
   */
  actor: string;
  action: OperatorAction;
  detail: string | null;
}

/**
 * The actions on a run, the newest first.
 */
export interface WorkflowActionList {
  items: WorkflowAction[];
  /**
   * Always null: there is only one page.
   */
  nextCursor: string | null;
}

/**
 * Options for starting a run again.
 *
 * @example { "reason": "the carrier API was down", "version": 4 }
 */
export interface RestartRequest {
  /**
   * The reason, in your own words, shown in the record of actions of both runs.
   * @minLength 1 must have 1 to 500 characters
   * @maxLength 500 must have 1 to 500 characters
   */
  reason: string;
  /**
   * The version of the definition. The default is the version of the run that is started again.
   * @isInt must be a whole number
   * @minimum 1 must be at least 1
   * @maximum 2147483647 must be at most 2147483647
   */
  version?: number;
}

/**
 * A preview of a termination with compensation.
 *
 * @example { "undo": [{ "executionId": 4, "stepId": "charge" }], "inFlight": [{ "executionId": 4, "stepId": "charge" }] }
 */
export interface CompensationPreview {
  /**
   * The executions that would be undone, in order: the last one to end comes first. Executions in flight haven't ended yet.
   */
  undo: UndoneExecution[];
  /**
   * The executions that a worker, a call or a child run is currently working on. The run first waits for them, up to the grace
   * period.
   */
  inFlight: UndoneExecution[];
}

/** The terminated run or, with `preview`, what would be undone. */
export type TerminationResponse = ControlledWorkflow | CompensationPreview;

export interface UndoneExecution {
  /**
   * A number that identifies the execution in its run; null if the step ended before the server recorded it.
   * @isInt
   */
  executionId: number | null;
  stepId: string;
}
