/** The wire types of errors: problem documents according to RFC 9457. */
import type { WholeNumber } from './whole-number.js';

/**
 * One problem of a request or of a posted document.
 */
export interface ProblemItem {
  /**
   * Identifies the kind of problem. It is meant for programs and never changes.
   * @example "unknown_next_step"
   */
  code: string;
  /**
   * Describes the problem in human-readable form.
   * @example "There is no step with the id \"answer\"."
   */
  message: string;
  /**
   * The position in the body: a JSON pointer (RFC 6901) in the spelling of the body.
   * @example "/Steps/0/NextStepId"
   */
  pointer?: string;
  /**
   * The invalid parameter of the path or query.
   */
  parameter?: string;
  /**
   * The line in the body, starting at 1.
   * @isInt
   * @example 4
   */
  line?: number;
  /**
   * The column in that line, starting at 1.
   * @isInt
   * @example 17
   */
  column?: number;
  /**
   * What to write instead, if the server can tell.
   * @example "\"charge-card\""
   */
  suggestion?: string;
  /**
   * The executions to choose from: the open containers in which a step can be started.
   */
  executionIds?: WholeNumber[];
}

/**
 * An error. `code` identifies the kind of error and never changes; `detail` is a human-readable description. Additional members
 * contain related ids, such as `workflowId`.
 *
 * @example {
 *   "type": "urn:stepwright:problem:workflow_not_found",
 *   "title": "Run not found",
 *   "status": 404,
 *   "detail": "There is no run with the id 'nope'",
 *   "code": "workflow_not_found",
 *   "workflowId": "nope"
 * }
 */
export interface Problem {
  /**
   * The kind of error as a URI: `urn:stepwright:problem:<code>`.
   */
  type: string;
  /**
   * The kind of error, in human-readable form.
   */
  title: string;
  /**
   * The HTTP status of the response.
   * @isInt
   */
  status: number;
  /**
   * The details of this occurrence.
   */
  detail: string;
  /**
   * The kind of error, in machine-readable form.
   */
  code: string;
  /**
   * All problems of a rejected document or request.
   */
  errors?: ProblemItem[];
  /**
   * For an unexpected error: the id under which the server logged it.
   */
  errorId?: string;
  [member: string]: unknown;
}
