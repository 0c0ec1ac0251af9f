/** The wire types of step executions. */
import type { JsonValue } from './json-value.js';
import type { StepError } from './workflow.js';
import type { Time } from './time.js';

/**
 * The status of a step execution.
 */
export type StepExecutionStatus =
  // The spelling of `Cancelled` is the wire's.
  'Pending' | 'Running' | 'Waiting' | 'Complete' | 'Failed' | 'Cancelled' | 'Compensated';

/**
 * The reason that an open step is waiting. `kind` determines which other members are present. `queue`: the first step waits for
 * other runs, whose ids only the explanation of the run has, in `holders`.
 *
 * @example { "kind": "event", "eventName": "Approved", "eventKey": "order-7" }
 */
export interface StepWait {
  kind: 'time' | 'retry' | 'queue' | 'limit' | 'event' | 'activity' | 'workflow' | 'steps';
  /**
   * For `time` and `retry`: when the step continues. ISO 8601, UTC.
   */
  until?: Time;
  /**
   * For `limit`: the name of the limit of which the step needs a slot.
   */
  limit?: string;
  /**
   * For `limit`: the key for which it needs the slot; empty without one.
   */
  key?: string;
  /**
   * For `limit`: how many steps wait before it. Omitted for further ones if many steps of the page wait.
   * @isInt
   */
  ahead?: number;
  /**
   * For `limit`: since when the step has waited. ISO 8601, UTC.
   */
  since?: Time;
  /**
   * For `event`.
   */
  eventName?: string;
  /**
   * For `event`.
   */
  eventKey?: string;
  /**
   * For `activity`.
   */
  activityName?: string;
  /**
   * For `workflow`: the child run that must end first.
   */
  workflowId?: string;
  /**
   * For `steps`: the number of open steps inside.
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
 *   "reason": null,
 *   "childWorkflowId": null,
 *   "compensates": null
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
  startTime: Time;
  /**
   * ISO 8601, UTC; null while the execution is open.
   */
  endTime: Time | null;
  /**
   * The item of the enclosing Foreach.
   */
  item: JsonValue;
  /**
   * The index of `item`.
   * @isInt
   */
  index: number | null;
  inputs: JsonValue;
  outputs: JsonValue;
  error: StepError | null;
  waitsFor: StepWait | null;
  /**
   * The reason of the repair that canceled or started the step; null if there was none.
   */
  reason: string | null;
  /**
   * For a SubWorkflow step: the id of its child run. While the step is waiting, the child may not have started yet.
   */
  childWorkflowId: string | null;
  /**
   * For a compensation step: the `executionId` of the step that it undoes.
   * @isInt
   */
  compensates: number | null;
}

/**
 * The order of the list: `asc` starts with the execution that ended first, `desc` with the open executions.
 */
export type StepOrder = 'asc' | 'desc';

/**
 * A status to filter executions by. `Retrying` means waiting for the next attempt; such executions are also `Waiting`.
 */
export type StepExecutionStatusFilter = StepExecutionStatus | 'Retrying';

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
