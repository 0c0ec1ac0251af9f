/** The wire types of run filters and tags. */
import type { WorkflowOutcome, WorkflowStatus } from './workflow.js';
import type { Time } from './time.js';

/**
 * The number of runs that match a filter.
 *
 * @example { "count": 42, "exact": true }
 */
export interface WorkflowCount {
  /**
   * @isInt
   */
  count: number;
  /**
   * False if the server stopped counting: there are at least `count` runs.
   */
  exact: boolean;
}

/**
 * New values of tags by name. `null` removes a tag.
 *
 * @example { "team": "billing", "priority": null }
 */
export interface TagChanges {
  [name: string]: string | null;
}

/**
 * The filters of the run list.
 */
export interface WorkflowFilter {
  status?: WorkflowStatus;
  /**
   * Only runs with this outcome.
   */
  outcome?: WorkflowOutcome;
  /**
   * The id of a run, to list only its children; or `none`, to list only runs without a parent.
   */
  parent?: string;
  /**
   * `true`: only runs whose first step waits for other runs to end.
   */
  queued?: boolean;
  definitionId?: string;
  /**
   * The version of the definition.
   * @isInt must be a whole number
   * @minimum 1 must be at least 1
   * @maximum 2147483647 must be at most 2147483647
   */
  version?: number;
  /**
   * The reference that the run was started with.
   */
  reference?: string;
  /**
   * Only runs that started at or after this time. ISO 8601; UTC by default.
   */
  startedFrom?: Time;
  /**
   * Only runs that started before this time. ISO 8601; UTC by default.
   */
  startedTo?: Time;
  /**
   * Only runs that ended at or after this time. ISO 8601; UTC by default.
   */
  endedFrom?: Time;
  /**
   * Only runs that ended before this time. ISO 8601; UTC by default.
   */
  endedTo?: Time;
  /**
   * Only runs that match this condition on a tag or index field, such as `customer=C-17` or `tag.team!=billing`:
   * `<name><operator><value>` with one of the operators `=`, `!=`, `<`, `<=`, `>`, `>=` and `^=` (starts with). To combine
   * conditions, repeat the parameter; all of them must match.
   */
  where?: string[];
  /**
   * Only runs with a step error at or after this time, the newest failure first. Can't be combined with `unchangedSince`.
   */
  failedFrom?: Time;
  /**
   * Only failed runs of this group: the `key` of a group of failures.
   */
  failure?: string;
  /**
   * Only Runnable and Suspended runs that haven't changed since this time, the longest unchanged first. Can't be combined with
   * `failedFrom`.
   */
  unchangedSince?: Time;
}

/**
 * The filters and paging of the run list.
 */
export interface WorkflowQuery extends WorkflowFilter {
  /**
   * The maximum number of items on a page.
   * @isInt must be a whole number
   * @minimum 1 must be at least 1
   * @maximum 500 must be at most 500
   * @default 50
   */
  limit?: number;
  /**
   * `nextCursor` of the previous page.
   */
  cursor?: string;
}
