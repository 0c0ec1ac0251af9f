/**
 * The errors of the SDK. Each has a literal `name`, the attempts that were made, and the ids that it is about.
 *
 * What is deliberately not here: an aborted call rejects with the reason of the caller's own signal, and an error of the
 * caller's `token` function comes through as it is.
 */
import type { FailedOutcome, Problem, ProblemItem, StepError } from './api-types.js';

/** Marks our errors, so that the guards know those of another copy of this package. */
const BRAND = Symbol.for('stepwright.sdk.error');

/** What a call was about. */
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
  /** The HTTP method and the path as the API describes it, without ids and tokens: `GET /api/workflow/{id}`. */
  readonly call: string;
  /** How often it was tried. */
  readonly attempts: number;
  readonly subject: CallSubject;
  readonly cause?: unknown;
}

/**
 * Everything that the SDK throws of its own.
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
  /** The HTTP method and the path as the API describes it. */
  readonly call: string;
  /** How often the call was tried. */
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

/** What the server said with an error. */
export interface RefusedCall extends FailedCall {
  readonly problem: Problem;
  readonly retryAfterMs: number | null;
}

/**
 * The server answered with an error.
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
  /** Says what happened, for programs; it never changes. `http_<status>` when something else answered than the server. */
  readonly code: string;
  /** The whole answer. */
  readonly problem: Problem;
  /** Everything that is wrong with a refused document or request. */
  readonly errors: readonly ProblemItem[];
  /** When the server wants to be asked again, if it said so. */
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
 * No answer came: the server is not there, or the connection broke. `cause` is what `fetch` threw.
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
  /** What the system says, such as `ECONNREFUSED`; null where it does not tell, as in browsers. */
  readonly code: string | null;

  constructor(failed: FailedCall) {
    const code = systemCode(failed.cause);
    const reason = code === null ? '' : ` (${code})`;
    super(`the server could not be reached${reason}`, failed);
    this.code = code;
  }
}

/** undici wraps the system's error, once or twice. */
function systemCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return systemCode(error.cause);
}

/** What a `TimeoutError` says beside the call. */
interface TimeoutDetails {
  readonly elapsedMs: number;
  readonly missed?: string;
  readonly summary?: string | null;
}

/**
 * The time for the call is over. `cause` is the failure of the last attempt, where there was one.
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
  /** How long the call took. */
  readonly elapsedMs: number;
  /**
   * Of a `wait`: why the workflow has not ended, in one sentence, as `explain` says it. Null for other calls, and when the
   * server could not say.
   */
  readonly summary: string | null;

  /** @param failed `missed`: what did not come about in time; left out, it is an answer */
  constructor(failed: FailedCall & TimeoutDetails) {
    const { attempts, cause, elapsedMs, missed = 'no answer', summary = null } = failed;
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
 * A workflow did not succeed: `result` throws this for every outcome but `Succeeded`, and `wait({ failOn })` for those that
 * `failOn` names.
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
  /** How the workflow ended. */
  readonly outcome: FailedOutcome;
  /** The newest error of its steps; null where none is known, as of a workflow that a person terminated. */
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
 * What answered does not speak the API: a proxy's page, or another service at this address.
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
 * Whether the SDK threw this. Unlike `instanceof`, the guards also know errors of another copy of the package.
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
 * Whether the server answered with an error; with a code, whether it was this one.
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
 * Whether the server could not be reached.
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
 * Whether the time for a call was over.
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
 * Whether `result` or `wait({ failOn })` threw this because of how the workflow ended.
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
