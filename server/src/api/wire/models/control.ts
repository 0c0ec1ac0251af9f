/** What is done to workflows, on the wire. */
import type { WorkflowStatus } from './workflow.js';

/**
 * One action for many workflows.
 *
 * @example { "action": "resume", "workflowIds": ["01hx5v3x9t6k2m4n8p0q"] }
 */
export interface ControlRequest {
  /**
   * `retry` tries steps again at once that wait for their next try.
   */
  action: 'suspend' | 'resume' | 'terminate' | 'retry';
  /**
   * With `terminate`: whether each workflow compensates what it has done before it ends; by default it does not.
   */
  compensate?: boolean;
  /**
   * @minItems 1 must name at least one workflow
   * @maxItems 100 must name at most 100 workflows
   */
  workflowIds: string[];
}

/**
 * What became of one workflow.
 *
 * @example { "workflowId": "01hx5v3x9t6k2m4n8p0q", "outcome": "done", "status": "Runnable" }
 */
export interface ControlResult {
  workflowId: string;
  /**
   * `refused`: its status does not allow it; `missing`: there is no such workflow.
   */
  outcome: 'done' | 'refused' | 'missing';
  /**
   * The status afterwards; null when there is no such workflow.
   */
  status: WorkflowStatus | null;
}

/**
 * What became of each workflow, in the order of the request.
 */
export interface ControlAnswer {
  results: ControlResult[];
}

/**
 * Something that was done to a workflow.
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
  time: string;
  /**
   * The subject (`sub`) of the caller's token; `anonymous` where it has none, or the server asks for none.
   */
  actor: string;
  action:
    | 'suspend'
    | 'resume'
    | 'terminate'
    | 'retry'
    | 'publish-event'
    | 'complete-activity'
    | 'fail-activity';
  detail: string | null;
}

/**
 * What was done to a workflow, newest first.
 */
export interface WorkflowActionList {
  items: WorkflowAction[];
  /**
   * Always null: there is one page.
   */
  nextCursor: string | null;
}
