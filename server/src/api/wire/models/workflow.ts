/** The wire types of runs and their steps. */
import type { DataObject, JsonValue } from './json-value.js';

/**
 * The status of a run.
 */
export type WorkflowStatus = 'Runnable' | 'Suspended' | 'Complete' | 'Terminated';

/**
 * What happens if an open run of the same definition has the same reference.
 */
export type OnConflict = 'allow' | 'fail' | 'existing' | 'terminate';

/**
 * How a run ended. `Succeeded`: every path reached its end. `Compensated`: something failed and was compensated; the run
 * may have continued to its end afterwards. `Failed`: an error ended the run. `Terminated`: a person, a client or the
 * parent run ended it.
 */
export type WorkflowOutcome = 'Succeeded' | 'Compensated' | 'Failed' | 'Terminated';

/**
 * The error of a step.
 */
export interface StepError {
  stepId: string;
  message: string;
  /**
   * The class of the Python exception, or a type of the server such as `Timeout` or `ActivityFailed`.
   */
  type: string;
  /**
   * The Python traceback; null if the error does not come from Python.
   */
  traceback: string | null;
  /**
   * The data that a worker reported with the failure.
   */
  data: JsonValue;
  /**
   * The number of the failed attempt, starting at 1.
   * @isInt
   */
  attempt: number;
  /**
   * ISO 8601, UTC.
   */
  time: string;
}

/**
 * A reference to another run.
 */
export interface WorkflowReference {
  workflowId: string;
}

/**
 * A value by which a run is found: text, a number, `true` or `false`.
 */
export type IndexValue = string | number | boolean;

/**
 * The values of the index fields of a run by name. A list stands for each of its elements.
 */
export interface IndexFields {
  [name: string]: IndexValue | IndexValue[];
}

/**
 * Tags by name.
 */
export interface Tags {
  [name: string]: string;
}

/**
 * What a run and its lists show of its state.
 */
export interface ChangedWorkflow {
  workflowId: string;
  definitionId: string;
  /**
   * The version of the definition that the run uses.
   * @isInt
   */
  version: number;
  /**
   * The name that the caller gave the run when starting it.
   */
  reference: string | null;
  status: WorkflowStatus;
  /**
   * How the run ended; null while it is open.
   */
  outcome: WorkflowOutcome | null;
  /**
   * The run whose SubWorkflow step started this one; null if a client started it.
   */
  parent: WorkflowReference | null;
  /**
   * ISO 8601, UTC.
   */
  startTime: string;
  /**
   * ISO 8601, UTC; null while the run is open.
   */
  endTime: string | null;
  /**
   * The time of the last change: progress or a control action. ISO 8601, UTC.
   */
  lastChangeTime: string;
  /**
   * The time of `lastError`. ISO 8601, UTC.
   */
  failureTime: string | null;
}

/**
 * A run in a list, without its data.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "definitionId": "greeting",
 *   "version": 1,
 *   "reference": null,
 *   "tags": { "team": "billing" },
 *   "index": { "customer": "C-17" },
 *   "status": "Complete",
 *   "outcome": "Succeeded",
 *   "parent": null,
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "endTime": "2026-05-04T10:20:30.130Z",
 *   "lastChangeTime": "2026-05-04T10:20:30.130Z",
 *   "failureTime": null
 * }
 */
export interface WorkflowSummary extends ChangedWorkflow {
  tags: Tags;
  /**
   * The values of the `Index` fields of the definition, as of the last change of the data.
   */
  index: IndexFields;
}

/**
 * The SubWorkflow step that started a run.
 */
export interface WorkflowParent extends WorkflowReference {
  /**
   * The execution of that step in the parent run.
   * @isInt
   */
  executionId: number;
  /**
   * Null if an earlier version of the server started the run.
   */
  stepId: string | null;
}

/**
 * A run of a definition.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "definitionId": "greeting",
 *   "version": 1,
 *   "reference": null,
 *   "tags": { "team": "billing" },
 *   "index": { "customer": "C-17" },
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
   * The most recent step error. While the run is open, this is an error that still matters; when it has ended, an error after
   * which no later attempt of the same step succeeded.
   */
  lastError: StepError | null;
  /**
   * The SubWorkflow step that started the run; null if a client started it.
   */
  parent: WorkflowParent | null;
}

/**
 * A run after a start or a control action. Callers without the scope `conductor:viewer` get it without `data`, `index` and `lastError`.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "definitionId": "greeting",
 *   "version": 1,
 *   "reference": null,
 *   "tags": { "team": "billing" },
 *   "status": "Suspended",
 *   "outcome": null,
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "endTime": null,
 *   "lastChangeTime": "2026-05-04T10:20:31.456Z",
 *   "failureTime": null,
 *   "parent": null
 * }
 */
export interface ControlledWorkflow extends ChangedWorkflow {
  tags: Tags;
  /**
   * As in Workflow. Omitted for callers without the scope `conductor:viewer`: its values are part of the data.
   */
  index?: IndexFields;
  /**
   * Omitted for callers without the scope `conductor:viewer`.
   */
  data?: DataObject;
  /**
   * As in Workflow. Omitted for callers without the scope `conductor:viewer`.
   */
  lastError?: StepError | null;
  /**
   * The SubWorkflow step that started the run; null if a client started it.
   */
  parent: WorkflowParent | null;
}

/**
 * A page of runs, the newest first.
 */
export interface WorkflowPage {
  items: WorkflowSummary[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}

/**
 * The status of an execution of a step.
 */
export type StepExecutionStatus =
  'Pending' | 'Running' | 'Waiting' | 'Complete' | 'Failed' | 'Cancelled' | 'Compensated';

/**
 * What an open step is waiting for. `kind` determines which other members are present.
 *
 * @example { "kind": "event", "eventName": "Approved", "eventKey": "order-7" }
 */
export interface StepWait {
  kind: 'time' | 'retry' | 'event' | 'activity' | 'workflow' | 'steps';
  /**
   * Of `time` and `retry`: when the step continues. ISO 8601, UTC.
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
   * Of `workflow`: the child run that must end.
   */
  workflowId?: string;
  /**
   * Of `steps`: the number of open steps inside.
   * @isInt
   */
  open?: number;
}

/**
 * An execution of a step in a run.
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
   * A number that identifies the execution in its run.
   * @isInt
   */
  executionId: number;
  stepId: string;
  stepType: string;
  name: string | null;
  status: StepExecutionStatus;
  /**
   * The number of the attempt, starting at 1.
   * @isInt
   */
  attempt: number;
  /**
   * ISO 8601, UTC.
   */
  startTime: string;
  /**
   * ISO 8601, UTC; null while the execution is open.
   */
  endTime: string | null;
  /**
   * The item of the enclosing Foreach.
   */
  item: JsonValue;
  /**
   * The index of `item`.
   */
  index: number | null;
  inputs: JsonValue;
  outputs: JsonValue;
  error: StepError | null;
  waitsFor: StepWait | null;
  /**
   * Of a SubWorkflow step: the id of its child run. While the step is waiting, the child may not have started yet.
   */
  childWorkflowId: string | null;
}

/**
 * The order of the list: `asc` starts with the execution that ended first, `desc` with the open executions.
 */
export type StepOrder = 'asc' | 'desc';

/**
 * A page of the executions of a run.
 */
export interface StepExecutionPage {
  items: StepExecution[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
