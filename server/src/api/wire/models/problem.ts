/** Error bodies: problem documents of RFC 9457. */

/**
 * One thing that is wrong with a request or a posted document.
 */
export interface ProblemItem {
  /**
   * What is wrong, for programs; it never changes.
   * @example "next_step_not_found"
   */
  code: string;
  /**
   * What is wrong, for people.
   * @example "Step 'ask' goes on to 'answer', which does not exist"
   */
  message: string;
  /**
   * Where it is in the body: a JSON pointer (RFC 6901) in the spelling of the body.
   * @example "/Steps/0/NextStepId"
   */
  pointer?: string;
  /**
   * The parameter of the path or query that is wrong.
   */
  parameter?: string;
  /**
   * Line in the body, from 1.
   * @isInt
   * @example 4
   */
  line?: number;
  /**
   * Column in that line, from 1.
   * @isInt
   * @example 17
   */
  column?: number;
  /**
   * What to write there instead, where that is clear.
   * @example "\"charge-card\""
   */
  suggestion?: string;
}

/**
 * An error. `code` says what happened and stays the same; `detail` is for people. Ids that help (such as `workflowId`)
 * are members too.
 *
 * @example {
 *   "type": "urn:stepwright:problem:workflow_not_found",
 *   "title": "Workflow not found",
 *   "status": 404,
 *   "detail": "There is no workflow 'nope'",
 *   "code": "workflow_not_found",
 *   "workflowId": "nope"
 * }
 */
export interface Problem {
  /**
   * The kind of problem as a URI: `urn:stepwright:problem:<code>`.
   */
  type: string;
  /**
   * The kind of problem for people.
   */
  title: string;
  /**
   * The HTTP status of the answer.
   * @isInt
   */
  status: number;
  /**
   * What happened this time.
   */
  detail: string;
  /**
   * The kind of problem for programs.
   */
  code: string;
  /**
   * Everything that is wrong with a refused document or request.
   */
  errors?: ProblemItem[];
  /**
   * Of an unexpected error: the id under which the server logged it.
   */
  errorId?: string;
  [member: string]: unknown;
}
