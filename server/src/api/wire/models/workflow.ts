/** Workflow instances and what ran in them, on the wire. */
import type { DataObject, JsonValue } from './json-value.js';

/**
 * The state of a workflow.
 */
export type WorkflowStatus = 'Runnable' | 'Suspended' | 'Complete' | 'Terminated';

/**
 * How a workflow ended. `Succeeded`: no failure was left behind. `Compensated`: a step failed for good and what could be
 * undone was undone; the workflow may have gone on to its end all the same. `Failed`: an error ended it. `Terminated`: a
 * person or its parent did.
 */
export type WorkflowOutcome = 'Succeeded' | 'Compensated' | 'Failed' | 'Terminated';

/**
 * The failure of a step.
 */
export interface StepError {
  stepId: string;
  message: string;
  /**
   * The class of the Python exception, or the server's own word such as `Timeout` or `ActivityFailed`.
   */
  type: string;
  /**
   * The Python traceback, where Python failed.
   */
  traceback: string | null;
  /**
   * What an activity worker reported with its failure.
   */
  data: JsonValue;
  /**
   * Which try it was, from 1.
   * @isInt
   */
  attempt: number;
  /**
   * ISO 8601, UTC.
   */
  time: string;
}

/**
 * Another workflow.
 */
export interface WorkflowReference {
  workflowId: string;
}

/**
 * A workflow in a list: everything but its data.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "definitionId": "greeting",
 *   "version": 1,
 *   "reference": null,
 *   "status": "Complete",
 *   "outcome": "Succeeded",
 *   "parent": null,
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "endTime": "2026-05-04T10:20:30.130Z",
 *   "lastChangeTime": "2026-05-04T10:20:30.130Z",
 *   "failureTime": null
 * }
 */
export interface WorkflowSummary {
  workflowId: string;
  definitionId: string;
  /**
   * The version of the definition that it runs on.
   * @isInt
   */
  version: number;
  /**
   * The caller's own text from the start.
   */
  reference: string | null;
  status: WorkflowStatus;
  /**
   * How it ended; null while it has not.
   */
  outcome: WorkflowOutcome | null;
  /**
   * The workflow whose SubWorkflow step started it; null where a client did.
   */
  parent: WorkflowReference | null;
  /**
   * ISO 8601, UTC.
   */
  startTime: string;
  /**
   * ISO 8601, UTC; null while it has not ended.
   */
  endTime: string | null;
  /**
   * When the server last wrote it: the newest progress or control action. ISO 8601, UTC.
   */
  lastChangeTime: string;
  /**
   * When the error came that `lastError` shows. ISO 8601, UTC.
   */
  failureTime: string | null;
}

/**
 * The SubWorkflow step that started a workflow.
 */
export interface WorkflowParent extends WorkflowReference {
  /**
   * Which of its executions, see its steps.
   * @isInt
   */
  executionId: number;
  /**
   * Null for a workflow that was started by an earlier version of the server.
   */
  stepId: string | null;
}

/**
 * One run of a definition.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "definitionId": "greeting",
 *   "version": 1,
 *   "reference": null,
 *   "status": "Runnable",
 *   "outcome": null,
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "endTime": null,
 *   "lastChangeTime": "2026-05-04T10:20:30.123Z",
 *   "failureTime": null,
 *   "data": { "name": "Ada" },
 *   "lastError": null,
 *   "parent": null
 * }
 */
export interface Workflow extends WorkflowSummary {
  data: DataObject;
  /**
   * The newest step error: while the workflow is open, one that still matters; when it has ended, one that no later attempt
   * of the same step has made good.
   */
  lastError: StepError | null;
  /**
   * The SubWorkflow step that started it; null where a client did.
   */
  parent: WorkflowParent | null;
}

/**
 * A workflow after a control action. Callers without the scope `conductor:viewer` get it without `data` and `lastError`.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "definitionId": "greeting",
 *   "version": 1,
 *   "reference": null,
 *   "status": "Suspended",
 *   "outcome": null,
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "endTime": null,
 *   "lastChangeTime": "2026-05-04T10:20:31.456Z",
 *   "failureTime": null,
 *   "parent": null
 * }
 */
export interface ControlledWorkflow extends WorkflowSummary {
  /**
   * Left out for callers without the scope `conductor:viewer`.
   */
  data?: DataObject;
  /**
   * As in Workflow. Left out for callers without the scope `conductor:viewer`.
   */
  lastError?: StepError | null;
  /**
   * The SubWorkflow step that started it; null where a client did.
   */
  parent: WorkflowParent | null;
}

/**
 * Workflows, newest first, one page of them.
 */
export interface WorkflowPage {
  items: WorkflowSummary[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}

/**
 * Which workflows are wanted.
 */
export interface WorkflowQuery {
  status?: WorkflowStatus;
  /**
   * Ended in this way.
   */
  outcome?: WorkflowOutcome;
  /**
   * The id of a workflow: only those that its SubWorkflow steps started. `none`: only those that no other workflow started.
   * Left out: all.
   */
  parent?: string;
  definitionId?: string;
  /**
   * The version of the definition.
   * @isInt must be a whole number
   * @minimum 1 must be at least 1
   */
  version?: number;
  /**
   * The text that was given at the start.
   */
  reference?: string;
  /**
   * Started at this time or later: ISO 8601, UTC where no zone is given.
   */
  startedFrom?: string;
  /**
   * Started before this time: ISO 8601, UTC where no zone is given.
   */
  startedTo?: string;
  /**
   * Shows a step error of this time or later; the newest failure comes first. Not together with `unchangedSince`.
   */
  failedFrom?: string;
  /**
   * Runnable or Suspended, and not changed since this time; the longest unchanged comes first. Not together with `failedFrom`.
   */
  unchangedSince?: string;
  /**
   * How many on a page.
   * @isInt must be a whole number
   * @minimum 1 must be at least 1
   * @maximum 500 must be at most 500
   * @default 50
   */
  limit?: number;
  /**
   * `nextCursor` of the page before.
   */
  cursor?: string;
}

/**
 * The state of one execution of a step.
 */
export type StepExecutionStatus =
  'Pending' | 'Running' | 'Waiting' | 'Complete' | 'Failed' | 'Cancelled' | 'Compensated';

/**
 * What an open step waits for; the kind says which of the other members are there.
 *
 * @example { "kind": "event", "eventName": "Approved", "eventKey": "order-7" }
 */
export interface StepWait {
  kind: 'time' | 'retry' | 'event' | 'activity' | 'workflow' | 'steps';
  /**
   * Of `time` and `retry`: when it goes on. ISO 8601, UTC.
   */
  until?: string;
  /**
   * Of `event`.
   */
  eventName?: string;
  /**
   * Of `event`.
   */
  eventKey?: string;
  /**
   * Of `activity`.
   */
  activityName?: string;
  /**
   * Of `workflow`: the instance whose end it waits for.
   */
  workflowId?: string;
  /**
   * Of `steps`: how many steps inside are open.
   * @isInt
   */
  open?: number;
}

/**
 * One execution of a step in a workflow.
 *
 * @example {
 *   "executionId": 2,
 *   "stepId": "ask",
 *   "stepType": "WaitFor",
 *   "name": null,
 *   "status": "Waiting",
 *   "attempt": 1,
 *   "startTime": "2026-05-04T10:20:30.125Z",
 *   "endTime": null,
 *   "item": null,
 *   "index": null,
 *   "inputs": { "EventName": "Approved", "EventKey": "order-7" },
 *   "outputs": null,
 *   "error": null,
 *   "waitsFor": { "kind": "event", "eventName": "Approved", "eventKey": "order-7" },
 *   "childWorkflowId": null
 * }
 */
export interface StepExecution {
  /**
   * A number that no other execution in the workflow has.
   * @isInt
   */
  executionId: number;
  stepId: string;
  stepType: string;
  name: string | null;
  status: StepExecutionStatus;
  /**
   * Which try it is, from 1.
   * @isInt
   */
  attempt: number;
  /**
   * ISO 8601, UTC.
   */
  startTime: string;
  /**
   * ISO 8601, UTC; null while it is open.
   */
  endTime: string | null;
  /**
   * The item of the enclosing Foreach.
   */
  item: JsonValue;
  /**
   * The index of that item.
   */
  index: number | null;
  inputs: JsonValue;
  outputs: JsonValue;
  error: StepError | null;
  waitsFor: StepWait | null;
  /**
   * Of a SubWorkflow step: the workflow that it starts. While the step waits it may still be about to be started.
   */
  childWorkflowId: string | null;
}

/**
 * In which order steps are listed: `asc` begins with what ended first, `desc` with what is open.
 */
export type StepOrder = 'asc' | 'desc';

/**
 * What ran in a workflow, in order, then what is open; one page of it.
 */
export interface StepExecutionPage {
  items: StepExecution[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
