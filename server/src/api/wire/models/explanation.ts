/** Why a workflow stands where it stands, on the wire. */
import type { JsonValue } from './json-value.js';
import type { StepError, WorkflowOutcome, WorkflowStatus } from './workflow.js';

/**
 * What a step waits for, or what holds the workflow up. `suspended`: by an operator, or by a step that failed (`error` is
 * set). `set-aside`: the server gave it up, because nodes stopped while they ran it or it cannot be read. `compensating`: it
 * is being terminated with compensation. `running`: an HTTP call or a script is under way. `scheduled`: it is due, and its turn has not come.
 */
export type WaitReasonKind =
  | 'suspended'
  | 'set-aside'
  | 'compensating'
  | 'timer'
  | 'retry'
  | 'event'
  | 'activity'
  | 'workflow'
  | 'running'
  | 'scheduled'
  | 'ended';

/**
 * What an operator can do about it.
 */
export type OperatorAction =
  | 'suspend'
  | 'resume'
  | 'terminate'
  | 'retry'
  | 'publish-event'
  | 'complete-activity'
  | 'fail-activity';

/**
 * The worker that holds an activity.
 */
export interface HoldingWorker {
  /**
   * Empty for a worker that gave no name.
   */
  workerId: string;
  /**
   * ISO 8601, UTC; null: it holds the activity without a lease.
   */
  leaseUntil: string | null;
}

/**
 * Who might take an activity that nobody holds, as of the last heartbeats.
 */
export interface ActivityPolling {
  /**
   * Workers that wait for it now, on all nodes.
   * @isInt
   */
  pollers: number;
  /**
   * ISO 8601, UTC; null: never, since the nodes started.
   */
  lastPollTime: string | null;
}

/**
 * One reason why a workflow stands where it stands.
 */
export interface WaitReason {
  kind: WaitReasonKind;
  /**
   * In words, for people.
   */
  text: string;
  /**
   * ISO 8601, UTC.
   */
  since: string | null;
  /**
   * When the time of the wait, the pause or the lease is over; ISO 8601, UTC.
   */
  until: string | null;
  /**
   * Null for what concerns the workflow as a whole.
   */
  executionId: number | null;
  stepId: string | null;
  stepType: string | null;
  stepName: string | null;
  attempt: number | null;
  /**
   * The item and index of the enclosing Foreach.
   */
  item: JsonValue;
  index: number | null;
  eventName?: string;
  eventKey?: string;
  activityName?: string;
  /**
   * Of the child that is waited for.
   */
  workflowId?: string;
  nodeId?: string;
  worker?: HoldingWorker;
  queue?: ActivityPolling;
  error: StepError | null;
  actions: OperatorAction[];
}

/**
 * Why a workflow stands where it stands.
 *
 * @example {
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "status": "Runnable",
 *   "outcome": null,
 *   "time": "2026-05-04T10:32:30.123Z",
 *   "summary": "approve: waits for event approved/42 since 12 min; no matching event has been published since the effective date",
 *   "reasons": [
 *     {
 *       "kind": "event",
 *       "text": "waits for event approved/42 since 12 min; no matching event has been published since the effective date",
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
 *   "moreReasons": 0
 * }
 */
export interface Explanation {
  workflowId: string;
  status: WorkflowStatus;
  /**
   * How it ended; null while it has not.
   */
  outcome: WorkflowOutcome | null;
  /**
   * When it was asked; ISO 8601, UTC.
   */
  time: string;
  /**
   * The most important reason in one sentence.
   */
  summary: string;
  /**
   * The most important first, at most about fifty. Containers are not among them, only what runs or waits inside.
   */
  reasons: WaitReason[];
  /**
   * How many open steps are not explained.
   * @isInt
   */
  moreReasons: number;
}
