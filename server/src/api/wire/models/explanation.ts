/** The wire types of explanations. */
import type { OperatorAction, WorkflowAction } from './control.js';
import type { DataObject, JsonValue } from './json-value.js';
import type { StepError, WorkflowOutcome, WorkflowStatus } from './workflow.js';
import type { Time } from './time.js';

/**
 * What a step is waiting for, or why the run does not advance. `suspended`: by an operator, or by a failed step (`error`
 * is set). `set-aside`: the server has quarantined the run, because nodes crashed while running it or because it can't be read.
 * `compensating`: the run is being terminated with compensation. `debounce`: the run collects starts until its first step
 * runs. `queue`: the first step waits for other runs. `limit`: the step
 * waits for a slot of a limit. `running`: an HTTP
 * call or a script is in progress. `scheduled`: the step is due but hasn't run yet.
 */
export type WaitReasonKind =
  | 'suspended'
  | 'set-aside'
  | 'compensating'
  | 'timer'
  | 'debounce'
  | 'queue'
  | 'limit'
  | 'retry'
  | 'event'
  | 'activity'
  | 'workflow'
  | 'running'
  | 'scheduled'
  | 'ended';

/**
 * The worker that holds a work item.
 */
export interface HoldingWorker {
  /**
   * Empty if the worker has no name.
   */
  workerId: string;
  /**
   * ISO 8601, UTC; null if the worker holds the item without a lease.
   */
  leaseUntil: Time | null;
}

/**
 * Whether workers are polling for a work item that no worker holds, as of the last heartbeats.
 */
export interface ActivityPolling {
  /**
   * The number of waiting polls on all nodes.
   * @isInt
   */
  pollers: number;
  /**
   * ISO 8601, UTC; null if no worker has polled since the nodes started.
   */
  lastPollTime: Time | null;
}

/**
 * One reason for the current state of a run.
 */
export interface WaitReason {
  kind: WaitReasonKind;
  /**
   * The reason as human-readable text.
   */
  text: string;
  /**
   * ISO 8601, UTC.
   */
  since: Time | null;
  /**
   * When the wait, the retry interval or the lease ends. ISO 8601, UTC.
   */
  until: Time | null;
  /**
   * Null if the reason concerns the run as a whole.
   * @isInt
   */
  executionId: number | null;
  stepId: string | null;
  stepType: string | null;
  stepName: string | null;
  /**
   * @isInt
   */
  attempt: number | null;
  /**
   * The item of the enclosing Foreach.
   */
  item: JsonValue;
  /**
   * The index of `item`.
   * @isInt
   */
  index: number | null;
  eventName?: string;
  eventKey?: string;
  activityName?: string;
  /**
   * For `limit`: the name of the limit.
   */
  limit?: string;
  /**
   * The key whose slots the step waits for; absent if the step names none.
   */
  limitKey?: string;
  /**
   * The id of the child run that the step is waiting for.
   */
  workflowId?: string;
  nodeId?: string;
  worker?: HoldingWorker;
  queue?: ActivityPolling;
  /**
   * For `queue`: the ids of the runs that it waits for, the first ten of them, in their order. Empty if all have ended. For
   * `limit`: of runs that hold slots.
   */
  holders?: string[];
  error: StepError | null;
  actions: OperatorAction[];
}

/**
 * A call that could repair the run.
 *
 * @example {
 *   "action": "modify",
 *   "text": "skips step charge and continues with step ship",
 *   "call": "POST /api/workflow/01hx5v3x9t6k2m4n8p0q/modify",
 *   "body": { "cancel": [3], "start": [{ "stepId": "ship" }], "resume": true }
 * }
 */
export interface RepairHint {
  action: 'modify' | 'rerun' | 'restart';
  /**
   * What the call does, as human-readable text.
   */
  text: string;
  /**
   * Its method and path.
   */
  call: string;
  /**
   * Its body, to which you add a `reason`, and `dryRun` for a preview (not with `restart`).
   */
  body: DataObject;
}

/**
 * Why a run is running, waiting, suspended or ended.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "status": "Runnable",
 *   "outcome": null,
 *   "time": "2026-05-04T10:32:30.123Z",
 *   "summary": "approve: has been waiting for event approved/42 for 12 min; no matching event has been published since the effective date",
 *   "reasons": [
 *     {
 *       "kind": "event",
 *       "text": "has been waiting for event approved/42 for 12 min; no matching event has been published since the effective date",
 *       "since": "2026-05-04T10:20:30.123Z",
 *       "until": null,
 *       "executionId": 2,
 *       "stepId": "approve",
 *       "stepType": "WaitFor",
 *       "stepName": null,
 *       "attempt": 1,
 *       "item": null,
 *       "index": null,
 *       "eventName": "approved",
 *       "eventKey": "42",
 *       "error": null,
 *       "actions": ["publish-event", "terminate"]
 *     }
 *   ],
 *   "moreReasons": 0,
 *   "lastRepair": null,
 *   "repairs": []
 * }
 */
export interface Explanation {
  workflowId: string;
  status: WorkflowStatus;
  /**
   * How the run ended; null while it is open.
   */
  outcome: WorkflowOutcome | null;
  /**
   * The time of the explanation. ISO 8601, UTC.
   */
  time: Time;
  /**
   * The most important reason in one sentence.
   */
  summary: string;
  /**
   * The reasons, the most important first, at most about fifty. They do not include containers, only the running and
   * waiting steps inside.
   */
  reasons: WaitReason[];
  /**
   * The number of open steps without a reason here.
   * @isInt
   */
  moreReasons: number;
  /**
   * The latest modification, rerun or restart of the run; null if its audit has none.
   */
  lastRepair: WorkflowAction | null;
  /**
   * Possible repairs of a run that was suspended or ended by a failure, or that was terminated. The call that keeps the most work
   * comes first. Empty for other runs.
   */
  repairs: RepairHint[];
}
