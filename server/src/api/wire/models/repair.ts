/** The wire types of run repairs. */
import type { DataObject, JsonValue } from './json-value.js';
import type { ControlledWorkflow } from './workflow.js';

/**
 * A step to start.
 *
 * @example { "stepId": "ship" }
 */
export interface StepStart {
  stepId: string;
  /**
   * The open execution of the container to start it in. The default is its only open container.
   * @isInt must be the number of an execution
   */
  inside?: number;
  /**
   * Inside a Foreach: the item.
   */
  item?: JsonValue;
  /**
   * Inside a Foreach: the index of the item.
   * @isInt must be a whole number from 0
   * @minimum 0 must be a whole number from 0
   */
  index?: number;
}

/**
 * Changes to a run, made in this order: cancel, data, version, start, resume. At least one is required; empty members count
 * as absent.
 *
 * @example { "cancel": ["*"], "start": [{ "stepId": "ship" }] }
 */
export interface Modification {
  /**
   * A JSON Merge Patch (RFC 7396) on the data: null removes a member.
   */
  data?: DataObject;
  /**
   * The open executions to cancel, with everything inside them; `"*"` cancels all of them. Their next steps don't run, and
   * nothing is compensated.
   * @maxItems 1000 must have at most 1000 executions
   */
  cancel?: '*' | (number | '*')[];
  /**
   * The steps to start.
   * @maxItems 1000 must have at most 1000 steps
   */
  start?: StepStart[];
  /**
   * The version of the definition to move the run to.
   * @isInt must be a whole number from 1
   * @minimum 1 must be a whole number from 1
   * @maximum 2147483647 must be at most 2147483647
   */
  version?: number;
  /**
   * With `version`: maps the ids of open steps to their ids in that version.
   */
  stepMap?: { [stepId: string]: string };
  /**
   * Whether to resume a suspended run. The default is false.
   */
  resume?: boolean;
}

/**
 * A modification of one run.
 *
 * @example {
 *   "reason": "carrier API was down",
 *   "data": { "carrier": "B", "error": null },
 *   "cancel": ["*"],
 *   "start": [{ "stepId": "ship" }]
 * }
 */
export interface ModificationRequest extends Modification {
  /**
   * The reason, shown in the history and the audit.
   * @minLength 1 must have 1 to 500 characters
   * @maxLength 500 must have 1 to 500 characters
   */
  reason: string;
  /**
   * Whether to only preview the changes. The default is false.
   */
  dryRun?: boolean;
}

/**
 * Cancels everything, starts at a step, and resumes.
 *
 * @example { "reason": "carrier API was down", "from": "ship" }
 */
export interface RerunRequest {
  /**
   * The reason, shown in the history and the audit.
   * @minLength 1 must have 1 to 500 characters
   * @maxLength 500 must have 1 to 500 characters
   */
  reason: string;
  /**
   * The step to start at, which must not be inside a container. The default is the first step.
   */
  from?: string;
  /**
   * A JSON Merge Patch (RFC 7396) on the data: null removes a member.
   */
  data?: DataObject;
  /**
   * The version of the definition to move the run to.
   * @isInt must be a whole number from 1
   * @minimum 1 must be a whole number from 1
   * @maximum 2147483647 must be at most 2147483647
   */
  version?: number;
  /**
   * Whether to only preview the changes. The default is false.
   */
  dryRun?: boolean;
}

/**
 * An execution that a repair has canceled or started.
 */
export interface RepairedExecution {
  /**
   * @isInt
   */
  executionId: number;
  stepId: string;
}

/**
 * A step with external effects that has already run, and will or may run again.
 */
export interface RepeatedStep {
  stepId: string;
  /**
   * HttpRequest, Activity, SubWorkflow or the name of a custom step.
   */
  stepType: string;
}

/**
 * A consequence of a repair that may be unexpected.
 */
export interface RepairWarning {
  /**
   * `parent_not_told`: a run that waited for the end of this one has already been notified. `invalid_data`: the data doesn't
   * match the definition's `Input`. `compensation_lost`: completed steps have no CompensateWith in the new version.
   * `clean_up_stopped`: a termination with compensation was stopped. `reference_in_use`: another open run has the same reference.
   * `result_shortened`: the result of an earlier request with the same idempotency key, with long lists cut.
   */
  code:
    | 'parent_not_told'
    | 'invalid_data'
    | 'compensation_lost'
    | 'clean_up_stopped'
    | 'reference_in_use'
    | 'result_shortened';
  message: string;
}

/**
 * The result of a repair.
 *
 * @example {
 *   "workflow": {
 *     "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *     "definitionId": "order",
 *     "version": 4,
 *     "reference": "order-7",
 *     "tags": {},
 *     "status": "Runnable",
 *     "outcome": null,
 *     "startTime": "2026-05-04T10:20:30.123Z",
 *     "endTime": null,
 *     "lastChangeTime": "2026-05-04T11:20:31.456Z",
 *     "failureTime": null,
 *     "failingSince": null,
 *     "parent": null,
 *     "priority": 3,
 *     "fairnessKey": null,
 *     "fairnessWeight": null,
 *     "queued": false,
 *     "restartOf": null,
 *     "restartedAs": null,
 *     "trigger": null,
 *     "debounce": null
 *   },
 *   "cancelled": [{ "executionId": 4, "stepId": "send" }],
 *   "started": [{ "executionId": 5, "stepId": "ship" }],
 *   "repeats": [{ "stepId": "ship", "stepType": "HttpRequest" }],
 *   "warnings": []
 * }
 */
export interface RepairedWorkflow {
  /**
   * The run after the repair. Without the scope `conductor:viewer`, it has no `data`, `index` and `lastError`.
   */
  workflow: ControlledWorkflow;
  // The spelling is the wire's.
  cancelled: RepairedExecution[];
  /**
   * With `dryRun`, the ids are provisional.
   */
  started: RepairedExecution[];
  repeats: RepeatedStep[];
  warnings: RepairWarning[];
}
