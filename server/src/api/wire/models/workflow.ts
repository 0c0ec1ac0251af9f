/** The wire types of runs and their steps. */
import type { Debounce } from './debounce.js';
import type { FairnessWeight } from './fairness.js';
import type { DataObject, JsonValue } from './json-value.js';
import type { Time } from './time.js';

/**
 * The status of a run.
 */
export type WorkflowStatus = 'Runnable' | 'Suspended' | 'Complete' | 'Terminated';

/**
 * What happens if an open run of the same definition has the same reference.
 */
export type OnConflict = 'allow' | 'fail' | 'existing' | 'terminate' | 'queue';

export type ConflictScope = 'open' | 'kept';

/**
 * The order in which work waits: 1 goes first, 5 last.
 * @isInt must be a whole number
 * @minimum 1 must be at least 1
 * @maximum 5 must be at most 5
 */
export type Priority = number;

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
  time: Time;
  /**
   * When the step execution began to fail for the same cause in every attempt: the same error type, and the same message apart
   * from numbers, ids and times. Equal to `time` for the first such attempt. ISO 8601, UTC.
   */
  since: Time;
}

/**
 * A reference to another run.
 */
export interface WorkflowReference {
  workflowId: string;
}

/**
 * A searchable value of a run: a string, a number, `true` or `false`.
 */
export type IndexValue = string | number | boolean;

/**
 * The values of a run's index fields, by name. A list stands for each of its elements.
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
 * The state of a run, as shown in the run and in lists.
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
   * The reference that the run was started with.
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
  startTime: Time;
  /**
   * ISO 8601, UTC; null while the run is open.
   */
  endTime: Time | null;
  /**
   * The time of the last change: progress or a control action. ISO 8601, UTC.
   */
  lastChangeTime: Time;
  /**
   * The time of `lastError`. ISO 8601, UTC.
   */
  failureTime: Time | null;
  /**
   * When the step of `lastError` began to fail for the same cause: the same error type, and the same message apart from numbers,
   * ids and times. Equal to `failureTime` if it failed only once. ISO 8601, UTC.
   */
  failingSince: Time | null;
}

/**
 * Why a run failed, and the failure group that it belongs to.
 *
 * @example {
 *   "key": "5c1d7a90b2e4f1a86c0d93e7b4a2f518",
 *   "stepId": "pay",
 *   "type": "HttpError",
 *   "message": "POST https://pay.example.com/orders/4711 answered 503"
 * }
 */
export interface WorkflowFailure {
  /**
   * Runs with the same key failed in the same way: see `GET /api/workflow/failures`.
   */
  key: string;
  /**
   * The failed step. Empty if the server couldn't execute the run.
   */
  stepId: string;
  type: string;
  /**
   * The error message, on one line of up to 300 characters.
   */
  message: string;
}

/**
 * The trigger that started a run.
 */
export interface StartedBy {
  name: string;
  /**
   * The planned time, or the time of the event. ISO 8601, UTC.
   */
  time: Time;
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
 *   "priority": 3,
 *   "fairnessKey": "acme",
 *   "fairnessWeight": 1,
 *   "queued": false,
 *   "index": { "customer": "C-17" },
 *   "status": "Complete",
 *   "outcome": "Succeeded",
 *   "parent": null,
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "endTime": "2026-05-04T10:20:30.130Z",
 *   "lastChangeTime": "2026-05-04T10:20:30.130Z",
 *   "failureTime": null,
 *   "failingSince": null,
 *   "failure": null,
 *   "restartOf": null,
 *   "restartedAs": null,
 *   "trigger": { "name": "nightly", "time": "2026-05-04T10:20:30.000Z" }
 * }
 */
export interface WorkflowSummary extends ChangedWorkflow {
  tags: Tags;
  priority: Priority;
  /**
   * Whose work it is: among work of equal priority, keys take turns. Null if it has none.
   */
  fairnessKey: string | null;
  /**
   * The share of its fairness key; null if it has none.
   */
  fairnessWeight: FairnessWeight | null;
  /**
   * Whether its first step waits for other runs to end.
   */
  queued: boolean;
  /**
   * The run that this run is a restart of; null if it isn't one.
   */
  restartOf: string | null;
  /**
   * The latest restart of this run; null if there is none.
   */
  restartedAs: string | null;
  /**
   * The trigger that started the run; null if there was none.
   */
  trigger: StartedBy | null;
  /**
   * The values of the definition's `Index` fields, as of the last data change.
   */
  index: IndexFields;
  /**
   * Null unless the run is failed: it shows an error and is either open or has the outcome `Failed`.
   */
  failure: WorkflowFailure | null;
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
 *   "priority": 3,
 *   "fairnessKey": "acme",
 *   "fairnessWeight": 1,
 *   "queued": false,
 *   "index": { "customer": "C-17" },
 *   "status": "Runnable",
 *   "outcome": null,
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "endTime": null,
 *   "lastChangeTime": "2026-05-04T10:20:30.123Z",
 *   "failureTime": null,
 *   "failingSince": null,
 *   "failure": null,
 *   "restartOf": null,
 *   "restartedAs": null,
 *   "trigger": null,
 *   "debounce": null,
 *   "data": { "name": "Ada" },
 *   "lastError": null,
 *   "parent": null
 * }
 */
export interface Workflow extends WorkflowSummary {
  /**
   * Null unless the run was started with `debounce`.
   */
  debounce: Debounce | null;
  data: DataObject;
  /**
   * The most recent step error. For an open run, an error that is still relevant; for an ended run, an error without a later
   * successful attempt of the same step.
   */
  lastError: StepError | null;
  /**
   * The SubWorkflow step that started the run; null if a client started it.
   */
  parent: WorkflowParent | null;
  /**
   * The trace id: 32 hexadecimal digits. Absent if the server wasn't recording traces when the run was started.
   */
  traceId?: string;
}

/**
 * A run after a start or a control action. `data`, `index` and `lastError` are only shown to callers with the scope
 * `conductor:viewer`.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "definitionId": "greeting",
 *   "version": 1,
 *   "reference": null,
 *   "tags": { "team": "billing" },
 *   "priority": 3,
 *   "fairnessKey": "acme",
 *   "fairnessWeight": 1,
 *   "queued": false,
 *   "status": "Suspended",
 *   "outcome": null,
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "endTime": null,
 *   "lastChangeTime": "2026-05-04T10:20:31.456Z",
 *   "failureTime": null,
 *   "failingSince": null,
 *   "restartOf": null,
 *   "restartedAs": null,
 *   "trigger": null,
 *   "debounce": null,
 *   "parent": null
 * }
 */
export interface ControlledWorkflow extends ChangedWorkflow {
  tags: Tags;
  /**
   * Null unless the run was started with `debounce`.
   */
  debounce: Debounce | null;
  priority: Priority;
  /**
   * Whose work it is: among work of equal priority, keys take turns. Null if it has none.
   */
  fairnessKey: string | null;
  /**
   * The share of its fairness key; null if it has none.
   */
  fairnessWeight: FairnessWeight | null;
  /**
   * Whether its first step waits for other runs to end.
   */
  queued: boolean;
  /**
   * The run that this run is a restart of; null if it isn't one.
   */
  restartOf: string | null;
  /**
   * The latest restart of this run; null if there is none.
   */
  restartedAs: string | null;
  /**
   * The trigger that started the run; null if there was none.
   */
  trigger: StartedBy | null;
  /**
   * As in Workflow. Omitted for callers without the scope `conductor:viewer`, because its values are part of the data.
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
   * As in Workflow. Omitted for callers without the scope `conductor:viewer`.
   */
  failure?: WorkflowFailure | null;
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
