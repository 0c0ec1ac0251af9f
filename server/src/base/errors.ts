/**
 * The errors that the server returns. Only `api/http/problem-details.ts` knows the HTTP status of each code.
 */
import type { DocumentProblem } from '../engine/model/definition.js';

export type ErrorCode =
  | 'invalid_request'
  | 'invalid_definition'
  | 'invalid_script'
  | 'invalid_data'
  | 'unreadable_body'
  | 'unsupported_media_type'
  | 'body_too_large'
  | 'definition_not_found'
  | 'trigger_not_found'
  | 'definition_disabled'
  | 'reference_in_use'
  | 'concurrency_reached'
  | 'queue_full'
  | 'expression_failed'
  | 'input_not_found'
  | 'workflow_not_found'
  | 'bulk_job_not_found'
  | 'notification_not_found'
  | 'delivery_not_found'
  | 'webhook_not_found'
  | 'limit_not_found'
  | 'limit_in_use'
  | 'key_not_found'
  | 'key_name_in_use'
  | 'event_not_found'
  | 'execution_not_found'
  | 'step_not_found'
  | 'activity_not_found'
  // The spelling is the wire's.
  | 'work_cancelled'
  | 'no_work'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'status_conflict'
  | 'action_conflict'
  | 'modification_impossible'
  | 'modification_pending'
  | 'reserved_step_name'
  | 'idempotency_conflict'
  | 'unauthenticated'
  | 'authorization_ended'
  | 'forbidden'
  | 'host_not_allowed'
  | 'cross_origin'
  | 'too_many_bulk_jobs'
  | 'too_many_requests'
  | 'overloaded'
  | 'store_unavailable'
  | 'python_unavailable'
  | 'sealing_key_unavailable'
  | 'stopping'
  | 'internal';

export type ErrorFields = Readonly<Record<string, string | number | readonly string[]>>;

export interface AppErrorOptions {
  readonly cause?: unknown;
  /** Ids and values that help the caller; they become members of the problem document. */
  readonly fields?: ErrorFields;
  readonly problems?: readonly DocumentProblem[];
  /** The invalid parameter of the path, query or headers. */
  readonly parameter?: string;
  readonly retryAfterSeconds?: number;
}

export class AppError extends Error {
  override readonly name = 'AppError' as const;
  readonly code: ErrorCode;
  readonly fields: ErrorFields;
  /** For a rejected document: everything that is wrong with it. */
  readonly problems: readonly DocumentProblem[];
  readonly parameter: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.fields = options.fields ?? {};
    this.problems = options.problems ?? [];
    this.parameter = options.parameter ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}
