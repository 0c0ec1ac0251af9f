/** Converts errors to problem documents (RFC 9457). The only place that knows the HTTP status of each code. */
import type { ErrorCode, ErrorFields } from '../../base/errors.js';
import type { Problem, ProblemItem } from '../wire/models/problem.js';

interface ProblemKind {
  readonly status: number;
  readonly title: string;
}

export const PROBLEM_KINDS: Readonly<Record<ErrorCode, ProblemKind>> = {
  invalid_request: { status: 400, title: 'Invalid request' },
  invalid_definition: { status: 400, title: 'Invalid definition' },
  invalid_script: { status: 400, title: 'Invalid script' },
  invalid_data: { status: 400, title: 'Invalid data' },
  unreadable_body: { status: 400, title: 'Unreadable body' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  body_too_large: { status: 413, title: 'Body too large' },
  definition_not_found: { status: 404, title: 'Definition not found' },
  trigger_not_found: { status: 404, title: 'Trigger not found' },
  input_not_found: { status: 404, title: 'Input not found' },
  notification_not_found: { status: 404, title: 'Notification not found' },
  delivery_not_found: { status: 404, title: 'Delivery not found' },
  key_not_found: { status: 404, title: 'API key not found' },
  webhook_not_found: { status: 404, title: 'Webhook not found' },
  limit_not_found: { status: 404, title: 'Limit not found' },
  workflow_not_found: { status: 404, title: 'Run not found' },
  bulk_job_not_found: { status: 404, title: 'Bulk job not found' },
  event_not_found: { status: 404, title: 'Event not found' },
  execution_not_found: { status: 404, title: 'Execution not found' },
  step_not_found: { status: 404, title: 'Step not found' },
  activity_not_found: { status: 404, title: 'Activity not found' },
  work_cancelled: { status: 404, title: 'Work canceled' },
  no_work: { status: 404, title: 'No work' },
  route_not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  // Conductor responds with 400, and its clients expect that. Conflicts that Conductor doesn't have are 409.
  status_conflict: { status: 400, title: 'Not allowed in this status' },
  action_conflict: { status: 409, title: 'Conflict with the current state' },
  modification_impossible: { status: 409, title: 'Modification impossible' },
  modification_pending: { status: 503, title: 'Modification pending' },
  definition_disabled: { status: 409, title: 'Definition disabled' },
  expression_failed: { status: 400, title: 'Expression failed' },
  key_name_in_use: { status: 409, title: 'Name of an API key in use' },
  limit_in_use: { status: 409, title: 'Limit in use' },
  concurrency_reached: { status: 409, title: 'Concurrency reached' },
  queue_full: { status: 429, title: 'Queue full' },
  reference_in_use: { status: 409, title: 'Reference in use' },
  reserved_step_name: { status: 409, title: 'Reserved step name' },
  idempotency_conflict: { status: 409, title: 'Idempotency key already used' },
  // Not 429: a job may run for hours, so clients must not retry automatically.
  too_many_bulk_jobs: { status: 409, title: 'Too many bulk jobs' },
  unauthenticated: { status: 401, title: 'Not authenticated' },
  authorization_ended: { status: 401, title: 'Authorization ended' },
  forbidden: { status: 403, title: 'Forbidden' },
  host_not_allowed: { status: 403, title: 'Host not allowed' },
  cross_origin: { status: 403, title: 'Cross-origin request refused' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  overloaded: { status: 503, title: 'Overloaded' },
  store_unavailable: { status: 503, title: 'Store unavailable' },
  python_unavailable: { status: 503, title: 'Python unavailable' },
  sealing_key_unavailable: { status: 503, title: 'Sealing key unavailable' },
  stopping: { status: 503, title: 'Server is stopping' },
  internal: { status: 500, title: 'Internal error' },
};

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

export interface ProblemContent {
  readonly code: ErrorCode;
  readonly detail: string;
  /** Additional members; the standard ones take precedence. */
  readonly fields: ErrorFields;
  readonly errors: readonly ProblemItem[];
}

export function problemDocument({ code, detail, fields, errors }: ProblemContent): Problem {
  const { status, title } = PROBLEM_KINDS[code];
  const standard = { type: `urn:stepwright:problem:${code}`, title, status, detail, code };
  return {
    // Spread twice: first, so that readers see them first; last, so that they take precedence.
    ...standard,
    ...fields,
    ...standard,
    ...(errors.length > 0 && { errors: [...errors] }),
  };
}
