/**
 * The SDK errors. Each has a literal `name`, the number of attempts, and the ids that the call was about.
 *
 * Two kinds of errors are deliberately not wrapped: an aborted call rejects with the reason of the caller's signal, and errors
 * of the caller's `token` function are passed on unchanged.
 */
import type { FailedOutcome, Problem, ProblemItem, StepError } from './api-types.js';

/** Marks the errors of the SDK, so that the type guards recognize errors of another copy of this package. */
const BRAND = Symbol.for('stepwright.sdk.error');

/** The ids and names that a call was about. */
export interface CallSubject {
  readonly workflowId?: string;
  readonly definitionId?: string;
  readonly activityName?: string;
  readonly eventName?: string;
  readonly eventKey?: string;
  readonly stepName?: string;
}

/** The call that failed. */
export interface FailedCall {
  /** The HTTP method and the path template, without ids and tokens: `GET /api/workflow/{id}`. */
  readonly call: string;
  /** The number of attempts. */
  readonly attempts: number;
  readonly subject: CallSubject;
  readonly cause?: unknown;
}

/**
 * The base class of all errors of the SDK.
 *
 * @example
 * ```ts
 * import { SdkError } from '@stepwright/sdk';
 *
 * try {
 *   await client.workflows.get('nope');
 * } catch (error) {
 *   if (!(error instanceof SdkError)) throw error;
 *   console.log(error.name, error.call, error.workflowId); // ApiError GET /api/workflow/{id} nope
 * }
 * ```
 */
export class SdkError extends Error {
  override readonly name:
    | 'ApiError'
    | 'InvalidAnswerError'
    | 'NetworkError'
    | 'TimeoutError'
    | 'WorkflowFailedError'
    | 'SdkError' = 'SdkError';
  /** The HTTP method and the path template, such as `GET /api/workflow/{id}`. */
  readonly call: string;
  /** The number of attempts. */
  readonly attempts: number;
  declare readonly workflowId?: string;
  declare readonly definitionId?: string;
  declare readonly activityName?: string;
  declare readonly eventName?: string;
  declare readonly eventKey?: string;
  declare readonly stepName?: string;

  constructor(message: string, { call, attempts, subject, cause }: FailedCall) {
    super(`${call}: ${message}`, cause === undefined ? undefined : { cause });
    this.call = call;
    this.attempts = attempts;
    Object.assign(this, subject);
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** A call that the server answered with an error. */
export interface RefusedCall extends FailedCall {
  readonly problem: Problem;
  readonly retryAfterMs: number | null;
}

/**
 * The server responded with an error.
 *
 * @example
 * ```ts
 * import { ApiError } from '@stepwright/sdk';
 *
 * try {
 *   await client.definitions.register({ id: 'broken', steps: [] });
 * } catch (error) {
 *   if (!(error instanceof ApiError)) throw error;
 *   console.log(error.status, error.code); // 400 invalid_definition
 *   for (const { pointer, message } of error.errors) console.log(pointer, message);
 * }
 * ```
 */
export class ApiError extends SdkError {
  override readonly name = 'ApiError' as const;
  /** The HTTP status. */
  readonly status: number;
  /** The machine-readable error code; it is stable. `http_<status>` if something other than the server responded. */
  readonly code: string;
  /** The whole problem document. */
  readonly problem: Problem;
  /** All problems in the rejected document or request. */
  readonly errors: readonly ProblemItem[];
  /** The `Retry-After` of the server, in milliseconds; null if it sent none. */
  readonly retryAfterMs: number | null;

  constructor(refused: RefusedCall) {
    const { problem, retryAfterMs } = refused;
    super(`${problem.status} ${problem.code}: ${problem.detail}`, refused);
    this.status = problem.status;
    this.code = problem.code;
    this.problem = problem;
    this.errors = problem.errors ?? [];
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * No response arrived: the server could not be reached, or the connection broke. `cause` is the error that `fetch` threw.
 *
 * @example
 * ```ts
 * import { createClient, NetworkError } from '@stepwright/sdk';
 *
 * const lost = createClient({ baseUrl: 'http://127.0.0.1:9', retry: { limit: 1 } });
 * await lost.info().catch((error: unknown) => {
 *   if (!(error instanceof NetworkError)) throw error;
 *   console.log(`not there after ${error.attempts} attempts`);
 * });
 * ```
 */
export class NetworkError extends SdkError {
  override readonly name = 'NetworkError' as const;
  /** The system error code, such as `ECONNREFUSED`; null where it is not available, as in browsers. */
  readonly code: string | null;

  constructor(failed: FailedCall) {
    const code = systemCode(failed.cause);
    const reason = code === null ? '' : ` (${code})`;
    super(`the server could not be reached${reason}`, failed);
    this.code = code;
  }
}

/** undici wraps the system error, once or twice. */
function systemCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return systemCode(error.cause);
}

/** The details of a `TimeoutError`. */
interface TimeoutDetails {
  readonly elapsedMs: number;
  readonly missed?: string;
  readonly summary?: string | null;
}

/**
 * The call did not finish within its `timeoutMs`. `cause` is the last failure, if an attempt failed for another reason.
 *
 * @example
 * ```ts
 * import { TimeoutError } from '@stepwright/sdk';
 *
 * const order = await client.workflows.start('approval', { order: 7 });
 * await order.wait({ timeoutMs: 200 }).catch((error: unknown) => {
 *   if (!(error instanceof TimeoutError)) throw error;
 *   console.log(`${error.workflowId} still runs after ${error.elapsedMs} ms: ${error.summary}`);
 * });
 * ```
 */
export class TimeoutError extends SdkError {
  override readonly name = 'TimeoutError' as const;
  /** How long the call took, in milliseconds. */
  readonly elapsedMs: number;
  /**
   * For `wait` and `result`: why the run has not ended, in one sentence, from `explain`. Null for other calls, and if the
   * explanation could not be loaded.
   */
  readonly summary: string | null;

  /** @param failed `missed`: what didn't happen in time; the response by default. */
  constructor(failed: FailedCall & TimeoutDetails) {
    const { attempts, cause, elapsedMs, missed = 'no response', summary = null } = failed;
    const last =
      cause instanceof SdkError
        ? `; the last failure of ${attempts} attempts: ${cause.message.slice(cause.call.length + 2)}`
        : '';
    const why = summary === null ? '' : `: ${summary}`;
    super(`${missed} within ${elapsedMs} ms${why}${last}`, failed);
    this.elapsedMs = elapsedMs;
    this.summary = summary;
  }
}

/**
 * A run did not succeed: `result` throws this for every outcome except `Succeeded`, and `wait({ failOn })` for the outcomes
 * in `failOn`.
 *
 * @example
 * ```ts
 * import { WorkflowFailedError } from '@stepwright/sdk';
 *
 * const order = await client.workflows.start('approval', { order: 9 });
 * await order.terminate();
 * await order.result().catch((error: unknown) => {
 *   if (!(error instanceof WorkflowFailedError)) throw error;
 *   console.log(error.outcome, error.error); // Terminated null
 * });
 * ```
 */
export class WorkflowFailedError extends SdkError {
  override readonly name = 'WorkflowFailedError' as const;
  /** How the run ended. */
  readonly outcome: FailedOutcome;
  /** The latest error of its steps; null if there is none, for example because the run was terminated. */
  readonly error: StepError | null;

  constructor(
    failed: FailedCall & { readonly outcome: FailedOutcome; readonly error: StepError | null },
  ) {
    const { error, outcome } = failed;
    super(`the workflow ended as ${outcome}${error === null ? '' : `: ${error.message}`}`, failed);
    this.outcome = outcome;
    this.error = error;
  }
}

/**
 * The response does not come from the API: it is the page of a proxy, or another service is running at this address.
 *
 * @example
 * ```ts
 * import { createClient, InvalidAnswerError } from '@stepwright/sdk';
 *
 * const wrong = createClient({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   fetch: async () => new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } }),
 * });
 * await wrong.info().catch((error: unknown) => {
 *   if (!(error instanceof InvalidAnswerError)) throw error;
 *   console.log(error.message);
 * });
 * ```
 */
export class InvalidAnswerError extends SdkError {
  override readonly name = 'InvalidAnswerError' as const;
}

function isOurs(error: unknown): error is SdkError {
  return error instanceof Error && BRAND in error;
}

/**
 * Whether this is an error of the SDK. Unlike `instanceof`, the type guards also recognize errors of another copy of the package.
 *
 * @example
 * ```ts
 * import { isSdkError } from '@stepwright/sdk';
 *
 * await client.workflows.get('nope').catch((error: unknown) => {
 *   console.log(isSdkError(error) ? error.call : 'a bug of ours');
 * });
 * ```
 */
export function isSdkError(error: unknown): error is SdkError {
  return isOurs(error);
}

/**
 * Whether the server responded with an error. If `code` is given, whether the error has this code.
 *
 * @example
 * ```ts
 * import { isApiError } from '@stepwright/sdk';
 *
 * const workflow = await client.workflows.get('nope').catch((error: unknown) => {
 *   if (isApiError(error, 'workflow_not_found')) return null;
 *   throw error;
 * });
 * console.log(workflow); // null
 * ```
 */
export function isApiError(error: unknown, code?: string): error is ApiError {
  return (
    isOurs(error) && error.name === 'ApiError' && (code === undefined || code === codeOf(error))
  );
}

function codeOf(error: SdkError): unknown {
  return 'code' in error ? error.code : undefined;
}

/**
 * Whether no response arrived: the server could not be reached, or the connection broke.
 *
 * @example
 * ```ts
 * import { isNetworkError } from '@stepwright/sdk';
 *
 * const info = await client.info({ retry: false }).catch((error: unknown) => {
 *   if (isNetworkError(error)) return null;
 *   throw error;
 * });
 * console.log(info?.name ?? 'the server is away');
 * ```
 */
export function isNetworkError(error: unknown): error is NetworkError {
  return isOurs(error) && error.name === 'NetworkError';
}

/**
 * Whether a call timed out.
 *
 * @example
 * ```ts
 * import { isTimeoutError } from '@stepwright/sdk';
 *
 * const order = await client.workflows.start('approval', { order: 8 });
 * const ended = await order.wait({ timeoutMs: 100 }).catch((error: unknown) => {
 *   if (isTimeoutError(error)) return null;
 *   throw error;
 * });
 * console.log(ended?.status ?? 'still waiting');
 * ```
 */
export function isTimeoutError(error: unknown): error is TimeoutError {
  return isOurs(error) && error.name === 'TimeoutError';
}

/**
 * Whether `result` or `wait({ failOn })` threw this because of the outcome of the run.
 *
 * @example
 * ```ts
 * import { isWorkflowFailedError } from '@stepwright/sdk';
 *
 * const order = await client.workflows.start('approval', { order: 10 });
 * await order.terminate();
 * const ended = await order.wait({ failOn: ['Failed', 'Terminated'] }).catch((error: unknown) => {
 *   if (isWorkflowFailedError(error)) return error.outcome;
 *   throw error;
 * });
 * console.log(ended); // Terminated
 * ```
 */
export function isWorkflowFailedError(error: unknown): error is WorkflowFailedError {
  return isOurs(error) && error.name === 'WorkflowFailedError';
}
