/** The wire types of bulk jobs. */
import type { Problem } from './problem.js';
import type { Modification } from './repair.js';
import type { Priority, WorkflowSummary } from './workflow.js';
import type { WorkflowFilter } from './workflow-filter.js';
import type { Time } from './time.js';

/**
 * One action on many runs: on all runs that match a filter, or on the listed runs.
 *
 * @example {
 *   "action": "resume",
 *   "filter": { "status": "Suspended", "definitionId": "order", "where": ["customer=C-17"] },
 *   "reason": "the carrier is back"
 * }
 */
export interface BulkRequest {
  /**
   * What to do with each run. `retry` immediately retries the steps that are waiting for their next attempt; `restart` starts
   * a new run with the same input, reference, tags, priority and fairness; `priority` changes the priority; `purge` removes runs that
   * have ended.
   */
  action: BulkAction;
  /**
   * The filters of the run list. `{}` selects all runs. Give either this or `workflowIds`. The members `where` and `failure` also
   * require the scope `conductor:viewer`.
   */
  filter?: WorkflowFilter;
  /**
   * The ids of the runs.
   * @minItems 1 must name at least one run
   * @maxItems 10000 must name at most 10000 runs
   */
  workflowIds?: string[];
  /**
   * The reason, shown in the audit of each run.
   * @minLength 1 must not be empty
   * @maxLength 500 must have at most 500 characters
   */
  reason: string;
  /**
   * With the action `modify`: the changes, in the same form as the body of a modification, without `reason`.
   */
  modification?: Modification;
  /**
   * With the action `terminate`: compensate the completed steps of each run first, as `?compensate=true` does for a single one.
   * @default false
   */
  compensate?: boolean;
  /**
   * With the action `priority`: the new priority.
   */
  priority?: Priority;
  /**
   * The number of runs to act on per second.
   * @minimum 0.1 must be at least 0.1
   * @maximum 1000 must be at most 1000
   * @default 50
   */
  perSecond?: number;
  /**
   * Whether to only show the number of affected runs and the first of them.
   * @default false
   */
  dryRun?: boolean;
}

/**
 * What to do with each run.
 */
export type BulkAction =
  'suspend' | 'resume' | 'retry' | 'terminate' | 'modify' | 'restart' | 'priority' | 'purge';

/**
 * The bulk job that was created.
 *
 * @example { "id": "01hx5v3x9t6k2m4n8p0q", "matched": 500, "exact": true }
 */
export interface CreatedBulkJob {
  id: string;
  /**
   * The number of runs that the job acts on.
   * @isInt
   */
  matched: number;
  /**
   * False while the server is still collecting the runs: `matched` is the number so far.
   */
  exact: boolean;
}

/**
 * The runs that a bulk job would act on.
 *
 * @example { "matched": 0, "exact": true, "workflows": [], "obstacles": [] }
 */
export interface BulkPreview {
  /**
   * @isInt
   */
  matched: number;
  /**
   * False if the server stopped counting: there are at least `matched` runs.
   */
  exact: boolean;
  /**
   * The first 20. `tags`, `index` and the failure are only shown to callers with the scope `conductor:viewer`.
   */
  workflows: WorkflowSummary[];
  /**
   * With the action `modify`: which of the first 20 can't be modified in this way, and why. Only shown to callers with the scope
   * `conductor:viewer`.
   */
  obstacles: BulkFailure[];
}

/**
 * `Running`: a node is working on it. `Done`: it has acted on all runs. `Stopped`: a user has stopped it.
 */
export type BulkState = 'Running' | 'Done' | 'Stopped';

/**
 * The current state of the API key that a bulk job was created with.
 */
export interface BulkJobKey {
  id: string;
  /**
   * The job continues even if the key is `Removed` or `Expired`.
   */
  state: 'Active' | 'Expired' | 'Removed';
}

/**
 * A bulk job in a list.
 */
export interface BulkJobSummary {
  id: string;
  action: BulkAction;
  /**
   * Who created it: the subject (`sub`) of the token or the name of the API key; `anonymous` if there was none.
   */
  actor: string;
  /**
   * The API key of that caller; null if the caller used a JWT, or if there is no access control.
   */
  apiKey: BulkJobKey | null;
  reason: string;
  /**
   * The number of runs it acts on per second.
   */
  perSecond: number;
  state: BulkState;
  /**
   * The number of runs that the job acts on.
   * @isInt
   */
  matched: number;
  /**
   * False while the server is still collecting the runs: `matched` is the number so far.
   */
  exact: boolean;
  /**
   * The number of runs it has acted on.
   * @isInt
   */
  done: number;
  /**
   * The number of runs whose status did not allow the action.
   * @isInt
   */
  skipped: number;
  /**
   * The number of runs for which the action failed.
   * @isInt
   */
  failed: number;
  /**
   * ISO 8601, UTC.
   */
  startTime: Time;
  /**
   * ISO 8601, UTC; null while it is running.
   */
  endTime: Time | null;
}

/**
 * A bulk job. When it is `Done`, the sum of `done`, `skipped` and `failed` is `matched`.
 *
 * @example {
 *   "id": "01hx5v3x9t6k2m4n8p0q",
 *   "action": "resume",
 *   "actor": "ada",
 *   "apiKey": null,
 *   "reason": "the carrier is back",
 *   "perSecond": 50,
 *   "state": "Running",
 *   "matched": 500,
 *   "exact": true,
 *   "done": 120,
 *   "skipped": 3,
 *   "failed": 0,
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "endTime": null,
 *   "failures": []
 * }
 */
export interface BulkJob extends BulkJobSummary {
  /**
   * The first 100 failures. Only shown to callers with the scope `conductor:viewer`.
   */
  failures: BulkFailure[];
}

/**
 * A run for which the action failed.
 */
export interface BulkFailure {
  workflowId: string;
  /**
   * The reason: the error that the same action on this run alone would have returned.
   */
  problem: Problem;
}

/**
 * A page of bulk jobs, the newest first.
 */
export interface BulkJobPage {
  items: BulkJobSummary[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
